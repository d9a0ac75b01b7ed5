//! The newest part of a session, which a trim leaves as it is.

use rustc_hash::FxHashSet;

use crate::ops::drop_tools::calls_from;
use crate::session::{Session, Standing};
use crate::transcript::{Id, Kind};
use crate::window::{Calibration, EntryWeights, Weight};

/// The calls and turns that stay as they are.
#[derive(Debug, Default)]
pub(super) struct Protection {
    /// Calls with a part in what is protected.
    calls: FxHashSet<Id>,
    /// Messages that make such a call: their thinking belongs to all of their calls.
    messages: FxHashSet<Id>,
    /// The first position of the live path that is protected.
    pub(super) from: u32,
    /// How many turns at the end have a protected part.
    pub(super) turns: u32,
}

impl Protection {
    /// Protects the newest tokens, the last turns, and results that the model has not answered yet.
    pub(super) fn new(
        session: &Session,
        (weights, calibration): (&EntryWeights, &Calibration),
        keep_tokens: u64,
        keep_last: u32,
    ) -> Self {
        let turns = session.turns();
        let count = turns.len() as u32;
        let by_turns = turns.begin(count.saturating_sub(keep_last) + 1);
        let by_tokens = newest(session, weights, calibration, keep_tokens);
        let from = by_turns.min(by_tokens);
        let calls = calls_from(session, from.min(last_answer(session)));
        let protected = session.calls().iter().filter(|c| calls.contains(&c.id));
        let messages = protected
            .flat_map(|call| &call.uses)
            .filter_map(|at| session.entry(at.entry).message_id.some())
            .collect();
        let partly = turns.iter().filter(|turn| turn.path.1 > from).count() as u32;
        Self {
            calls,
            messages,
            from,
            turns: partly.max(keep_last),
        }
    }

    /// Whether a call stays as it is.
    pub(super) fn holds(&self, call: Id, message: Id) -> bool {
        self.calls.contains(&call) || message.is_some() && self.messages.contains(&message)
    }
}

/// Returns the first position of the live path from which on no more than this many tokens are shown.
pub(crate) fn newest_from(session: &Session, keep_tokens: u64) -> u32 {
    let (weights, calibration) = (EntryWeights::of(session), Calibration::of(session));
    newest(session, &weights, &calibration, keep_tokens)
}

fn newest(
    session: &Session,
    weights: &EntryWeights,
    calibration: &Calibration,
    keep_tokens: u64,
) -> u32 {
    let graph = session.graph();
    let mut by_position = vec![Weight::default(); graph.path().len()];
    if keep_tokens == 0 {
        return by_position.len() as u32;
    }
    for entry in session.numbers() {
        if let Standing::Path(p) | Standing::Beside(p) = graph.place(entry)
            && let Some(sum) = by_position.get_mut(p as usize)
        {
            *sum += weights.shown(session, entry);
        }
    }
    let mut room = keep_tokens as f64;
    let kept = by_position.iter().rev().take_while(|weight| {
        room -= calibration.tokens(**weight);
        room >= 0.0
    });
    (by_position.len() - kept.count()) as u32
}

/// Returns the position at which the last answer of the model begins.
fn last_answer(session: &Session) -> u32 {
    let entries = session.entries();
    let path = session.graph().path();
    let entry = |p: usize| &entries[path[p]];
    let Some(last) = (0..path.len())
        .rev()
        .find(|&p| entry(p).kind == Kind::Assistant)
    else {
        return path.len() as u32;
    };
    let message = entry(last).message_id;
    let earlier = (0..last)
        .rev()
        .take_while(|&p| message.is_some() && entry(p).message_id == message);
    (last - earlier.count()) as u32
}
