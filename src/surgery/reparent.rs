//! The only place that computes a parent.
//!
//! A transform says which lines go. Every reference to one of them, in every line that stays, is
//! then moved to the entry that stands in for it.

use std::sync::OnceLock;

use hashbrown::HashTable;
use hashbrown::hash_table::Entry as Slot;
use rayon::prelude::*;
use rustc_hash::FxHashSet;
use smallvec::SmallVec;
use uuid::Uuid;

use crate::json::{Edit, Span, elements, lookup, remove_elements};
use crate::session::{Session, Standing};
use crate::transcript::{Entry, ID_LEN, Id, Kind, LEADING_PARENT, hash as hash_of_id, visit_ids};

use super::plan::{Action, Plan};

/// What was mended.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Relinked {
    /// Entries with a new parent.
    pub parents: usize,
    /// Other references moved.
    pub others: usize,
}

/// Moves every reference to a dropped entry to its stand-in.
pub fn reparent(session: &Session, plan: &mut Plan) -> Relinked {
    let stand_ins = Substitutes::new(session, plan);
    if stand_ins.gone.is_empty() {
        return Relinked::default();
    }
    let found: Vec<(usize, Several)> = session
        .entries()
        .par_iter()
        .enumerate()
        .with_min_len(64)
        .filter(|(_, e)| !plan.drops(e.line))
        .map_init(Vec::new, |room, (i, e)| {
            let moved = match stand_ins.glance(i) {
                Named::Nothing => Several::new(),
                Named::Parent(span) => {
                    let moved = stand_ins.moved_parent(i, span, e.parent);
                    moved.into_iter().collect()
                }
                Named::Perhaps => {
                    let text = session.document().text_in(e.line as usize, room);
                    stand_ins.moved(i, e, text)
                }
            };
            (i, moved)
        })
        .filter(|(_, moved)| !moved.is_empty())
        .collect();
    drop(stand_ins);
    let mut mended = Relinked::default();
    for (i, moved) in found {
        let entry = &session.entries()[i];
        for Relink { edit, parent } in moved {
            if !parent {
                mended.others += 1;
            } else if plan.touches(entry.line, edit.span) {
                // The transform chose this entry's parent itself.
                continue;
            } else {
                mended.parents += 1;
                let grown = edit.with.len() as i64 - edit.span.len() as i64;
                plan.note(session, entry, Action::Edit, "parent", grown, 0, "");
            }
            plan.edit_line(entry.line, [edit]);
        }
    }
    mended.parents += keep_bridges(session, plan);
    mended
}

/// Names the parents that clients would no longer find.
///
/// Where a parent is nowhere, the newest clients go on at the entry that is next older, if by little. Where that
/// one goes, what is then next may be too old, so its stand-in is named.
fn keep_bridges(session: &Session, plan: &mut Plan) -> usize {
    let (entries, graph) = (session.entries(), session.graph());
    let mut named = 0;
    for pair in graph.path().windows(2) {
        // Nearly all have one.
        if graph.parent(pair[1] as usize).is_some() {
            continue;
        }
        let (above, at) = (&entries[pair[0] as usize], &entries[pair[1] as usize]);
        if !at.parent.is_some() || !plan.drops(above.line) || plan.drops(at.line) {
            continue;
        }
        let substitute = bridged(session, plan, pair[1] as usize).map(Substitute::Entry);
        let Some(raw) = lookup(session.text(at), &["parentUuid"]) else {
            continue;
        };
        let chosen = plan.touches(at.line, raw);
        if substitute.is_some() && !chosen {
            let inner = Span {
                start: raw.start + 1,
                end: raw.end - 1,
            };
            let edit = replacement(session, inner, substitute);
            let grown = edit.with.len() as i64 - edit.span.len() as i64;
            plan.note(session, at, Action::Edit, "parent", grown, 0, "");
            plan.edit_line(at.line, [edit]);
            named += 1;
        }
    }
    named
}

/// The edit that puts a stand-in, or null, where an id stood.
fn replacement(session: &Session, span: Span, substitute: Option<Substitute>) -> Edit {
    let uuid = substitute.and_then(|substitute| {
        let (entry, key) = match substitute {
            Substitute::Entry(entry) => (entry, "uuid"),
            Substitute::LostParentOf(entry) => (entry, "parentUuid"),
        };
        let entry = &session.entries()[entry];
        let id = if key == "uuid" {
            entry.uuid
        } else {
            entry.parent
        };
        id.uuid().map(quoted).or_else(|| {
            let line = session.text(entry);
            lookup(line, &[key]).map(|s| s.of(line).to_vec())
        })
    });
    Edit::new(
        Span {
            start: span.start - 1,
            end: span.end + 1,
        },
        uuid.unwrap_or_else(|| b"null".to_vec()),
    )
}

/// A UUID as JSON.
fn quoted(uuid: Uuid) -> Vec<u8> {
    let mut out = vec![b'"'; ID_LEN + 2];
    uuid.hyphenated().encode_lower(&mut out[1..=ID_LEN]);
    out
}

/// The references of a line that are moved: nearly always one.
type Several = SmallVec<[Relink; 1]>;

/// A reference that is moved.
struct Relink {
    edit: Edit,
    /// It is who the entry's parent is.
    parent: bool,
}

/// What a line names of what goes.
enum Named {
    Nothing,
    /// Its parent, here, and nothing else.
    Parent(Span),
    /// Something, perhaps.
    Perhaps,
}

/// What is named instead of an entry that goes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Substitute {
    /// This entry.
    Entry(usize),
    /// The parent that this entry named, which is nowhere: null would say that nothing came before.
    LostParentOf(usize),
}

/// The entries that go.
struct Gone<'a> {
    session: &'a Session,
    plan: &'a Plan,
    /// All of them have UUIDs.
    plain: bool,
    /// Of duplicates, those that stay go on being named; a copy may go unmourned.
    spared: FxHashSet<Id>,
}

impl<'a> Gone<'a> {
    fn of(session: &'a Session, plan: &'a Plan) -> Self {
        let entries = session.entries();
        let mut gone = Self {
            session,
            plan,
            plain: true,
            spared: FxHashSet::default(),
        };
        if !session.graph().is_distinct() {
            let chained = entries.iter().filter(|e| e.is_chained());
            let staying = chained.filter(|e| !plan.drops(e.line)).map(|e| e.uuid);
            gone.spared = staying.filter(|&id| gone.contains(id)).collect();
        }
        gone.plain = !session.flags_of_any().odd_ids() || gone.ids().all(Id::is_uuid);
        gone
    }

    fn ids(&self) -> impl Iterator<Item = Id> + use<'a> {
        let (session, plan) = (self.session, self.plan);
        let lines = plan.dropped().map(|line| session.lines()[line as usize]);
        let entries = lines.filter_map(|l| Some(&session.entries()[l.entry()?]));
        entries.filter(|e| e.is_chained()).map(|e| e.uuid)
    }

    fn is_empty(&self) -> bool {
        !self.ids().any(|id| self.contains(id))
    }

    fn contains(&self, id: Id) -> bool {
        let entry = self.session.find(id).map(|i| &self.session.entries()[i]);
        entry.is_some_and(|e| self.plan.drops(e.line)) && !self.spared.contains(&id)
    }
}

/// The lines of each message, in file order; linked, so that there is no list for each.
struct Messages<'a> {
    entries: &'a [Entry],
    first: HashTable<u32>,
    next: Vec<u32>,
}

impl<'a> Messages<'a> {
    fn of(entries: &'a [Entry]) -> Self {
        let mut all = Self {
            entries,
            first: HashTable::new(),
            next: vec![u32::MAX; entries.len()],
        };
        let message = |i: u32| entries[i as usize].message_id;
        // Those that follow each other are linked at once.
        let mut runs = entries.len();
        while runs > 0 {
            let (last, id) = (runs - 1, entries[runs - 1].message_id);
            let is_line = |e: &Entry| e.kind == Kind::Assistant && e.message_id == id;
            let run = entries[..runs].iter().rev().take_while(|e| is_line(e));
            let first = runs - run.count().max(1);
            runs = first;
            if !is_line(&entries[last]) || !id.is_some() {
                continue;
            }
            (first..last).for_each(|i| all.next[i] = i as u32 + 1);
            let slot = all.first.entry(
                hash_of_id(id),
                |&i| message(i) == id,
                |&i| hash_of_id(message(i)),
            );
            match slot {
                Slot::Occupied(mut known) => {
                    all.next[last] = std::mem::replace(known.get_mut(), first as u32);
                }
                Slot::Vacant(free) => drop(free.insert(first as u32)),
            }
        }
        all
    }

    /// The entries that are lines of this message.
    fn lines(&self, message: Id) -> impl Iterator<Item = usize> + Clone {
        let is_it = |&i: &u32| self.entries[i as usize].message_id == message;
        let first = self.first.find(hash_of_id(message), is_it).copied();
        std::iter::successors(first, |&i| {
            Some(self.next[i as usize]).filter(|&next| next != u32::MAX)
        })
        .map(|i| i as usize)
    }
}

/// Who stands in for whom.
struct Substitutes<'a> {
    session: &'a Session,
    plan: &'a Plan,
    gone: Gone<'a>,
    /// How their ids begin; few lines take so close a look. Made on one core, for those that would help may wait for it.
    hints: OnceLock<Hints>,
    /// The session that nearly all entries name, and whether an entry that goes has its id.
    usual: (Id, bool),
    messages: Messages<'a>,
}

/// Tells most texts that are no id of a set from those that may be one by their first eight bytes, without reading
/// them as ids: every line names several, and nearly all of them stay.
struct Hints {
    bits: Vec<u64>,
    shift: u32,
}

impl Hints {
    fn new(gone: &Gone<'_>) -> Self {
        let len = (gone.ids().count() * 16).next_power_of_two().max(1 << 12);
        let mut hints = Self {
            bits: vec![0; len / 64],
            shift: 64 - len.trailing_zeros(),
        };
        for uuid in gone.ids().filter_map(Id::uuid) {
            let mut text = [0; 36];
            uuid.hyphenated().encode_lower(&mut text);
            if let Some(at) = hints.place(&text) {
                hints.bits[at / 64] |= 1 << (at % 64);
            }
        }
        hints
    }

    fn place(&self, text: &[u8]) -> Option<usize> {
        let head = u64::from_le_bytes(*text.first_chunk()?);
        Some((head.wrapping_mul(0x9e37_79b9_7f4a_7c15) >> self.shift) as usize)
    }

    fn may_hold(&self, text: &[u8]) -> bool {
        let place = self.place(text);
        place.is_some_and(|at| self.bits[at / 64] >> (at % 64) & 1 == 1)
    }
}

impl<'a> Substitutes<'a> {
    fn new(session: &'a Session, plan: &'a Plan) -> Self {
        let gone = Gone::of(session, plan);
        let entries = session.entries();
        let told = if gone.is_empty() { &[] } else { entries };
        let usual = session.session_id().unwrap_or(Id::NONE);
        Self {
            session,
            plan,
            hints: OnceLock::new(),
            usual: (usual, gone.contains(usual)),
            gone,
            messages: Messages::of(told),
        }
    }

    /// What a line names, as far as the places of its ids tell: most name nothing that goes, and need not be walked.
    fn look(&self, e: &Entry, text: &[u8]) -> Named {
        // An id of another form, or one spelt with escapes, takes a closer look.
        if !self.gone.plain || e.flags.numbered_characters() {
            return Named::Perhaps;
        }
        let Some(places) = e.ids.places(text.len()) else {
            return Named::Perhaps;
        };
        let hints = self.hints.get_or_init(|| Hints::new(&self.gone));
        let mut hit = None;
        for at in places {
            let text = &text[at..at + ID_LEN];
            if !hints.may_hold(text) {
                continue;
            }
            let Some(id) = Id::of_uuid(text).filter(|&id| self.gone.contains(id)) else {
                continue;
            };
            // It names its parent somewhere: if this is all that it names, then here.
            if hit.is_some() || id != e.parent {
                return Named::Perhaps;
            }
            hit = Some(Span::new(at, at + ID_LEN));
        }
        hit.map_or(Named::Nothing, Named::Parent)
    }

    /// What an entry names, told without its line: where it has no ids but those that it was read for, mostly none of them
    /// goes, or its parent alone.
    fn glance(&self, number: usize) -> Named {
        let e = &self.session.entries()[number];
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

    /// The references of an entry that stays to entries that go, moved.
    fn moved(&self, number: usize, e: &Entry, text: &[u8]) -> Several {
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

    /// What an entry names as its parent, moved from here.
    fn moved_parent(&self, number: usize, span: Span, id: Id) -> Option<Relink> {
        let own = self.session.entries()[number].parent == id;
        let parent = match self.session.graph().parent(number) {
            Some(parent) if own => parent,
            _ => self.session.find(id)?,
        };
        let rest = self.rest_of_message(number, parent).map(Substitute::Entry);
        let substitute = rest.or_else(|| self.substitute(parent));
        Some(Relink {
            edit: replacement(self.session, span, substitute),
            parent: true,
        })
    }

    /// Whether an entry stays.
    fn stays(&self, entry: usize) -> bool {
        !self.plan.drops(self.session.entries()[entry].line)
    }

    /// Lists of entries at a known place lose those that go.
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

    /// The entry that stands in for `id`.
    ///
    /// Mostly the nearest ancestor that stays. The head of a preserved segment moves down instead.
    /// For the result of a parallel call it is the last result that stays of the same message, so
    /// that what followed still follows all of them.
    fn resolve(&self, id: Id, head: bool) -> Option<Substitute> {
        let at = self.session.find(id)?;
        if head {
            return self.first_kept_below(at).map(Substitute::Entry);
        }
        self.substitute(at)
    }

    /// The entry that stands in for this one, above it.
    fn substitute(&self, mut at: usize) -> Option<Substitute> {
        let (session, graph) = (self.session, self.session.graph());
        let mut seen = FxHashSet::default();
        loop {
            if !seen.insert(at) {
                return None;
            }
            if let Some(sibling) = self.sibling_result(at) {
                return Some(Substitute::Entry(sibling));
            }
            let Some(above) = graph.parent(at) else {
                let lost = session.entries()[at].parent.is_some();
                return bridged(session, self.plan, at)
                    .map(Substitute::Entry)
                    .or(lost.then_some(Substitute::LostParentOf(at)));
            };
            at = above;
            if self.stays(at) {
                return Some(Substitute::Entry(at));
            }
        }
    }

    /// For a line of a message that goes, and a child of it that is of another message: the last line that
    /// stays of those behind it.
    ///
    /// Who rewinds can go on in the middle of a message. Clients show all of a message that one line on the
    /// path is of; where that line goes, the others take its place, or the message would be lost.
    fn rest_of_message(&self, child: usize, at: usize) -> Option<usize> {
        let (entries, graph) = (self.session.entries(), self.session.graph());
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

    /// For a result that goes: the last that stays of its message's results, or else its message's last line that stays.
    fn sibling_result(&self, at: usize) -> Option<usize> {
        let (session, calls) = (self.session, self.session.calls());
        let entries = session.entries();
        let e = &entries[at];
        let result = session
            .blocks(e)
            .iter()
            .find(|b| b.kind.is_result() && e.kind == Kind::User)?;
        let call = calls.of(result)?.uses.first()?;
        let message = entries[call.entry as usize].message_id.some()?;
        let lines = self.messages.lines(message).filter(|&i| self.stays(i));
        let results = lines
            .clone()
            .flat_map(|i| session.blocks(&entries[i]))
            .filter(|b| b.kind.is_call())
            .filter_map(|b| calls.of(b))
            .flat_map(|c| c.results.iter().map(|r| r.entry as usize))
            .filter(|&i| entries[i].kind == Kind::User && self.stays(i));
        // Where results are chained one behind the other, one that hangs on this one cannot stand in for it.
        let free = |&i: &usize| !session.graph().descends(i, at);
        results
            .filter(free)
            .max()
            .or_else(|| lines.filter(free).max())
    }

    /// The first entry that stays at or below one that goes.
    fn first_kept_below(&self, at: usize) -> Option<usize> {
        let mut stack = vec![at];
        let mut seen = FxHashSet::default();
        while let Some(i) = stack.pop() {
            if !seen.insert(i) {
                continue;
            }
            if self.stays(i) {
                return Some(i);
            }
            let mut children: Vec<usize> = self.session.graph().children(i).collect();
            children.reverse();
            stack.extend(children);
        }
        None
    }
}

/// For an entry of the path whose parent is nowhere: the nearest that stays of those at which the newest
/// clients go on above it.
fn bridged(session: &Session, plan: &Plan, at: usize) -> Option<usize> {
    let (entries, graph) = (session.entries(), session.graph());
    let Standing::Path(p) = graph.place(at) else {
        return None;
    };
    let lost = entries[at].parent.is_some() && graph.parent(at).is_none();
    let mut above = graph.path()[..p as usize].iter().map(|&i| i as usize);
    let nearest = above.rfind(|&i| !plan.drops(entries[i].line));
    nearest.filter(|_| lost)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::document::Document;

    /// Two calls of one message with their results, and an answer; results hang on `(a, b)`.
    fn parallel(a: &str, b: &str, answer: &str) -> Session {
        let lines = [
            r#"{"parentUuid":null,"type":"user","message":{"role":"user","content":"go"},"uuid":"p"}"#.to_owned(),
            r#"{"parentUuid":"p","type":"assistant","message":{"id":"m","role":"assistant","content":[{"type":"tool_use","id":"A","name":"Bash","input":{}}]},"uuid":"ca"}"#.to_owned(),
            r#"{"parentUuid":"ca","type":"assistant","message":{"id":"m","role":"assistant","content":[{"type":"tool_use","id":"B","name":"Bash","input":{}}]},"uuid":"cb"}"#.to_owned(),
            format!(r#"{{"parentUuid":"{a}","type":"user","message":{{"role":"user","content":[{{"type":"tool_result","tool_use_id":"A","content":"a"}}]}},"uuid":"ra"}}"#),
            format!(r#"{{"parentUuid":"{b}","type":"user","message":{{"role":"user","content":[{{"type":"tool_result","tool_use_id":"B","content":"b"}}]}},"uuid":"rb"}}"#),
            format!(r#"{{"parentUuid":"{answer}","type":"assistant","message":{{"id":"n","role":"assistant","content":[{{"type":"text","text":"done"}}]}},"uuid":"d"}}"#),
        ];
        Session::new(Document::from_bytes((lines.join("\n") + "\n").into_bytes()))
    }

    /// The parents of what stays, after the lines with these uuids went.
    fn parents(session: &Session, gone: &[&str]) -> Vec<String> {
        let mut plan = Plan::default();
        for uuid in gone {
            let at = session.find(Id::of(uuid.as_bytes())).expect("an entry");
            plan.drop_line(session.entries()[at].line);
        }
        let (document, lines) = plan.apply(session).expect("a sound plan");
        let next = session.derived(document, &lines);
        let field = |e, key| next.string(e, &[key]).unwrap_or_default();
        let pairs = next.entries().iter();
        pairs
            .map(|e| format!("{}<{}", field(e, "parentUuid"), field(e, "uuid")))
            .collect()
    }

    #[test]
    fn a_copy_that_goes_is_not_mourned() {
        let lines = [
            r#"{"parentUuid":null,"type":"user","message":{"content":"go"},"uuid":"p","timestamp":"2026-01-01T00:00:00.000Z"}"#,
            r#"{"parentUuid":"p","type":"assistant","message":{"id":"m","content":[]},"uuid":"x","timestamp":"2026-01-01T00:00:02.000Z"}"#,
            r#"{"parentUuid":"p","type":"assistant","message":{"id":"m","content":[]},"uuid":"x","timestamp":"2026-01-01T00:00:01.000Z"}"#,
            r#"{"parentUuid":"lost","type":"user","message":{"content":"on"},"uuid":"y","timestamp":"2026-01-01T00:00:03.000Z"}"#,
        ];
        let session = Session::new(Document::from_bytes((lines.join("\n") + "\n").into_bytes()));
        let mut plan = Plan::default();
        plan.drop_line(1);
        assert_eq!(reparent(&session, &mut plan), Relinked::default());
    }

    #[test]
    fn what_has_no_uuid_follows_too() {
        let [p, a, b] = ["1", "2", "3"].map(|n| format!("{n}1111111-2222-4333-8444-555555555555"));
        let lines = [
            format!(
                r#"{{"parentUuid":null,"type":"user","message":{{"content":"go"}},"uuid":"{p}"}}"#
            ),
            format!(
                r#"{{"parentUuid":"{p}","type":"assistant","message":{{"id":"m","content":[]}},"uuid":"{a}"}}"#
            ),
            format!(
                r#"{{"parentUuid":"{a}","type":"user","message":{{"content":"on"}},"uuid":"{b}"}}"#
            ),
            format!(r#"{{"type":"news","parentUuid":"{a}"}}"#),
        ];
        let session = Session::new(Document::from_bytes((lines.join("\n") + "\n").into_bytes()));
        let expected = [format!("<{p}"), format!("{p}<{b}"), format!("{p}<")];
        assert_eq!(parents(&session, &[&a]), expected);
    }

    #[test]
    fn one_of_two_results_in_a_chain() {
        let session = parallel("cb", "ra", "rb");
        assert_eq!(
            parents(&session, &["ca", "ra"]),
            ["<p", "p<cb", "cb<rb", "rb<d"]
        );
        assert_eq!(
            parents(&session, &["cb", "rb"]),
            ["<p", "p<ca", "ca<ra", "ra<d"]
        );
    }

    #[test]
    fn one_of_two_results_side_by_side() {
        let session = parallel("ca", "cb", "rb");
        assert_eq!(
            parents(&session, &["ca", "ra"]),
            ["<p", "p<cb", "cb<rb", "rb<d"]
        );
        assert_eq!(
            parents(&session, &["cb", "rb"]),
            ["<p", "p<ca", "ca<ra", "ra<d"]
        );
    }
}
