//! The promise that an operation makes about the conversation, and whether its result keeps it.
//!
//! A conversation is the list of entries that the model is shown, in order. Each entry is known by the line
//! of the original file that it stands on, so no text is compared that no edit touched. Every step of an
//! operation narrows the expected conversation by exactly what its plan removes or hides, and adds the inserted
//! entries that the plan states will be shown, which are known by their uuids. The result must show all of that, in
//! the same order, and nothing else.

use rustc_hash::FxHashSet;
use std::hash::BuildHasher as _;

use crate::document::LineIx;
use crate::session::{Session, Standing};
use crate::transcript::{BlockKind, Entry, EntryHead, EntryIx, Id, Kind};
use crate::window::shown_entries;

use super::fates::Fate;
use super::left_out::{left_out, open_calls};
use super::plan::Plan;
use super::transform::Reach;

/// How the conversation of a result differs from what was promised.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum BrokenPromise {
    /// An entry is no longer shown, although nothing removed or hid it.
    #[error("line {line} would no longer be shown to the model, although nothing removed it")]
    Lost {
        /// The line in the original file, counted from 1.
        line: u32,
    },
    /// An entry is shown that was not part of the conversation.
    #[error(
        "line {line} would be shown to the model, although it was not part of the conversation"
    )]
    Revealed {
        /// The line in the original file, counted from 1.
        line: u32,
    },
    /// The entries are shown in another order.
    #[error("line {line} would be shown to the model in another place")]
    Moved {
        /// The line in the original file, counted from 1.
        line: u32,
    },
    /// An inserted entry is not shown, or in another place than stated.
    #[error("inserted message {uuid} would not be shown to the model in its place")]
    Inserted {
        /// Its uuid; empty if it is not a UUID.
        uuid: String,
    },
    /// An edit changed a content block that it was not meant for.
    #[error("line {line} would lose or change a content block that nothing named")]
    Block {
        /// The line in the original file, counted from 1.
        line: u32,
    },
}

/// The conversation that a result must show.
#[derive(Debug, Clone, Default)]
pub(super) struct Expected {
    /// The entries in the order in which the model is shown them: those of the original file, and inserted ones that a
    /// plan stated will be shown. Other inserted entries are not listed.
    lines: Vec<Shown>,
    /// The uuids of the inserted entries among them, and of those that later steps removed.
    inserted: FxHashSet<Id>,
    /// The first step that changed a block without naming it.
    broken: Option<BrokenPromise>,
}

/// An entry that the model is shown.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Shown {
    /// What it is known by.
    key: Key,
    /// Whether its place is fixed: the model wrote it, or it is a boundary or a summary, which preserved messages
    /// follow although they stand before it in the file.
    is_fixed: bool,
}

/// What an entry is known by while lines come and go.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
enum Key {
    /// Its line in the original file.
    Line(LineIx),
    /// The uuid of an inserted entry.
    Inserted(Id),
}

impl Key {
    fn of(session: &Session, entry: &Entry) -> Option<Self> {
        let origin = session.document().origin(entry.line);
        let inserted = || entry.uuid.some().map(Key::Inserted);
        origin.map(Key::Line).or_else(inserted)
    }

    /// Returns the promise that is broken if this entry is not where it should be.
    fn broken(self, how: impl FnOnce(u32) -> BrokenPromise) -> BrokenPromise {
        match self {
            Key::Line(line) => how(line.from_one()),
            Key::Inserted(id) => BrokenPromise::Inserted {
                uuid: id.text().unwrap_or_default(),
            },
        }
    }
}

/// Inserted entries that will be shown together.
struct Arrival {
    /// The entry that they are shown before; the end if `None`.
    before: Option<Key>,
    uuids: Vec<Id>,
}

/// What a step is about to do to the conversation, taken down before the session changes.
pub(super) struct Intent {
    /// Entries that the step removes or hides.
    leaving: FxHashSet<Key>,
    /// Inserted entries that the model will be shown.
    arriving: Vec<Arrival>,
    /// Whether the step removes a compaction boundary of the live path, so that history before it is shown again.
    lifts_boundary: bool,
    /// Lines of the live path, for a step that lifts a boundary: only these may come to light.
    live: FxHashSet<Key>,
    /// For each entry whose content is edited: its line, and its blocks that no edit touches.
    untouched: Vec<(LineIx, Vec<BlockPrint>)>,
}

/// Enough of a block to recognise it: its kind and a hash of its bytes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct BlockPrint {
    kind: BlockKind,
    hash: u64,
}

impl Expected {
    /// Expects the conversation that a session has now.
    pub(super) fn of(session: &Session) -> Self {
        Self {
            lines: shown(session, &FxHashSet::default()),
            inserted: FxHashSet::default(),
            broken: None,
        }
    }

    /// Narrows the expected conversation by a step that was carried out: `after` is the session it made.
    pub(super) fn follow(&mut self, intent: Intent, after: &Session, reach: Reach) {
        self.lines.retain(|s| !intent.leaving.contains(&s.key));
        self.receive(&intent.arriving, after);
        if reach != Reach::Narrows || intent.lifts_boundary {
            let now = shown(after, &self.inserted);
            if reach != Reach::Rearranges {
                let broken = self.lost_among(&now, after);
                self.break_with(broken);
            }
            if reach == Reach::Narrows {
                let known: FxHashSet<Key> = self.lines.iter().map(|s| s.key).collect();
                let mut strange = now.iter().map(|s| s.key);
                let strange = strange.find(|l| !known.contains(l) && !intent.live.contains(l));
                self.break_with(
                    strange.map(|key| key.broken(|line| BrokenPromise::Revealed { line })),
                );
            }
            self.lines = now;
        }
        let broken = intent.changed_block(after);
        self.break_with(broken);
    }

    /// Compares the conversation of the result with the expected one.
    pub(super) fn judge(&self, after: &Session) -> Result<(), BrokenPromise> {
        if let Some(broken) = &self.broken {
            return Err(broken.clone());
        }
        let mut found = shown(after, &self.inserted);
        self.forget_open_calls(after, &mut found);
        let found = comparable(found);
        let wanted = comparable(self.lines.clone());
        if wanted == found {
            return Ok(());
        }
        let expected: FxHashSet<Key> = wanted.iter().copied().collect();
        let actual: FxHashSet<Key> = found.iter().copied().collect();
        if let Some(key) = wanted.iter().find(|key| !actual.contains(key)) {
            return Err(key.broken(|line| BrokenPromise::Lost { line }));
        }
        if let Some(key) = found.iter().find(|key| !expected.contains(key)) {
            return Err(key.broken(|line| BrokenPromise::Revealed { line }));
        }
        let moved = wanted.iter().zip(&found).find(|(a, b)| a != b);
        let key = moved.map_or(Key::Line(LineIx::default()), |(key, _)| *key);
        Err(key.broken(|line| BrokenPromise::Moved { line }))
    }

    /// Leaves out calls without results that were left out before. If what followed them is removed, they are the last
    /// message of the result, where a client may show them.
    fn forget_open_calls(&self, after: &Session, found: &mut Vec<Shown>) {
        let open: FxHashSet<Key> = open_calls(after)
            .filter_map(|i| Key::of(after, after.entry(i)))
            .collect();
        if !open.is_empty() {
            let expected: FxHashSet<Key> = self.lines.iter().map(|s| s.key).collect();
            found.retain(|s| expected.contains(&s.key) || !open.contains(&s.key));
        }
    }

    /// Adds the inserted entries that a step stated will be shown, where it stated them.
    fn receive(&mut self, arriving: &[Arrival], after: &Session) {
        if arriving.is_empty() {
            return;
        }
        let left_out = left_out(after);
        let is_left_out =
            |i: EntryIx| !is_shown_kind(after.heads()[i].kind) || left_out.contains(&(i));
        for Arrival { before, uuids } in arriving {
            let place = before.and_then(|key| self.lines.iter().position(|s| s.key == key));
            let place = place.unwrap_or(self.lines.len());
            let mut entries = Vec::with_capacity(uuids.len());
            for &uuid in uuids {
                let key = Key::Inserted(uuid);
                match after.find(uuid) {
                    Some(i) if is_left_out(i) => {}
                    Some(i) => entries.push(Shown {
                        key,
                        is_fixed: is_fixed(after.heads()[i]),
                    }),
                    None => self.break_with(Some(key.broken(|line| BrokenPromise::Lost { line }))),
                }
            }
            self.lines.splice(place..place, entries);
            self.inserted.extend(uuids);
        }
    }

    /// The first expected entry that is neither shown nor history before a boundary: a step that brings entries
    /// to light may find a boundary among them, and what stands before it is then hidden by right.
    fn lost_among(&self, now: &[Shown], after: &Session) -> Option<BrokenPromise> {
        let shown: FxHashSet<Key> = now.iter().map(|s| s.key).collect();
        let mut missing = self
            .lines
            .iter()
            .map(|s| s.key)
            .filter(|key| !shown.contains(key))
            .peekable();
        missing.peek()?;
        let live = live_entries(after);
        let key = missing.find(|key| !live.contains(key))?;
        Some(key.broken(|line| BrokenPromise::Lost { line }))
    }

    fn break_with(&mut self, broken: Option<BrokenPromise>) {
        if self.broken.is_none() {
            self.broken = broken;
        }
    }
}

impl Intent {
    /// Takes down what a plan is about to do to the conversation of a session.
    pub(super) fn of(session: &Session, plan: &Plan) -> Self {
        let document = session.document();
        let origin = |line: LineIx| document.origin(line);
        let entry = |line: LineIx| Some(session.entry(session.lines()[line].entry()?));
        let leaving = plan.dropped().chain(plan.hidden());
        let leaving = leaving.filter_map(|line| match origin(line) {
            Some(line) => Some(Key::Line(line)),
            None => Key::of(session, entry(line)?),
        });
        let leaving: FxHashSet<Key> = leaving.collect();
        let graph = session.graph();
        let lifts_boundary = session.boundaries().any(|(i, e)| {
            plan.drops(e.line) && matches!(graph.place(i), Standing::Path(_) | Standing::Beside(_))
        });
        let live = if lifts_boundary {
            live_entries(session)
        } else {
            FxHashSet::default()
        };
        let edited = plan.fates().filter_map(|(line, fate)| match fate {
            Fate::Edit(edits) => Some((line, edits)),
            Fate::Drop => None,
        });
        let untouched = edited.filter_map(|(line, edits)| {
            let entry = entry(line)?;
            let in_content = |span: crate::json::Span| {
                span.start < entry.content.end && entry.content.start < span.end
            };
            if !edits.iter().any(|edit| in_content(edit.span)) {
                return None;
            }
            Some((
                origin(line)?,
                prints(session, entry, |span| !plan.touches(line, span)),
            ))
        });
        Self {
            leaving,
            arriving: arriving(session, plan),
            lifts_boundary,
            live,
            untouched: untouched.collect(),
        }
    }

    /// The first entry of `after` that lacks a block which no edit was to touch.
    fn changed_block(&self, after: &Session) -> Option<BrokenPromise> {
        if self.untouched.is_empty() {
            return None;
        }
        let mut expected = self.untouched.iter();
        let mut next = expected.next();
        for entry in after.entries() {
            let Some((line, blocks)) = next else { break };
            if after.document().origin(entry.line) != Some(*line) {
                continue;
            }
            next = expected.next();
            let mut now = prints(after, entry, |_| true).into_iter();
            // Each must be found after the one before it.
            if !blocks.iter().all(|block| now.any(|b| b == *block)) {
                return Some(BrokenPromise::Block {
                    line: line.from_one(),
                });
            }
        }
        None
    }
}

/// The blocks of an entry whose spans are wanted.
fn prints(
    session: &Session,
    entry: &Entry,
    wanted: impl Fn(crate::json::Span) -> bool,
) -> Vec<BlockPrint> {
    let text = session.text(entry);
    let blocks = session.blocks(entry).iter().filter(|b| wanted(b.span));
    let print = |b: &crate::transcript::Block| BlockPrint {
        kind: b.kind,
        hash: rustc_hash::FxBuildHasher.hash_one(b.span.of(text)),
    };
    blocks.map(print).collect()
}

/// The inserted entries that a plan states will be shown, each with the entry that follows them.
fn arriving(session: &Session, plan: &Plan) -> Vec<Arrival> {
    let mut stated = plan.arrivals().peekable();
    if stated.peek().is_none() {
        return Vec::new();
    }
    let graph = session.graph();
    let shown = shown_entries(session);
    let is_after = |i: EntryIx, position: u32| matches!(graph.place(i), Standing::Path(p) | Standing::Beside(p) if p >= position);
    let arrival = |(position, uuids): (u32, &[Id])| {
        let next = shown.iter().find(|&&i| is_after(i, position));
        Arrival {
            before: next.and_then(|&i| Key::of(session, session.entry(i))),
            uuids: uuids.to_vec(),
        }
    };
    stated.map(arrival).collect()
}

/// The entries that are on the live path or beside it, shown or not.
fn live_entries(session: &Session) -> FxHashSet<Key> {
    let graph = session.graph();
    let entries = session.numbered();
    let live =
        entries.filter(|(i, _)| matches!(graph.place(*i), Standing::Path(_) | Standing::Beside(_)));
    live.filter_map(|(_, e)| Key::of(session, e)).collect()
}

/// Whether the place of an entry is fixed; see [`Shown`].
fn is_fixed(head: EntryHead) -> bool {
    head.kind == Kind::Assistant || head.is_boundary() || head.flags.compact_summary()
}

/// The entries of the original file, and the inserted ones that were stated, that the model is shown, in order.
fn shown(session: &Session, inserted: &FxHashSet<Id>) -> Vec<Shown> {
    let heads = session.heads();
    let left_out = left_out(session);
    let entry = |i: EntryIx| {
        let key = Key::of(session, session.entry(i))?;
        let is_stated = |id: Id| inserted.contains(&id);
        if matches!(key, Key::Inserted(id) if !is_stated(id)) {
            return None;
        }
        let is_fixed = is_fixed(heads[i]);
        Some(Shown { key, is_fixed })
    };
    let is_shown = |i: &EntryIx| is_shown_kind(heads[*i].kind) && !left_out.contains(i);
    let shown = shown_entries(session).into_iter().filter(is_shown);
    shown.filter_map(entry).collect()
}

/// Whether clients show entries of this kind. Others can be on the path too.
fn is_shown_kind(kind: Kind) -> bool {
    matches!(
        kind,
        Kind::User | Kind::Assistant | Kind::System | Kind::Attachment
    )
}

/// The keys of a conversation, as they are compared.
///
/// Entries between two answers become one message of the user, in which the client puts results first. A
/// result that loses its block but keeps its text may change places there, so these entries are listed in the
/// order of the file. That must wait until all steps are done: where a step removes an answer, the entries around
/// it become one message.
fn comparable(mut shown: Vec<Shown>) -> Vec<Key> {
    for run in shown.chunk_by_mut(|a, b| a.is_fixed == b.is_fixed) {
        if !run[0].is_fixed {
            run.sort_unstable_by_key(|s| s.key);
        }
    }
    shown.into_iter().map(|s| s.key).collect()
}
