//! Checks of calls and results that do not pair.

pub(crate) mod repeated_call;
pub(crate) mod repeated_result;
pub(crate) mod result_before_call;
pub(crate) mod split_server_result;
pub(crate) mod stray_result;
pub(crate) mod tool_reference;
pub(crate) mod unanswered_call;
pub(crate) mod unfinished_call;

use crate::session::{At, Places, Session, Standing};
use crate::transcript::{EntryIx, Kind, PromptKind};

use super::super::check::is_live;

/// The calls and results of one id that are part of the conversation.
pub(crate) struct LiveCall {
    pub(crate) uses: Places,
    pub(crate) results: Places,
}

impl LiveCall {
    /// Assigns each result to a call with its id. If there are as many results as calls, their order
    /// decides; otherwise a result answers the last call before it that has no result yet.
    pub(crate) fn answers(&self, session: &Session) -> Vec<(At, Vec<At>)> {
        let order = |at: &At| (position(session, at.entry), at.entry, at.block);
        let mut pairs: Vec<(At, Vec<At>)> = self.uses.iter().map(|&u| (u, Vec::new())).collect();
        pairs.sort_by_key(|(made, _)| order(made));
        let mut results = self.results.to_vec();
        results.sort_by_key(order);
        if results.len() == pairs.len() {
            for ((_, answers), result) in pairs.iter_mut().zip(results) {
                answers.push(result);
            }
            return pairs;
        }
        for result in results {
            let before = pairs.partition_point(|(made, _)| order(made) < order(&result));
            let open = pairs[..before].iter().rposition(|(_, a)| a.is_empty());
            let open = open.or_else(|| pairs.iter().position(|(_, a)| a.is_empty()));
            let at = open.unwrap_or(before.saturating_sub(1));
            if let Some((_, answers)) = pairs.get_mut(at) {
                answers.push(result);
            }
        }
        pairs
    }

    /// Returns whether two calls are one: the same block of the same message, which 2.0.50 writes
    /// again on a line of its own.
    fn is_copy(session: &Session, a: At, b: At) -> bool {
        let entry = |at: At| session.entry(at.entry);
        let block = |at: At| session.block(at.block).span.of(session.text(entry(at)));
        entry(a).message_id.is_some()
            && entry(a).message_id == entry(b).message_id
            && a.entry != b.entry
            && block(a) == block(b)
    }
}

fn position(session: &Session, entry: EntryIx) -> u32 {
    match session.graph().place(entry) {
        Standing::Path(p) | Standing::Beside(p) => p,
        _ => u32::MAX,
    }
}

/// Returns every call of the conversation.
pub(crate) fn shown(session: &Session) -> impl Iterator<Item = LiveCall> + '_ {
    let distinct = session.graph().is_distinct();
    let uuid = move |at: &At| session.entry(at.entry).uuid;
    let of = move |blocks: &[At]| -> Places {
        let live = |b: &At| is_live(session, b.entry);
        // An entry that was written twice is one entry.
        let first = |i: usize, b: &At| {
            distinct || !blocks[..i].iter().any(|o| live(o) && uuid(o) == uuid(b))
        };
        let all = blocks.iter().copied().enumerate();
        all.filter(|(i, b)| live(b) && first(*i, b))
            .map(|(_, b)| b)
            .collect()
    };
    session.calls().iter().map(move |call| LiveCall {
        uses: of(&call.uses),
        results: of(&call.results),
    })
}

/// Returns whether no message follows that of an entry, so that its calls may still be running.
pub(crate) fn is_last_message(session: &Session, entry: EntryIx) -> bool {
    let own = session.entry(entry);
    let same = |e: &crate::transcript::Entry| {
        e.line == own.line || own.message_id.is_some() && e.message_id == own.message_id
    };
    let tail = session
        .graph()
        .path()
        .iter()
        .rev()
        .map(|&i| session.entry(i));
    tail.filter(|e| e.is_message())
        .take_while(|e| {
            e.kind == Kind::User && e.prompt == PromptKind::None && !e.flags.meta() || same(e)
        })
        .any(same)
}
