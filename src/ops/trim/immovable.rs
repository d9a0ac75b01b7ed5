//! The part of a context window that no step but a digest removes.

use crate::session::{Session, Standing};
use crate::transcript::{BlockKind, EntryIx, Kind};
use crate::window::{Calibration, EntryWeights, Weight};

use super::protection::Protection;

/// A result has to be larger than the budget by this factor before it is certain that no steps reach the budget.
const CERTAIN: f64 = 1.01;

/// Bounds from below what steps can reach, so that a search need not try steps that cannot suffice. On a session of 70 MB,
/// nine of ten attempts are spared.
pub(super) struct Immovable {
    /// For each position of the live path, the tokens from there on that stay.
    from: Vec<f64>,
}

impl Immovable {
    /// Adds up entries without calls, results, thinking and pictures.
    pub(super) fn new(
        session: &Session,
        (weights, calibration): (&EntryWeights, &Calibration),
        protection: &Protection,
    ) -> Self {
        let graph = session.graph();
        let mut stays = vec![Weight::default(); graph.path().len() + 1];
        let mut shown = Weight::default();
        for entry in session.numbers() {
            let (Standing::Path(p) | Standing::Beside(p)) = graph.place(entry) else {
                continue;
            };
            let weight = weights.shown(session, entry);
            shown += weight;
            if stays_whole(session, entry, protection)
                && let Some(sum) = stays.get_mut(p as usize)
            {
                *sum += weight;
            }
        }
        let mut rest = calibration.window() as f64 - calibration.tokens(shown);
        let mut from: Vec<f64> = stays
            .iter()
            .rev()
            .map(|weight| {
                rest += calibration.tokens(*weight);
                rest
            })
            .collect();
        from.reverse();
        Self { from }
    }

    /// Whether no steps bring the window to so many tokens if everything before a position of the live path becomes a digest.
    pub(super) fn exceeds(&self, position: u32, budget: u64) -> bool {
        self.after(position) > budget as f64 * CERTAIN
    }

    /// Returns the tokens that stay at least if everything before a position of the live path becomes a digest.
    pub(super) fn after(&self, position: u32) -> f64 {
        let from = self.from.get(position as usize);
        from.copied().unwrap_or(0.0)
    }
}

/// Whether no step changes an entry.
fn stays_whole(session: &Session, entry: EntryIx, protection: &Protection) -> bool {
    let e = session.entry(entry);
    let is_related = e.flags.companion() || e.kind == Kind::Attachment || e.flags.announced();
    let stays = |kind: BlockKind, tool| match kind {
        BlockKind::Text => true,
        kind if kind.is_call() || kind.is_result() => protection.holds(tool, e.message_id),
        _ => false,
    };
    !is_related && session.blocks(e).iter().all(|b| stays(b.kind, b.tool))
}
