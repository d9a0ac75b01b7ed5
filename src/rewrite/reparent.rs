//! The only place that computes a parent.
//!
//! A transform says which lines go. Every reference to one of them, in every line that stays, is
//! then moved to the entry that stands in for it.

use rayon::prelude::*;
use rustc_hash::{FxHashMap, FxHashSet};

use crate::jsonl::{Edit, Span, between_quotes, elements, encode, lookup, remove_elements};
use crate::session::{Entry, Id, Kind, Place, Session, visit_ids};

use super::plan::{Action, Plan};

/// What was mended.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Mended {
    /// Entries with a new parent.
    pub parents: usize,
    /// Other references moved.
    pub others: usize,
}

/// Moves every reference to a dropped entry to its stand-in.
pub fn reparent(session: &Session, plan: &mut Plan) -> Mended {
    let stand_ins = StandIns::new(session, plan);
    if stand_ins.gone.is_empty() {
        return Mended::default();
    }
    let found: Vec<(usize, Vec<Reference>)> = session
        .entries()
        .par_iter()
        .enumerate()
        .with_min_len(64)
        .filter(|(_, e)| !plan.drops(e.line))
        .filter_map(|(i, e)| {
            let references = stand_ins.references(session, e);
            (!references.is_empty()).then_some((i, references))
        })
        .collect();
    let mut mended = Mended::default();
    for (i, references) in found {
        let entry = &session.entries()[i];
        for reference in references {
            let edits = match reference {
                Reference::Moves {
                    span,
                    id,
                    parent,
                    head,
                } => {
                    let stand_in = match (parent, stand_ins.rest_of_message(session, plan, i, id)) {
                        (true, Some(line)) => Some(StandIn::Entry(line)),
                        _ => stand_ins.resolve(session, plan, id, head),
                    };
                    let stand_in = stand_in.filter(|s| parent || matches!(s, StandIn::Entry(_)));
                    let edit = replacement(session, span, stand_in);
                    if parent && plan.touches(entry.line, edit.span) {
                        // The transform chose this entry's parent itself.
                        continue;
                    }
                    if parent {
                        mended.parents += 1;
                        let grown = edit.with.len() as i64 - edit.span.len() as i64;
                        plan.note(session, entry, Action::Edit, "parent", grown, 0, "");
                    } else {
                        mended.others += 1;
                    }
                    vec![edit]
                }
                Reference::LeavesList { edits } => {
                    mended.others += 1;
                    edits
                }
            };
            plan.edit_line(entry.line, edits);
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
        let (above, at) = (&entries[pair[0] as usize], &entries[pair[1] as usize]);
        let lost = at.parent.is_some() && graph.parent(pair[1] as usize).is_none();
        if !lost || !plan.drops(above.line) || plan.drops(at.line) {
            continue;
        }
        let stand_in = bridged(session, plan, pair[1] as usize).map(StandIn::Entry);
        let Some(raw) = lookup(session.text(at), &["parentUuid"]) else {
            continue;
        };
        let chosen = plan.touches(at.line, raw);
        if stand_in.is_some() && !chosen {
            let inner = Span {
                start: raw.start + 1,
                end: raw.end - 1,
            };
            let edit = replacement(session, inner, stand_in);
            let grown = edit.with.len() as i64 - edit.span.len() as i64;
            plan.note(session, at, Action::Edit, "parent", grown, 0, "");
            plan.edit_line(at.line, [edit]);
            named += 1;
        }
    }
    named
}

/// The edit that puts a stand-in, or null, where an id stood.
fn replacement(session: &Session, span: Span, stand_in: Option<StandIn>) -> Edit {
    let uuid = stand_in.and_then(|stand_in| {
        let (entry, key) = match stand_in {
            StandIn::Entry(entry) => (entry, "uuid"),
            StandIn::LostParentOf(entry) => (entry, "parentUuid"),
        };
        let entry = &session.entries()[entry];
        let id = if key == "uuid" {
            entry.uuid
        } else {
            entry.parent
        };
        let line = session.text(entry);
        id.text()
            .map(|text| encode(&text).into_bytes())
            .or_else(|| lookup(line, &[key]).map(|s| s.of(line).to_vec()))
    });
    Edit::new(
        Span {
            start: span.start - 1,
            end: span.end + 1,
        },
        uuid.unwrap_or_else(|| b"null".to_vec()),
    )
}

enum Reference {
    Moves {
        span: Span,
        id: Id,
        parent: bool,
        head: bool,
    },
    LeavesList {
        edits: Vec<Edit>,
    },
}

/// What is named instead of an entry that goes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum StandIn {
    /// This entry.
    Entry(usize),
    /// The parent that this entry named, which is nowhere: null would say that nothing came before.
    LostParentOf(usize),
}

/// Who stands in for whom.
struct StandIns {
    gone: FxHashSet<Id>,
    /// All that go have UUIDs.
    plain: bool,
    /// How these begin.
    hints: Hints,
    /// The lines of one message, in file order.
    messages: FxHashMap<Id, Vec<u32>>,
}

/// Tells most texts that are no id of a set from those that may be one by their first eight bytes, without reading
/// them as ids: every line names several, and nearly all of them stay.
struct Hints {
    bits: Vec<u64>,
    shift: u32,
}

impl Hints {
    fn new(ids: &FxHashSet<Id>) -> Self {
        let len = (ids.len() * 16).next_power_of_two().max(1 << 12);
        let mut hints = Self {
            bits: vec![0; len / 64],
            shift: 64 - len.trailing_zeros(),
        };
        for uuid in ids.iter().filter_map(|id| id.uuid()) {
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

impl StandIns {
    fn new(session: &Session, plan: &Plan) -> Self {
        let chained = || session.entries().iter().filter(|e| e.is_chained());
        let mut gone: FxHashSet<Id> = chained()
            .filter(|e| plan.drops(e.line))
            .map(|e| e.uuid)
            .collect();
        // Of duplicates, those that stay go on being named; a copy may go unmourned.
        if !gone.is_empty() {
            for e in chained().filter(|e| !plan.drops(e.line)) {
                gone.remove(&e.uuid);
            }
        }
        let mut messages: FxHashMap<Id, Vec<u32>> = FxHashMap::default();
        if !gone.is_empty() {
            for (i, e) in session.entries().iter().enumerate() {
                if e.kind == Kind::Assistant && e.message_id.is_some() {
                    messages.entry(e.message_id).or_default().push(i as u32);
                }
            }
        }
        Self {
            plain: gone.iter().all(|id| id.is_uuid()),
            hints: Hints::new(&gone),
            gone,
            messages,
        }
    }

    /// Whether a line could name an entry that goes: most do not, and need not be walked.
    fn could_name(&self, e: &Entry, text: &[u8]) -> bool {
        // An id of another form, or one spelt with escapes, takes a closer look.
        !self.plain
            || e.flags.numbered_characters()
            || e.around_words(text).iter().any(|(_, part)| {
                between_quotes(part, 36).any(|at| {
                    let text = &part[at..at + 36];
                    self.hints.may_hold(text)
                        && Id::of_uuid(text).is_some_and(|id| self.gone.contains(&id))
                })
            })
    }

    /// The references of an entry that stays to entries that go.
    fn references(&self, session: &Session, e: &Entry) -> Vec<Reference> {
        let text = session.text(e);
        if !self.could_name(e, text) {
            return Vec::new();
        }
        let mut lists: Vec<&[u8]> = Vec::new();
        let mut found = Vec::new();
        // A line that cannot be walked is opaque and has no entry.
        let _ = visit_ids(text, e.words(), |used| {
            if self.plain && used.span.len() != 36 && !used.is_escaped(text) {
                return;
            }
            let id = used.id(text);
            if !self.gone.contains(&id) || used.key == b"uuid" && used.depth == 1 {
                return;
            }
            if used.element {
                if !lists.contains(&used.key) {
                    lists.push(used.key);
                }
            } else {
                let parent = used.key == b"parentUuid" && used.depth == 1;
                found.push(Reference::Moves {
                    span: used.span,
                    id,
                    parent,
                    head: used.key == b"headUuid",
                });
            }
        });
        for key in lists {
            found.extend(self.shortened_lists(text, key));
        }
        found
    }

    /// Lists of entries at a known place lose those that go.
    fn shortened_lists(&self, text: &[u8], key: &[u8]) -> Vec<Reference> {
        let Ok(key) = std::str::from_utf8(key) else {
            return Vec::new();
        };
        let places: [&[&str]; 3] = [
            &["compactMetadata", "preservedMessages", key],
            &["compactMetadata", key],
            &[key],
        ];
        places
            .iter()
            .filter_map(|path| lookup(text, path))
            .filter_map(|list| {
                let inner = list.of(text);
                let all = elements(inner).ok()?;
                let gone: Vec<usize> = (0..all.len())
                    .filter(|&i| {
                        let raw = all[i].of(inner);
                        raw.len() > 2
                            && raw[0] == b'"'
                            && self.gone.contains(&Id::of(&raw[1..raw.len() - 1]))
                    })
                    .collect();
                let edits = remove_elements(&all, &gone)
                    .into_iter()
                    .map(|e| Edit::new(e.span.shift(list.start), e.with))
                    .collect();
                (!gone.is_empty()).then_some(Reference::LeavesList { edits })
            })
            .collect()
    }

    /// The entry that stands in for `id`.
    ///
    /// Mostly the nearest ancestor that stays. The head of a preserved segment moves down instead.
    /// For the result of a parallel call it is the last result that stays of the same message, so
    /// that what followed still follows all of them.
    fn resolve(&self, session: &Session, plan: &Plan, id: Id, head: bool) -> Option<StandIn> {
        let graph = session.graph();
        let mut at = session.find(id)?;
        if head {
            return self.first_kept_below(session, plan, at).map(StandIn::Entry);
        }
        let mut seen = FxHashSet::default();
        loop {
            if !seen.insert(at) {
                return None;
            }
            if let Some(sibling) = self.sibling_result(session, plan, at) {
                return Some(StandIn::Entry(sibling));
            }
            let Some(above) = graph.parent(at) else {
                let lost = session.entries()[at].parent.is_some();
                return bridged(session, plan, at)
                    .map(StandIn::Entry)
                    .or(lost.then_some(StandIn::LostParentOf(at)));
            };
            at = above;
            if !plan.drops(session.entries()[at].line) {
                return Some(StandIn::Entry(at));
            }
        }
    }

    /// For a line of a message that goes, and a child of it that is of another message: the last line that
    /// stays of those behind it.
    ///
    /// Who rewinds can go on in the middle of a message. Clients show all of a message that one line on the
    /// path is of; where that line goes, the others take its place, or the message would be lost.
    fn rest_of_message(
        &self,
        session: &Session,
        plan: &Plan,
        child: usize,
        id: Id,
    ) -> Option<usize> {
        let (entries, graph) = (session.entries(), session.graph());
        let at = session.find(id)?;
        let message = entries[at].message_id.some()?;
        if entries[child].message_id == message || entries[at].kind != Kind::Assistant {
            return None;
        }
        let lines = self.messages.get(&message)?.iter().map(|&i| i as usize);
        let mut staying = lines.filter(|&i| !plan.drops(entries[i].line));
        if staying.clone().any(|i| graph.descends(at, i)) {
            return None;
        }
        staying.rfind(|&i| graph.descends(i, at) && !graph.descends(i, child))
    }

    /// For a result that goes: the last that stays of its message's results, or else its message's last line that stays.
    fn sibling_result(&self, session: &Session, plan: &Plan, at: usize) -> Option<usize> {
        let e = &session.entries()[at];
        let result = session
            .blocks(e)
            .iter()
            .find(|b| b.kind.is_result() && e.kind == Kind::User)?;
        let call = session.calls().find(result.tool)?.uses.first()?;
        let message = session.entries()[call.entry as usize].message_id.some()?;
        let lines: Vec<u32> = self
            .messages
            .get(&message)?
            .iter()
            .copied()
            .filter(|&i| !plan.drops(session.entries()[i as usize].line))
            .collect();
        let results = lines
            .iter()
            .flat_map(|&i| session.blocks(&session.entries()[i as usize]))
            .filter(|b| b.kind.is_call())
            .filter_map(|b| session.calls().find(b.tool))
            .flat_map(|c| c.results.iter().map(|r| r.entry))
            .filter(|&i| {
                session.entries()[i as usize].kind == Kind::User
                    && !plan.drops(session.entries()[i as usize].line)
            });
        // Where results are chained one behind the other, one that hangs on this one cannot stand in for it.
        let free = |&i: &u32| !session.graph().descends(i as usize, at);
        results
            .filter(free)
            .max()
            .or_else(|| lines.iter().copied().filter(free).max())
            .map(|i| i as usize)
    }

    /// The first entry that stays at or below one that goes.
    fn first_kept_below(&self, session: &Session, plan: &Plan, at: usize) -> Option<usize> {
        let mut stack = vec![at];
        let mut seen = FxHashSet::default();
        while let Some(i) = stack.pop() {
            if !seen.insert(i) {
                continue;
            }
            if !plan.drops(session.entries()[i].line) {
                return Some(i);
            }
            let mut children: Vec<usize> = session.graph().children(i).collect();
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
    let Place::Path(p) = graph.place(at) else {
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
    use crate::jsonl::Document;

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
        let next = session.successor(plan.carry_out(session).expect("a sound plan"));
        let field = |e, key| next.string(e, &[key]).unwrap_or_default();
        let pairs = next.entries().iter();
        pairs
            .map(|e| format!("{}<{}", field(e, "parentUuid"), field(e, "uuid")))
            .collect()
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
