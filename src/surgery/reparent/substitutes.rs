//! Finds who takes the place of a removed entry.

use std::sync::OnceLock;

use rustc_hash::FxHashSet;

use crate::json::{Edit, Span, elements, lookup, remove_elements};
use crate::session::Session;
use crate::transcript::{Entry, EntryIx, ID_LEN, Id, Kind, LEADING_PARENT, visit_ids};

use super::super::plan::Plan;
use super::ancestry::Ancestry;
use super::chain::Chain;
use super::gone::{Gone, Hints};
use super::messages::Messages;
use super::{Named, Relink, Several, Substitute, replacement};

/// Finds the entry that takes the place of a removed one, and the references that have to name it.
pub(super) struct Substitutes<'a> {
    session: &'a Session,
    plan: &'a Plan,
    gone: &'a Gone<'a>,
    chain: &'a Chain,
    /// Made on one core when first needed: threads that would help could be waiting for it.
    hints: OnceLock<Hints>,
    /// The session id that nearly all entries name, and whether a removed entry has the same id.
    usual: (Id, bool),
    messages: Messages<'a>,
    ancestry: OnceLock<Ancestry>,
}

impl<'a> Substitutes<'a> {
    pub(super) fn new(
        session: &'a Session,
        plan: &'a Plan,
        gone: &'a Gone<'a>,
        chain: &'a Chain,
    ) -> Self {
        let usual = session.session_id().unwrap_or(Id::NONE);
        Self {
            session,
            plan,
            hints: OnceLock::new(),
            usual: (usual, gone.contains(usual)),
            gone,
            chain,
            messages: Messages::of(session.entries()),
            ancestry: OnceLock::new(),
        }
    }

    /// Returns what a line names of the removed entries, as far as the places of its ids show it: most lines name none and
    /// need not be walked.
    fn look(&self, e: &Entry, text: &[u8]) -> Named {
        // Ids of another form, or spelled with escapes, are found by walking the line.
        if !self.gone.plain || e.flags.numbered_characters() {
            return Named::Perhaps;
        }
        let Some(places) = e.ids.places(text.len()) else {
            return Named::Perhaps;
        };
        let hints = self.hints.get_or_init(|| Hints::new(self.gone));
        let mut hit = None;
        for at in places {
            let text = &text[at..at + ID_LEN];
            if !hints.may_hold(text) {
                continue;
            }
            let Some(id) = Id::of_uuid(text).filter(|&id| self.gone.contains(id)) else {
                continue;
            };
            // If the parent's id is the only one that is named, this place is the parent.
            if hit.is_some() || id != e.parent {
                return Named::Perhaps;
            }
            hit = Some(Span::new(at, at + ID_LEN));
        }
        hit.map_or(Named::Nothing, Named::Parent)
    }

    /// Returns the same without reading the line, where the entry has only ids that are in its columns.
    pub(super) fn glance(&self, number: EntryIx) -> Named {
        let e = self.session.entry(number);
        let known = [e.uuid, e.parent, e.session, e.refers_to];
        let known = known.into_iter().filter(|id| id.is_uuid()).count();
        let stays = |id: Id| {
            let named = self.session.find_near(number, id);
            named.is_none_or(|named| self.stays(named))
        };
        let others_stay = self.gone.plain
            && !e.flags.numbered_characters()
            && e.ids.count() == Some(known)
            && (e.session == self.usual.0 || !self.gone.contains(e.session))
            && !self.usual.1
            && e.refers_to.some().is_none_or(stays);
        let graph = self.session.graph();
        let parent = graph.parent(number);
        if !others_stay {
            Named::Perhaps
        } else if parent.map_or_else(|| e.parent.some().is_none_or(stays), |p| self.stays(p)) {
            Named::Nothing
        } else if e.flags.leading_parent() && graph.is_distinct() {
            debug_assert_eq!(
                Id::of_uuid(LEADING_PARENT.of(self.session.text(e))),
                Some(e.parent)
            );
            Named::Parent(LEADING_PARENT)
        } else {
            Named::Perhaps
        }
    }

    /// Returns the edits that move an entry's references to removed entries.
    pub(super) fn moved(&self, number: EntryIx, e: &Entry, text: &[u8]) -> Several {
        match self.look(e, text) {
            Named::Nothing => return Several::new(),
            Named::Parent(span) => {
                return self
                    .moved_parent(number, span, e.parent)
                    .into_iter()
                    .collect();
            }
            Named::Perhaps => {}
        }
        let mut lists: Vec<&[u8]> = Vec::new();
        let mut found = Several::new();
        // A line that cannot be walked is opaque and has no entry.
        let _ = visit_ids(text, e.words(), |used| {
            if self.gone.plain && used.span.len() != 36 && !used.is_escaped(text) {
                return;
            }
            let id = used.id(text);
            if !self.gone.contains(id) || used.key == b"uuid" && used.depth == 1 {
                return;
            }
            if used.element {
                if !lists.contains(&used.key) {
                    lists.push(used.key);
                }
            } else if used.key == b"parentUuid" && used.depth == 1 {
                found.extend(self.moved_parent(number, used.span, id));
            } else {
                let substitute = self.resolve(id, used.key == b"headUuid");
                let substitute = substitute.filter(|s| matches!(s, Substitute::Entry(_)));
                found.push(Relink {
                    edit: replacement(self.session, used.span, substitute),
                    parent: false,
                });
            }
        });
        for key in lists {
            found.extend(self.shortened_lists(text, key));
        }
        found
    }

    /// Returns the edit that gives an entry another parent than the removed one that it names here.
    pub(super) fn moved_parent(&self, number: EntryIx, span: Span, id: Id) -> Option<Relink> {
        if let Some(parent) = self.chain.parent(number) {
            return Some(Relink::parent(
                self.session,
                span,
                Some(Substitute::Entry(parent)),
            ));
        }
        let own = self.session.entry(number).parent == id;
        let parent = match self.session.graph().parent(number) {
            Some(parent) if own => parent,
            _ => self.session.find(id)?,
        };
        let rest = self.rest_of_message(number, parent).map(Substitute::Entry);
        let substitute = rest.or_else(|| self.substitute(parent));
        // An entry that took the place of its parent on the path comes first.
        let substitute = substitute.filter(|&s| s != Substitute::Entry(number));
        Some(Relink::parent(self.session, span, substitute))
    }

    /// Whether an entry's line stays.
    fn stays(&self, entry: EntryIx) -> bool {
        !self.plan.drops(self.session.entry(entry).line)
    }

    /// Removes the ids of removed entries from lists at known places.
    fn shortened_lists(&self, text: &[u8], key: &[u8]) -> Vec<Relink> {
        let Ok(key) = std::str::from_utf8(key) else {
            return Vec::new();
        };
        let places: [&[&str]; 3] = [
            &["compactMetadata", "preservedMessages", key],
            &["compactMetadata", key],
            &[key],
        ];
        let lists = places.iter().filter_map(|path| lookup(text, path));
        let edits = lists.filter_map(|list| {
            let inner = list.of(text);
            let all = elements(inner).ok()?;
            let goes = |&i: &usize| {
                let raw = all[i].of(inner);
                raw.len() > 2
                    && raw[0] == b'"'
                    && self.gone.contains(Id::of(&raw[1..raw.len() - 1]))
            };
            let gone: Vec<usize> = (0..all.len()).filter(goes).collect();
            let edits = remove_elements(&all, &gone).into_iter();
            Some(edits.map(move |e| Edit::new(e.span.shift(list.start), e.with)))
        });
        let moved = |edit| Relink {
            edit,
            parent: false,
        };
        edits.flatten().map(moved).collect()
    }

    /// Returns the entry that takes the place of `id`: one above it, or, for the head of a preserved segment, below it.
    fn resolve(&self, id: Id, head: bool) -> Option<Substitute> {
        let at = self.session.find(id)?;
        if head {
            return self.first_kept_below(at).map(Substitute::Entry);
        }
        self.substitute(at)
    }

    /// Returns the entry above this one that takes its place.
    ///
    /// For an entry of the live path, this is the entry before it on the path that the result has. Elsewhere it is the
    /// nearest ancestor that stays, or, for the result of a parallel call, the last result that stays of the same message.
    fn substitute(&self, mut at: EntryIx) -> Option<Substitute> {
        let (session, graph) = (self.session, self.session.graph());
        // Prompts that arrived before the last results follow these on the path, although the results are the leaf.
        if self.chain.ends_rearranged()
            && graph.leaf() == Some(at)
            && let Some(end) = self.chain.end()
        {
            return Some(Substitute::Entry(end));
        }
        let mut seen = FxHashSet::default();
        loop {
            if !seen.insert(at) {
                return None;
            }
            if let Some(before) = self.chain.before(graph.place(at)) {
                return Some(Substitute::Entry(before));
            }
            if let Some(sibling) = self.sibling_result(at) {
                return Some(Substitute::Entry(sibling));
            }
            let Some(above) = graph.parent(at) else {
                let lost = session.entry(at).parent.is_some();
                return lost.then_some(Substitute::LostParentOf(at));
            };
            at = above;
            if self.stays(at) {
                return Some(Substitute::Entry(at));
            }
        }
    }

    /// Returns, for a removed line of a message and a child of it that is not of that message, the last line of the message
    /// that stays below the removed one.
    ///
    /// After a rewind, a conversation can continue in the middle of a message. Clients show a whole message if one of
    /// its lines is on the path. If that line is removed, the other lines take its place, or the message would be lost.
    fn rest_of_message(&self, child: EntryIx, at: EntryIx) -> Option<EntryIx> {
        let (entries, graph) = (self.session.entries(), self.ancestry());
        let message = entries[at].message_id.some()?;
        if entries[child].message_id == message || entries[at].kind != Kind::Assistant {
            return None;
        }
        let staying = self.messages.lines(message).filter(|&i| self.stays(i));
        if staying.clone().any(|i| graph.descends(at, i)) {
            return None;
        }
        staying
            .filter(|&i| graph.descends(i, at) && !graph.descends(i, child))
            .last()
    }

    /// Returns, for a removed result, the last result of the same message that stays, or else the last line of the message.
    fn sibling_result(&self, at: EntryIx) -> Option<EntryIx> {
        let (session, calls) = (self.session, self.session.calls());
        let entries = session.entries();
        let e = &entries[at];
        let result = session
            .blocks(e)
            .iter()
            .find(|b| b.kind.is_result() && e.kind == Kind::User)?;
        let call = calls.of(result)?.uses.first()?;
        let message = entries[call.entry].message_id.some()?;
        let lines = self.messages.lines(message).filter(|&i| self.stays(i));
        let results = lines
            .clone()
            .flat_map(|i| session.blocks(&entries[i]))
            .filter(|b| b.kind.is_call())
            .filter_map(|b| calls.of(b))
            .flat_map(|c| c.results.iter().map(|r| r.entry))
            .filter(|&i| entries[i].kind == Kind::User && self.stays(i));
        // A result that hangs on this one cannot take its place.
        let free = |&i: &EntryIx| !self.ancestry().descends(i, at);
        results
            .filter(free)
            .max()
            .or_else(|| lines.filter(free).max())
    }

    fn ancestry(&self) -> &Ancestry {
        self.ancestry
            .get_or_init(|| Ancestry::of(self.session.graph(), self.session.entries().len()))
    }

    /// Returns the first entry that stays at or below a removed one.
    fn first_kept_below(&self, at: EntryIx) -> Option<EntryIx> {
        let mut stack = vec![at];
        let mut seen = FxHashSet::default();
        while let Some(i) = stack.pop() {
            if !seen.insert(i) {
                continue;
            }
            if self.stays(i) {
                return Some(i);
            }
            let mut children: Vec<EntryIx> = self.session.graph().children(i).collect();
            children.reverse();
            stack.extend(children);
        }
        None
    }
}
