//! Estimates what a plan would save, without applying it.

use super::fates::Fate;
use super::plan::{InsertAt, Plan};
use crate::json::apply_edits;
use crate::session::{Session, Standing as At};
use crate::transcript::{EntryIx, LineState};
use crate::window::Weight;
use crate::window::{EntryWeights, line_weight};

/// The change in size that a plan makes.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub struct Forecast {
    /// The weight that the context window gains; usually negative.
    pub window: Weight,
    /// The bytes that the file gains, not counting repaired references.
    pub bytes: i64,
}

impl Forecast {
    /// Estimates the change from the lines that the plan touches; no other line is read.
    pub fn of(session: &Session, ledger: &EntryWeights, plan: &Plan) -> Self {
        let mut out = Self::default();
        let cut = out.insert(session, plan);
        let before_cut = |entry: EntryIx| match session.graph().place(entry) {
            At::Path(p) | At::Beside(p) => cut.is_some_and(|c| p < c),
            At::Branch(_) | At::Apart | At::Metadata => false,
        };
        if cut.is_some() {
            for i in session.numbers().filter(|&i| before_cut(i)) {
                out.lose(session, ledger, i);
            }
        }
        for (line, fate) in plan.fates() {
            let entry = match session.lines()[line] {
                LineState::Entry(i) => Some(i).filter(|&i| !before_cut(i)),
                LineState::Blank | LineState::Opaque => None,
            };
            match fate {
                Fate::Drop => {
                    let line = session.document().lines()[line];
                    out.bytes -= line.len() as i64 + 1;
                    if let Some(i) = entry {
                        out.lose(session, ledger, i);
                    }
                }
                Fate::Edit(edits) => {
                    let grown = |e: &crate::json::Edit| e.with.len() as i64 - e.span.len() as i64;
                    out.bytes += edits.iter().map(grown).sum::<i64>();
                    if let Some(i) = entry
                        && ledger.shown(session, i) != Weight::default()
                        && let Ok(made) = apply_edits(session.document().text(line), edits)
                    {
                        out.window += line_weight(&made) - ledger.shown(session, i);
                    }
                }
            }
        }
        out
    }

    /// Counts the inserted lines. If a boundary is inserted, returns the position of the path from which on
    /// entries are still shown.
    fn insert(&mut self, session: &Session, plan: &Plan) -> Option<u32> {
        let mut cut = None;
        for (place, text) in plan.inserts() {
            self.bytes += text.len() as i64 + 1;
            self.window += line_weight(text);
            if memchr::memmem::find(text, b"\"subtype\":\"compact_boundary\"").is_some() {
                cut = Some(position(session, place));
            }
        }
        cut
    }

    fn lose(&mut self, session: &Session, ledger: &EntryWeights, entry: EntryIx) {
        if !ledger.is_told_again(entry) {
            self.window = self.window - ledger.shown(session, entry);
        }
    }
}

/// Returns the first position of the path that comes after a place in the file.
fn position(session: &Session, place: InsertAt) -> u32 {
    let (path, entries) = (session.graph().path(), session.entries());
    let behind = match place {
        InsertAt::Before(line) => path.iter().position(|&i| entries[i].line >= line),
        InsertAt::End => None,
    };
    behind.unwrap_or(path.len()) as u32
}
