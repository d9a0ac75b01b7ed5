//! The only place that writes parents.
//!
//! A transform decides which lines are removed, and may request a parent for an entry. Every reference to a removed
//! entry, in every line that stays, is then moved to the entry that takes its place.

mod ancestry;
mod chain;
mod gone;
mod messages;
mod pin;
mod rearranged;
mod records;
mod substitutes;
#[cfg(test)]
mod tests;

use rayon::prelude::*;
use smallvec::SmallVec;
use uuid::Uuid;

use crate::json::{Edit, Span, encode, lookup};
use crate::session::Session;
use crate::transcript::{EntryIx, ID_LEN};

use super::change_kind::ChangeKind;
use super::plan::Plan;
use chain::Chain;
use gone::Gone;
use substitutes::Substitutes;

/// How many references were moved.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Relinked {
    /// Entries with a new parent.
    pub parents: usize,
    /// Other references.
    pub others: usize,
}

/// Writes the parents that the plan requests, and moves every reference to a removed entry.
pub fn reparent(session: &Session, plan: &mut Plan) -> Relinked {
    let mut relinked = Relinked::default();
    for (child, parent) in plan.take_parents() {
        let entry = session.entry(child);
        let edit = parent_edit(session.text(entry), parent.as_deref());
        relinked.parents += 1;
        plan.edit_entry(session, entry, ChangeKind::Parent, [edit]);
    }
    if plan.dropped().next().is_some() {
        records::drop_revived(session, plan);
    }
    let Moves { found, pinned } = moves(session, plan);
    if let Some(leaf) = pinned {
        pin::pin(session, leaf, plan);
    }
    for (i, moved) in found {
        let entry = session.entry(i);
        for Relink { edit, parent } in moved {
            if !parent {
                relinked.others += 1;
                plan.edit_line(entry.line, [edit]);
            } else if !plan.touches(entry.line, edit.span) {
                // A parent that was requested is not touched again.
                relinked.parents += 1;
                plan.edit_entry(session, entry, ChangeKind::Parent, [edit]);
            }
        }
    }
    relinked
}

/// What the removal of entries requires.
struct Moves {
    /// The references that have to move, by entry.
    found: Vec<(EntryIx, Several)>,
    /// The leaf of the result, if clients would not find it by themselves.
    pinned: Option<EntryIx>,
}

fn moves(session: &Session, plan: &Plan) -> Moves {
    let gone = Gone::of(session, plan);
    let chain = Chain::new(session, plan, &gone);
    let mut found: Vec<(EntryIx, Several)> = Vec::new();
    let pinned = if gone.is_empty() && chain.is_unchanged() {
        None
    } else {
        pin::leaf_to_pin(session, plan, &gone, &chain)
    };
    if !gone.is_empty() {
        let substitutes = Substitutes::new(session, plan, &gone, &chain);
        let entries = session.par_numbered();
        let moved = entries
            .with_min_len(64)
            .filter(|(_, e)| !plan.drops(e.line))
            .map_init(Vec::new, |room, (i, e)| {
                let moved = match substitutes.glance(i) {
                    Named::Nothing => Several::new(),
                    Named::Parent(span) => {
                        let moved = substitutes.moved_parent(i, span, e.parent);
                        moved.into_iter().collect()
                    }
                    Named::Perhaps => {
                        let text = session.document().text_in(e.line, room);
                        substitutes.moved(i, e, text)
                    }
                };
                (i, moved)
            })
            .filter(|(_, moved)| !moved.is_empty());
        found = moved.collect();
    }
    for (child, parent) in chain.others() {
        let text = session.text(session.entry(child));
        let inner = lookup(text, &["parentUuid"]).filter(|raw| raw.of(text).starts_with(b"\""));
        if let Some(raw) = inner {
            let span = Span {
                start: raw.start + 1,
                end: raw.end - 1,
            };
            let relink = Relink::parent(session, span, Some(Substitute::Entry(parent)));
            found.push((child, Several::from_iter([relink])));
        }
    }
    Moves { found, pinned }
}

/// Returns the edit that gives an entry a parent; `text` is its line.
pub(crate) fn parent_edit(text: &[u8], parent: Option<&str>) -> Edit {
    let parent = parent.map_or_else(|| "null".to_owned(), encode);
    match lookup(text, &["parentUuid"]) {
        Some(span) => Edit::new(span, parent),
        None => {
            let brace = text.iter().position(|&b| b == b'{').unwrap_or(0) + 1;
            Edit::new(Span::new(brace, brace), format!("\"parentUuid\":{parent},"))
        }
    }
}

/// Returns the edit that puts the id of a substitute, or null, in the place of an id.
fn replacement(session: &Session, span: Span, substitute: Option<Substitute>) -> Edit {
    let uuid = substitute.and_then(|substitute| {
        let (entry, key) = match substitute {
            Substitute::Entry(entry) => (entry, "uuid"),
            Substitute::LostParentOf(entry) => (entry, "parentUuid"),
        };
        let entry = session.entry(entry);
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

/// Returns a UUID as JSON.
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
    /// Whether it is the entry's parent.
    parent: bool,
}

impl Relink {
    fn parent(session: &Session, span: Span, substitute: Option<Substitute>) -> Self {
        Self {
            edit: replacement(session, span, substitute),
            parent: true,
        }
    }
}

/// What a line names of the removed entries.
enum Named {
    Nothing,
    /// Its parent, in this place, and nothing else.
    Parent(Span),
    /// Possibly something.
    Perhaps,
}

/// What is named instead of a removed entry.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Substitute {
    /// This entry.
    Entry(EntryIx),
    /// The parent that this entry names, which is not in the file. Null would mean that nothing came before.
    LostParentOf(EntryIx),
}
