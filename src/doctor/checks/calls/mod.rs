//! Calls and results that do not pair.

pub(crate) mod repeated_call;
pub(crate) mod repeated_result;
pub(crate) mod result_before_call;
pub(crate) mod split_server_result;
pub(crate) mod stray_result;
pub(crate) mod tool_reference;
pub(crate) mod unanswered_call;
pub(crate) mod unfinished_call;

use crate::session::{At, Places, Session};
use crate::transcript::{Kind, PromptKind};

use super::super::check::is_live;

/// One id of a call with the blocks that are part of the conversation.
pub(crate) struct LiveCall {
    pub(crate) uses: Places,
    pub(crate) results: Places,
}

/// Every call of the conversation.
pub(crate) fn shown(session: &Session) -> impl Iterator<Item = LiveCall> + '_ {
    let of = move |blocks: &[At]| -> Places {
        blocks
            .iter()
            .copied()
            .filter(|b| is_live(session, b.entry as usize))
            .collect()
    };
    session.calls().iter().map(move |call| LiveCall {
        uses: of(&call.uses),
        results: of(&call.results),
    })
}

/// Whether nothing of the conversation follows the message of an entry: its calls may still be running.
pub(crate) fn is_last_message(session: &Session, entry: u32) -> bool {
    let own = &session.entries()[entry as usize];
    let same = |e: &crate::transcript::Entry| {
        e.line == own.line || own.message_id.is_some() && e.message_id == own.message_id
    };
    let tail = session
        .graph()
        .path()
        .iter()
        .rev()
        .map(|&i| &session.entries()[i as usize]);
    tail.filter(|e| e.is_message())
        .take_while(|e| {
            e.kind == Kind::User && e.prompt == PromptKind::None && !e.flags.meta() || same(e)
        })
        .any(same)
}
