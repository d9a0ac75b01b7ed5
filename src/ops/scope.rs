//! Which turns an operation is about.

use std::ops::Range;

use rayon::prelude::*;

use crate::rewrite::Refusal;
use crate::session::{BlockKind, Kind, Place, PromptKind, Session, TurnRange};

/// The turns that were asked for, resolved.
pub(super) struct Scope {
    /// The positions of the path that they take.
    positions: Range<u32>,
    /// Whether nothing was left out by asking.
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
            positions: begin(session, first)..begin(session, last.min(limit).saturating_add(1)),
            everything: turns.is_none() && keep_last.is_none(),
        })
    }

    /// Whether an entry is in one of the turns. What is on no turn counts only where everything was asked for.
    pub(super) fn holds(&self, session: &Session, entry: usize) -> bool {
        if self.everything {
            return true;
        }
        // A copy of an entry is where the one is that clients know; left behind, it would take its place.
        let entry = session.graph().known_as(session.entries(), entry);
        match session.graph().place(entry) {
            // A branch goes with the turn that it leaves.
            Place::Path(p) | Place::Beside(p) | Place::Branch(p) => self.positions.contains(&p),
            Place::Apart | Place::Metadata => false,
        }
    }
}

/// The position of the path at which a turn begins; behind all others, where there is no such turn.
pub(super) fn begin(session: &Session, turn: u32) -> u32 {
    if turn == 0 {
        return 0;
    }
    let turn = session.turns().get(turn);
    turn.map_or(u32::MAX, |turn| turn.path.0)
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
    let start = begin(session, count);
    let in_turn = |i: &usize| {
        let place = session.graph().place(*i);
        matches!(place, Place::Path(p) | Place::Beside(p) if p >= start)
    };
    let awaits_results = leaf.kind == Kind::Assistant
        && (0..entries.len())
            .into_par_iter()
            .filter(in_turn)
            .map(|i| &entries[i])
            .filter(|e| e.message_id == leaf.message_id && e.kind == Kind::Assistant)
            .flat_map_iter(|e| session.blocks(e))
            .filter(|b| b.kind == BlockKind::ToolUse)
            .any(|b| session.calls().of(b).is_some_and(|c| c.results.is_empty()));
    (count > 0 && (awaits_model || awaits_results)).then_some(count)
}
