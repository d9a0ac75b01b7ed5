//! The promise that an operation makes about the conversation, and whether its result keeps it.
//!
//! A conversation is the list of entries that the model is shown, in order. Each entry is known by the line
//! of the original file that it stands on, so no text is compared that no edit touched. Every step of an
//! operation narrows the expected conversation by exactly what its plan removes or hides; the result must
//! show the rest, all of it, in the same order, and nothing else.

use rustc_hash::FxHashSet;
use std::hash::BuildHasher as _;

use crate::session::{Session, Standing};
use crate::transcript::{BlockKind, Entry, EntryHead, Kind};
use crate::window::shown_entries;

use super::plan::{Fate, Plan, Reach};

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
    /// The entries of the original file, in the order in which the model is shown them. Entries that an operation
    /// inserted are not listed: a plan names them by inserting them.
    lines: Vec<Shown>,
    /// The first step that changed a block without naming it.
    broken: Option<BrokenPromise>,
}

/// An entry that the model is shown.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Shown {
    /// Its line in the original file.
    line: u32,
    /// Whether its place is fixed: the model wrote it, or it is a boundary or a summary, which preserved messages
    /// follow although they stand before it in the file.
    is_fixed: bool,
}

/// What a step is about to do to the conversation, taken down before the session changes.
pub(super) struct Intent {
    /// Lines of the original file that the step removes or hides.
    leaving: FxHashSet<u32>,
    /// Whether the step removes a compaction boundary of the live path, so that history before it is shown again.
    lifts_boundary: bool,
    /// Lines of the live path, for a step that lifts a boundary: only these may come to light.
    live: FxHashSet<u32>,
    /// For each entry whose content is edited: its line, and its blocks that no edit touches.
    untouched: Vec<(u32, Vec<BlockPrint>)>,
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
            lines: shown(session),
            broken: None,
        }
    }

    /// Narrows the expected conversation by a step that was carried out: `after` is the session it made.
    pub(super) fn follow(&mut self, intent: Intent, after: &Session, reach: Reach) {
        self.lines.retain(|s| !intent.leaving.contains(&s.line));
        if reach != Reach::Narrows || intent.lifts_boundary {
            let now = shown(after);
            if reach != Reach::Rearranges {
                let broken = self.lost_among(&now, after);
                self.break_with(broken);
            }
            if reach == Reach::Narrows {
                let known: FxHashSet<u32> = self.lines.iter().map(|s| s.line).collect();
                let mut strange = now.iter().map(|s| s.line);
                let strange = strange.find(|l| !known.contains(l) && !intent.live.contains(l));
                self.break_with(strange.map(|line| BrokenPromise::Revealed { line: line + 1 }));
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
        let (wanted, found) = (comparable(self.lines.clone()), comparable(shown(after)));
        if wanted == found {
            return Ok(());
        }
        let expected: FxHashSet<u32> = wanted.iter().copied().collect();
        let actual: FxHashSet<u32> = found.iter().copied().collect();
        if let Some(line) = wanted.iter().find(|line| !actual.contains(line)) {
            return Err(BrokenPromise::Lost { line: line + 1 });
        }
        if let Some(line) = found.iter().find(|line| !expected.contains(line)) {
            return Err(BrokenPromise::Revealed { line: line + 1 });
        }
        let moved = wanted.iter().zip(&found).find(|(a, b)| a != b);
        let line = moved.map_or(0, |(line, _)| *line);
        Err(BrokenPromise::Moved { line: line + 1 })
    }

    /// The first expected entry that is neither shown nor history before a boundary: a step that brings entries
    /// to light may find a boundary among them, and what stands before it is then hidden by right.
    fn lost_among(&self, now: &[Shown], after: &Session) -> Option<BrokenPromise> {
        let shown: FxHashSet<u32> = now.iter().map(|s| s.line).collect();
        let mut missing = self
            .lines
            .iter()
            .map(|s| s.line)
            .filter(|line| !shown.contains(line))
            .peekable();
        missing.peek()?;
        let live = live_lines(after);
        let line = missing.find(|line| !live.contains(line))?;
        Some(BrokenPromise::Lost { line: line + 1 })
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
        let origin = |line: u32| document.origin(line as usize).map(|line| line as u32);
        let leaving = plan.dropped().chain(plan.hidden()).filter_map(origin);
        let leaving: FxHashSet<u32> = leaving.collect();
        let graph = session.graph();
        let lifts_boundary = session.boundaries().any(|(i, e)| {
            plan.drops(e.line) && matches!(graph.place(i), Standing::Path(_) | Standing::Beside(_))
        });
        let live = if lifts_boundary {
            live_lines(session)
        } else {
            FxHashSet::default()
        };
        let edited = plan.fates().filter_map(|(line, fate)| match fate {
            Fate::Edit(edits) => Some((line, edits)),
            Fate::Drop => None,
        });
        let untouched = edited.filter_map(|(line, edits)| {
            let entry = &session.entries()[session.lines()[line as usize].entry()?];
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
            if after.document().origin(entry.line as usize) != Some(*line as usize) {
                continue;
            }
            next = expected.next();
            let mut now = prints(after, entry, |_| true).into_iter();
            // Each must be found after the one before it.
            if !blocks.iter().all(|block| now.any(|b| b == *block)) {
                return Some(BrokenPromise::Block { line: line + 1 });
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

/// The lines of the original file whose entries are on the live path or beside it, shown or not.
fn live_lines(session: &Session) -> FxHashSet<u32> {
    let (document, graph) = (session.document(), session.graph());
    let entries = session.entries().iter().enumerate();
    let live =
        entries.filter(|(i, _)| matches!(graph.place(*i), Standing::Path(_) | Standing::Beside(_)));
    let lines = live.filter_map(|(_, e)| document.origin(e.line as usize));
    lines.map(|line| line as u32).collect()
}

/// The entries of the original file that the model is shown, in order.
fn shown(session: &Session) -> Vec<Shown> {
    let (document, heads) = (session.document(), session.heads());
    let is_fixed = |head: EntryHead| {
        head.kind == Kind::Assistant || head.is_boundary() || head.flags.compact_summary()
    };
    let entry = |i: u32| {
        let line = session.entries()[i as usize].line as usize;
        document.origin(line).map(|line| Shown {
            line: line as u32,
            is_fixed: is_fixed(heads[i as usize]),
        })
    };
    // Entries of other kinds can be on the path, but clients never show them.
    let is_shown = |i: &u32| {
        matches!(
            heads[*i as usize].kind,
            Kind::User | Kind::Assistant | Kind::System | Kind::Attachment | Kind::Progress
        )
    };
    let shown = shown_entries(session).into_iter().filter(is_shown);
    shown.filter_map(entry).collect()
}

/// The lines of a conversation, as they are compared.
///
/// Entries between two answers become one message of the user, in which the client puts results first. A
/// result that loses its block but keeps its text may change places there, so these entries are listed in the
/// order of the file. That must wait until all steps are done: where a step removes an answer, the entries around
/// it become one message.
fn comparable(mut shown: Vec<Shown>) -> Vec<u32> {
    for run in shown.chunk_by_mut(|a, b| a.is_fixed == b.is_fixed) {
        if !run[0].is_fixed {
            run.sort_unstable_by_key(|s| s.line);
        }
    }
    shown.into_iter().map(|s| s.line).collect()
}
