//! Selects the turns that an operation applies to.

use std::ops::Range;

use crate::session::{Session, Standing, TurnRange};
use crate::surgery::Refusal;
use crate::transcript::EntryIx;

/// The turns that were asked for, resolved.
pub(crate) struct TurnFilter {
    /// The positions of the path that they take.
    positions: Range<u32>,
    /// Whether all turns are selected.
    everything: bool,
}

impl TurnFilter {
    /// Resolves `--turns` and `--keep-last`.
    pub(crate) fn new(
        session: &Session,
        range: Option<&TurnRange>,
        keep_last: Option<u32>,
    ) -> Result<Self, Refusal> {
        let turns = session.turns();
        let (first, last) = range
            .map(|t| t.resolve(session))
            .transpose()?
            .unwrap_or((0, u32::MAX));
        let limit = keep_last.map_or(u32::MAX, |n| (turns.len() as u32).saturating_sub(n));
        Ok(Self {
            positions: turns.begin(first)..turns.begin(last.min(limit).saturating_add(1)),
            everything: range.is_none() && keep_last.is_none(),
        })
    }

    /// Leaves out what stands at this position of the live path or after it.
    pub(crate) fn up_to(mut self, end: u32) -> Self {
        self.everything &= end == u32::MAX;
        self.positions.end = self.positions.end.min(end);
        self
    }

    /// Whether an entry is in one of the turns. Entries outside of all turns count only if all turns are selected.
    pub(crate) fn holds(&self, session: &Session, entry: EntryIx) -> bool {
        if self.everything {
            return true;
        }
        // A copy of an entry counts as the one that clients know: if it stayed, it would take its place.
        let entry = session.graph().known_as(session.entries(), entry);
        match session.graph().place(entry) {
            // A branch goes with the turn that it leaves.
            Standing::Path(p) | Standing::Beside(p) | Standing::Branch(p) => {
                self.positions.contains(&p)
            }
            Standing::Apart | Standing::Metadata => false,
        }
    }
}
