//! Where a compaction separates what is summarised from what is kept.

use crate::ops::selector::find_entry;
use crate::ops::token_count::TokenCount;
use crate::ops::trim::newest_from;
use crate::ops::truncate::is_unfinished;
use crate::session::{Session, Standing};
use crate::surgery::{Refusal, RefusalKind, Remedy};
use crate::transcript::Kind;

use super::Compact;
use super::steps::step_starts;

/// A place on the live path: what comes before it is summarised, what follows it is kept.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Cut {
    position: u32,
    turn: u32,
    is_inside: bool,
}

impl Cut {
    /// Cuts after a turn; `None` if there is no such turn.
    pub fn after_turn(session: &Session, turn: u32) -> Option<Self> {
        let end = session.turns().get(turn)?.path.1;
        Some(Self {
            position: end,
            turn,
            is_inside: false,
        })
    }

    /// Cuts before a position of the live path; `None` if no turn begins before it.
    pub(crate) fn before(session: &Session, position: u32) -> Option<Self> {
        let turn = session.turns().at_position(position.checked_sub(1)?);
        let end = session.turns().get(turn)?.path.1;
        Some(Self {
            position,
            turn,
            is_inside: position < end,
        })
    }

    /// The first position of the live path that is kept.
    pub fn position(self) -> u32 {
        self.position
    }

    /// The last turn of which something is summarised.
    pub fn turn(self) -> u32 {
        self.turn
    }

    /// Whether the rest of that turn is kept.
    pub fn is_inside_turn(self) -> bool {
        self.is_inside
    }
}

impl Compact {
    /// Returns where the options cut; `None` if there is nothing to summarise.
    pub fn cut(&self, session: &Session) -> Result<Option<Cut>, Refusal> {
        let count = session.turns().len() as u32;
        match (&self.at, self.keep_last, self.keep_tokens, &self.before) {
            (Some(at), None, None, None) => after_turn(session, at.resolve(session)?),
            (None, Some(keep), None, None) => after_turn(session, count.saturating_sub(keep)),
            (None, None, Some(TokenCount(0)), None) => after_turn(session, count),
            (None, None, Some(tokens), None) => keeping(session, tokens.0),
            (None, None, None, Some(message)) => before_message(session, message).map(Some),
            _ => Err(Refusal::with(
                RefusalKind::BadOptions,
                "one of these is needed: the last turn to summarise, the number of turns or tokens to keep, or the first message to keep",
                [Remedy::KeepLast(3)],
            )
            .as_usage()),
        }
    }
}

/// Cuts after a turn. If calls of the turn still run, the message that makes them is kept: a summary would separate them
/// from their results.
fn after_turn(session: &Session, turn: u32) -> Result<Option<Cut>, Refusal> {
    let Some(whole) = Cut::after_turn(session, turn) else {
        return Ok(None);
    };
    if session.unfinished_turn() != Some(turn) || !is_unfinished(session, turn) {
        return Ok(Some(whole));
    }
    let begin = session.turns().begin(turn);
    let last = step_starts(session).pop().filter(|&step| step > begin);
    match last {
        Some(step) => Ok(Cut::before(session, step)),
        None => Err(Refusal::with(
            RefusalKind::UnfinishedTurn,
            format!(
                "turn {turn} is unfinished: it has calls without results, which cannot be summarised"
            ),
            [Remedy::KeepLast(1)],
        )),
    }
}

/// Keeps the newest messages that take no more than so many tokens, and at least the last step.
fn keeping(session: &Session, tokens: u64) -> Result<Option<Cut>, Refusal> {
    let from = newest_from(session, tokens);
    let turns = session.turns().iter().map(|turn| turn.path.0);
    let mut places: Vec<u32> = turns.chain(step_starts(session)).collect();
    places.sort_unstable();
    let at = places.partition_point(|&place| place < from);
    let Some(&place) = places.get(at).or(places.last()) else {
        return Ok(None);
    };
    Ok(Cut::before(session, place))
}

/// Keeps a message and what follows it.
fn before_message(session: &Session, name: &str) -> Result<Cut, Refusal> {
    let entry = find_entry(session, name)?;
    let (graph, entries) = (session.graph(), session.entries());
    let (Standing::Path(found) | Standing::Beside(found)) = graph.place(entry) else {
        return Err(Refusal::usage(
            "no-such-message",
            format!("message `{name}` is not part of the conversation"),
            "see the ids of messages with: ccsurgery show --turns N",
        ));
    };
    // An answer has a line for each block; any of them names it.
    let message = entries[entry].message_id;
    let is_same = |&p: &u32| {
        let e = &entries[graph.path()[p as usize]];
        e.kind == Kind::Assistant && message.is_some() && e.message_id == message
    };
    let first = (0..found).rev().take_while(is_same).last().unwrap_or(found);
    let steps = step_starts(session);
    let begins_turn = session.turns().iter().any(|turn| turn.path.0 == first);
    if (begins_turn || steps.binary_search(&first).is_ok())
        && let Some(cut) = Cut::before(session, first)
    {
        return Ok(cut);
    }
    if session.turns().at_position(first) == 0 {
        return Err(Refusal::new(
            "not-between-steps",
            format!(
                "message `{name}` belongs to a turn whose prompt is no longer in the file: a part of that turn cannot be summarised"
            ),
            "keep whole turns instead: --keep-last N",
        ));
    }
    let uuid = |&p: &u32| session.uuid(&entries[graph.path()[p as usize]]);
    let next = steps.iter().find(|&&step| step > first).and_then(uuid);
    Err(Refusal::new(
        "not-between-steps",
        format!(
            "a summary cannot stand directly before message `{name}`: it must stand before a prompt, or before an answer that follows results"
        ),
        next.map_or_else(
            || "keep whole turns instead: --keep-last N".to_owned(),
            |uuid| format!("the next message that works: --before {uuid}"),
        ),
    ))
}
