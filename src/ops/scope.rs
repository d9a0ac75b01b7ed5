//! Which turns an operation is about.

use rayon::prelude::*;

use crate::rewrite::Refusal;
use crate::session::{BlockKind, Kind, Place, PromptKind, Session, TurnRange};

/// The turns that were asked for, resolved.
pub(super) struct Scope {
    first: u32,
    last: u32,
    /// Whether anything was left out by asking.
    everything: bool,
}

impl Scope {
    /// Resolves `--turns` and `--keep-last`.
    pub(super) fn new(
        session: &Session,
        turns: Option<&TurnRange>,
        keep_last: Option<u32>,
    ) -> Result<Self, Refusal> {
        let (first, last) = turns
            .map(|t| t.resolve(session))
            .transpose()?
            .unwrap_or((0, u32::MAX));
        let limit = keep_last.map_or(u32::MAX, |n| {
            (session.turns().len() as u32).saturating_sub(n)
        });
        Ok(Self {
            first,
            last: last.min(limit),
            everything: turns.is_none() && keep_last.is_none(),
        })
    }

    /// Whether an entry is in one of the turns. What is on no turn counts only where everything was asked for.
    pub(super) fn holds(&self, session: &Session, entry: usize) -> bool {
        // A copy of an entry is where the one is that clients know; left behind, it would take its place.
        let entry = session.graph().known_as(session.entries(), entry);
        match session.turns().of(session.graph(), entry) {
            Some(turn) => (self.first..=self.last).contains(&turn),
            None => match session.graph().place(entry) {
                // A branch goes with the turn that it leaves.
                Place::Branch(p) => {
                    (self.first..=self.last).contains(&session.turns().at_position(p))
                }
                _ => self.everything,
            },
        }
    }
}

/// The last turn, if it is unfinished: its calls await results, or its last result awaits the model.
pub(super) fn unfinished_turn(session: &Session) -> Option<u32> {
    let entries = session.entries();
    let leaf = &entries[session.graph().leaf()?];
    let count = session.turns().len() as u32;
    let awaits_model = leaf.kind == Kind::User
        && leaf.prompt == PromptKind::None
        && session
            .blocks(leaf)
            .iter()
            .any(|b| b.kind == BlockKind::ToolResult);
    let awaits_results = leaf.kind == Kind::Assistant
        && entries
            .par_iter()
            .enumerate()
            .filter(|(i, e)| {
                e.message_id == leaf.message_id
                    && e.kind == Kind::Assistant
                    && session.turns().of(session.graph(), *i) == Some(count)
            })
            .flat_map_iter(|(_, e)| session.blocks(e))
            .filter(|b| b.kind == BlockKind::ToolUse)
            .any(|b| session.calls().of(b).is_some_and(|c| c.results.is_empty()));
    (count > 0 && (awaits_model || awaits_results)).then_some(count)
}
