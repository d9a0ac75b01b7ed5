//! Thinking that leaves the context window when the next turn begins.

use super::measure::Measure;
use super::weight::Weight;
use crate::session::{Session, Standing};
use crate::transcript::{EntryIx, Id, Kind};

/// The models for which the API drops the thinking of earlier turns, by how their names begin.
/// Opus 4.5 and later, Sonnet 4.6 and Haiku 4.5 keep it.
const DROPPING: [&[u8]; 1] = [b"\"claude-sonnet-4-5"];

/// The weight of thinking from which on a session's records show whether it was dropped.
const ENOUGH: f64 = 500.0;

/// Which thinking of a session the model no longer sees.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(crate) struct DroppedThinking {
    /// The position of the live path where the last turn begins, if thinking before it is dropped.
    before: Option<u32>,
}

impl DroppedThinking {
    /// Whether the model of the last answer, which clients resume with, may drop thinking.
    pub(crate) fn is_possible(session: &Session) -> bool {
        let model = last_model(session);
        model.is_some_and(|m| DROPPING.iter().any(|d| m.starts_with(d)))
    }

    /// Decides by the model, unless the session's records show that the thinking was kept, or did so before content was
    /// removed. `weigh` returns the weight and the record of an entry.
    pub(crate) fn of(session: &Session, weigh: impl Fn(EntryIx) -> (Weight, Option<u64>)) -> Self {
        let path = session.graph().path().iter().rev();
        let kept = || {
            let mut kept = path.map(|&i| session.entry(i));
            kept.find_map(|e| Measure::kept_with(session, e))
        };
        let drops = Self::is_possible(session)
            && match kept() {
                Some(measure) => measure.drops_thinking,
                None => !keeps_thinking(session, weigh),
            };
        Self {
            before: drops.then(|| session.turns().begin(session.turns().len() as u32)),
        }
    }

    /// Whether thinking is dropped at the beginning of each turn.
    pub(crate) fn drops(self) -> bool {
        self.before.is_some()
    }

    /// Whether the thinking of an entry is no longer shown.
    pub(crate) fn is_dropped(self, session: &Session, entry: EntryIx) -> bool {
        match (self.before, session.graph().place(entry)) {
            (Some(before), Standing::Path(p) | Standing::Beside(p)) => p < before,
            _ => false,
        }
    }
}

/// Returns the model of the last answer, as JSON.
pub(super) fn last_model(session: &Session) -> Option<&[u8]> {
    let (entries, heads) = (session.entries(), session.heads());
    let answered = |&&i: &&EntryIx| {
        let head = heads[i];
        head.kind == Kind::Assistant && !head.flags.synthetic()
    };
    let last = session.graph().path().iter().rev().find(answered)?;
    let e = &entries[*last];
    e.model(session.text(e))
}

/// Whether the records at the beginning of turns did not fall by the thinking of the turns before.
fn keeps_thinking(session: &Session, weigh: impl Fn(EntryIx) -> (Weight, Option<u64>)) -> bool {
    let turns = session.turns();
    // Since the last record: its tokens and turn, and the weight that was added.
    let mut last: Option<(f64, u32)> = None;
    let mut added = 0.0;
    let mut thinking_of_turn = 0.0;
    let (mut fallen, mut droppable) = (0.0, 0.0);
    let mut last_message = Id::NONE;
    for (position, &i) in session.graph().path().iter().enumerate() {
        if session.heads()[i].is_boundary() {
            (last, added, thinking_of_turn) = (None, 0.0, 0.0);
            continue;
        }
        let (weight, record) = weigh(i);
        let turn = turns.at_position(position as u32);
        let message = session.entry(i).message_id;
        let repeated = message.is_some() && message == last_message;
        last_message = message;
        if let Some(tokens) = record.filter(|_| !repeated) {
            let tokens = tokens as f64;
            if let Some((before, turn_before)) = last
                && turn_before != turn
            {
                fallen += before + added - tokens;
                droppable += thinking_of_turn;
                thinking_of_turn = 0.0;
            }
            last = Some((tokens, turn));
            added = 0.0;
        }
        added += weight.scaled() + weight.images;
        thinking_of_turn += weight.thinking;
    }
    droppable >= ENOUGH && fallen < droppable * 0.4
}
