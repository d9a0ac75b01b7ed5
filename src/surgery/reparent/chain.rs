//! The live path as the result has it.
//!
//! Clients show more than the path: all lines of a message if one of them is on the path, and the results of all its
//! calls. An entry beside the path loses that tie when its results are removed and its text stays, or when the line of
//! its message that was on the path is removed. Such entries are put onto the path, so that nothing that was shown is
//! lost on a side branch.

use rustc_hash::FxHashMap;

use crate::session::{Session, Standing};
use crate::transcript::{Entry, EntryColumn, EntryIx, Id, Kind};

use super::super::plan::Plan;
use super::gone::Gone;
use super::rearranged::{Rearranged, loses_results};

/// Marks the absence of an entry.
const NOBODY: EntryIx = EntryIx::MAX;

/// The live path of the result, as far as it differs from the original's.
pub(super) struct Chain {
    /// By position of the original's path: the last entry of the result's path that stands at it or before it.
    last: Vec<EntryIx>,
    /// By entry, its new parent; empty if no parent changes.
    parents: EntryColumn<EntryIx>,
    /// Entries with a new parent whose old one is not removed.
    others: Vec<EntryIx>,
    /// Whether the path ends with a stretch whose entries are linked in the order in which they were shown.
    ends_rearranged: bool,
}

impl Chain {
    /// Links the entries of the path that stay, together with those that have to join them.
    pub(super) fn new(session: &Session, plan: &Plan, gone: &Gone<'_>) -> Self {
        let (entries, graph) = (session.entries(), session.graph());
        let path = graph.path();
        let joining = joining(session, plan, gone);
        let mut joining = joining.iter().peekable();
        let rearranged = Rearranged::new(session, plan, gone);
        let mut chain = Self {
            last: Vec::with_capacity(path.len()),
            parents: EntryColumn::default(),
            others: Vec::new(),
            ends_rearranged: rearranged.is_at_end(),
        };
        let (mut last, mut before) = (NOBODY, NOBODY);
        let mut boundary = (0, EntryIx::default());
        for (position, &i) in path.iter().enumerate() {
            let in_order = rearranged.contains(position as u32);
            if entries[i].is_boundary() {
                boundary = (position as u32, i);
            }
            // A list of preserved messages, which stand before their boundary in the file, puts parallel calls onto the
            // path. Without one of their results, what follows it hangs on the other.
            let is_lost = |parent| {
                let place = graph.place(parent);
                let is_preserved =
                    i < boundary.1 && matches!(place, Standing::Path(p) if p > boundary.0);
                is_preserved && !gone.stays(i)
            };
            // Preserved messages are shown after the summary, but hang on what was there before the compaction.
            if let Some(parent) = graph.parent(i)
                && before != NOBODY
                && before != parent
                && !entries[i].is_boundary()
                && !in_order
                && !is_lost(parent)
            {
                last = chain.last_above(session, gone, parent);
                before = parent;
            }
            if gone.stays(i) {
                let e = &entries[i];
                if (last != before || in_order) && e.parent.is_some() && !e.is_boundary() {
                    chain.link(session, gone, i, last);
                }
                last = i;
            }
            before = i;
            while let Some(join) = joining.next_if(|j| j.position as usize == position) {
                chain.link(session, gone, join.entry, last);
                last = join.entry;
            }
            chain.last.push(last);
        }
        chain
    }

    fn link(&mut self, session: &Session, gone: &Gone<'_>, child: EntryIx, parent: EntryIx) {
        if parent == NOBODY || session.graph().parent(child) == Some(parent) {
            return;
        }
        if self.parents.values().is_empty() {
            self.parents = EntryColumn::filled(NOBODY, session.entries().len());
        }
        self.parents[child] = parent;
        if !gone.contains(session.entry(child).parent) {
            self.others.push(child);
        }
    }

    /// Returns the entry of the result that an entry with this parent follows; the path was walked up to that entry.
    fn last_above(&self, session: &Session, gone: &Gone<'_>, parent: EntryIx) -> EntryIx {
        let graph = session.graph();
        let mut at = parent;
        for _ in session.numbers() {
            if let Standing::Path(position) = graph.place(at)
                && let Some(&last) = self.last.get(position as usize)
            {
                return last;
            }
            if gone.stays(at) {
                return at;
            }
            match graph.parent(at) {
                Some(above) => at = above,
                None => break,
            }
        }
        NOBODY
    }

    /// Whether no entry of the path gets another parent.
    pub(super) fn is_unchanged(&self) -> bool {
        self.parents.values().is_empty()
    }

    /// Returns the new parent of an entry.
    pub(super) fn parent(&self, child: EntryIx) -> Option<EntryIx> {
        let parent = self.parents.get(child).copied()?;
        (parent != NOBODY).then_some(parent)
    }

    /// Returns the entries, with their new parents, that do not name a removed entry as their parent.
    pub(super) fn others(&self) -> impl Iterator<Item = (EntryIx, EntryIx)> + '_ {
        let linked = |&i: &EntryIx| Some((i, self.parent(i)?));
        self.others.iter().filter_map(linked)
    }

    /// Whether the result's path ends with prompts that had arrived before results which are changed.
    pub(super) fn ends_rearranged(&self) -> bool {
        self.ends_rearranged
    }

    /// Returns the last entry of the path that the result has.
    pub(super) fn end(&self) -> Option<EntryIx> {
        let last = self.last.last().copied()?;
        (last != NOBODY).then_some(last)
    }

    /// Returns the entry that takes the place of a removed one of the path.
    pub(super) fn before(&self, standing: Standing) -> Option<EntryIx> {
        let Standing::Path(position) = standing else {
            return None;
        };
        let last = self.last.get(position as usize).copied()?;
        (last != NOBODY).then_some(last)
    }
}

/// An entry beside the path that has to join it.
struct Join {
    /// The position of the path that it follows.
    position: u32,
    /// Lines of a message come first, then results, then text beside removed results.
    rank: u8,
    entry: EntryIx,
}

/// What stands beside the path of one message.
#[derive(Default)]
struct Beside {
    lines: Vec<EntryIx>,
    results: Vec<EntryIx>,
    /// Entries that lose all their results and keep other blocks.
    loose: Vec<EntryIx>,
    /// Positions of the message's last line and of its last line or result on the path.
    last_line: Option<u32>,
    last: Option<u32>,
    keeps_line: bool,
    /// Whether a result is on the path, and whether one stays there.
    has_result: bool,
    keeps_result: bool,
}

fn joining(session: &Session, plan: &Plan, gone: &Gone<'_>) -> Vec<Join> {
    let mut messages = beside(session, plan, gone);
    if messages.is_empty() {
        return Vec::new();
    }
    let path = session.graph().path();
    for (position, &i) in path.iter().enumerate() {
        let e = session.entry(i);
        let Some(m) = message_of(session, e).and_then(|id| messages.get_mut(&id)) else {
            continue;
        };
        let position = Some(position as u32);
        m.last = position;
        if e.kind == Kind::Assistant {
            m.last_line = position;
            m.keeps_line |= gone.stays(i);
        } else {
            m.has_result = true;
            m.keeps_result |= gone.stays(i) && !loses_results(session, plan, e);
        }
    }
    let mut out = Vec::new();
    for m in messages.into_values() {
        let (Some(line), Some(last)) = (m.last_line, m.last) else {
            continue;
        };
        let mut join = |position, rank, entry| {
            out.push(Join {
                position,
                rank,
                entry,
            });
        };
        let above = if m.keeps_line {
            path.get(line as usize)
        } else {
            m.lines.last()
        };
        let parent = |i: EntryIx| session.graph().parent(i);
        // A result that follows its own call keeps its parent.
        let follows = |i: &&EntryIx| parent(**i) == above.copied();
        let result = m.results.iter().find(follows).or(m.results.last());
        let result = result.filter(|_| m.has_result && !m.keeps_result);
        let own = result.and_then(|&i| parent(i));
        let own = own.filter(|p| m.lines.contains(p));
        if !m.keeps_line {
            // Lines after the call whose result joins stay beside the path.
            let lines = m.lines.iter().filter(|&&i| own.is_none_or(|own| i <= own));
            lines.for_each(|&i| join(line, 0, i));
        } else if let Some(own) = own {
            join(line, 0, own);
        }
        if let Some(&i) = result {
            join(line, 1, i);
        }
        // Text beside removed results stays in the order of the file.
        let at = |i: EntryIx| if i < path[last as usize] { line } else { last };
        m.loose.iter().for_each(|&i| join(at(i), 2, i));
    }
    let from = preserved_before(session);
    out.retain(|j| j.position >= from);
    out.sort_by_key(|j| (j.position, j.rank, j.entry));
    out
}

/// Returns the position before which no entry may join the path.
///
/// A preserved segment is the way up from its tail to its head, so what joined that way would be shown to the model.
fn preserved_before(session: &Session) -> u32 {
    let graph = session.graph();
    let window = graph.window_start();
    let boundary = graph.path().get(window as usize).map(|&i| session.entry(i));
    let segment = boundary
        .filter(|e| e.is_boundary())
        .and_then(|e| session.lookup(e, &["compactMetadata", "preservedSegment"]));
    segment.map_or(0, |_| window)
}

/// Gathers the lines and results beside the path that stay, by message.
fn beside(session: &Session, plan: &Plan, gone: &Gone<'_>) -> FxHashMap<Id, Beside> {
    let (entries, graph) = (session.entries(), session.graph());
    let mut out: FxHashMap<Id, Beside> = FxHashMap::default();
    for (i, head) in session.numbers().zip(session.heads()) {
        if !head.is_message()
            || !matches!(graph.place(i), Standing::Beside(_))
            || head.flags.sidechain()
            || !gone.stays(i)
            || graph.known_as(entries, i) != i
        {
            continue;
        }
        let e = &entries[i];
        let Some(id) = message_of(session, e) else {
            continue;
        };
        let message = out.entry(id).or_default();
        if e.kind == Kind::Assistant {
            message.lines.push(i);
        } else if loses_results(session, plan, e) {
            message.loose.push(i);
        } else {
            message.results.push(i);
        }
    }
    out
}

/// Returns the message that an entry is a line of, or whose call it answers.
fn message_of(session: &Session, e: &Entry) -> Option<Id> {
    if e.kind == Kind::Assistant {
        return e.message_id.some();
    }
    let mut blocks = session.blocks(e).iter();
    let result = blocks.find(|b| b.kind.is_result() && e.kind == Kind::User)?;
    let call = session.calls().of(result)?.uses.first()?;
    session.entry(call.entry).message_id.some()
}
