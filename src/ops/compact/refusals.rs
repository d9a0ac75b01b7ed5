//! Compactions that are declined.

use crate::session::{Session, Standing};
use crate::surgery::{Refusal, RefusalKind, Remedy};
use crate::transcript::{EntryIx, Id, Kind};

/// Refuses a boundary before the last one: it would change nothing.
pub(super) fn refuse_compacted(session: &Session, position: u32) -> Result<(), Refusal> {
    let (graph, turns) = (session.graph(), session.turns());
    let window = graph.window_start();
    let is_first = window == 0 && graph.preserved_end().is_none();
    if is_first || window < position && !ends_with_preserved(session, position) {
        return Ok(());
    }
    // If only preserved messages follow the last compaction, no boundary can stand after it.
    let shown = turns.iter().filter(|t| t.path.0 > window).count() as u32;
    let kept = match graph.preserved_end() {
        Some(end) if end as usize == graph.path().len() => 0,
        _ => shown,
    };
    let rest = match shown {
        0 => "nothing but the summary is".to_owned(),
        1 => "only its last turn is".to_owned(),
        shown => format!("only its last {shown} turns are"),
    };
    Err(Refusal::with(
        RefusalKind::AlreadyCompacted,
        format!("the session was compacted after that: {rest} shown to the model"),
        [if kept > 1 {
            Remedy::KeepLast(kept - 1)
        } else {
            Remedy::Advice("there is nothing left to compact".to_owned())
        }],
    ))
}

/// Whether the messages that the last compaction preserved are kept, and nothing follows them: a client could not
/// continue after a boundary that preserves them again.
fn ends_with_preserved(session: &Session, position: u32) -> bool {
    let end = session.graph().preserved_end();
    end.is_some_and(|end| position < end && end as usize == session.graph().path().len())
}

/// Refuses to hide a part of a message, or results at the end of the file that a prompt arrived before: clients would show
/// them again, together with the rest.
pub(super) fn refuse_split_message(session: &Session, position: u32) -> Result<(), Refusal> {
    let (before, after) = session.graph().path().split_at(position as usize);
    let is_answer = |i: &&EntryIx| session.heads()[**i].kind == Kind::Assistant;
    let message = |i: &EntryIx| session.entry(*i).message_id;
    let last = before.iter().rfind(is_answer).map(message);
    let next = after.iter().find(is_answer).map(message);
    let graph = session.graph();
    let leaf = graph.leaf().map(|leaf| graph.place(leaf));
    let hides_leaf = matches!(leaf, Some(Standing::Path(p)) if p < position) && !after.is_empty();
    let is_split = last == next && last.is_some_and(Id::is_some);
    if !is_split && !hides_leaf {
        return Ok(());
    }
    let kept = session.turns().len() as u32 + 1 - session.turns().at_position(position);
    Err(Refusal::with(
        "split-message",
        "the first kept prompt arrived while the model was working on the turn before it, so the two cannot be separated",
        [Remedy::KeepLast(kept + 1)],
    ))
}
