//! Finds entries of a conversation that no client shows to the model.

use rustc_hash::FxHashSet;

use crate::doctor::checks::calls::is_last_message;
use crate::session::Session;
use crate::transcript::{Block, BlockKind, EntryIx};

/// Returns the entries that hold nothing but calls without results after which the conversation goes on.
///
/// A call that was interrupted stays without a result, and every client leaves it out. Its place among the other
/// entries therefore does not matter.
pub(super) fn left_out(session: &Session) -> FxHashSet<EntryIx> {
    let open = open_calls(session);
    open.filter(|&i| !is_last_message(session, i)).collect()
}

/// Returns the entries that hold nothing but calls without results.
pub(super) fn open_calls(session: &Session) -> impl Iterator<Item = EntryIx> + '_ {
    let calls = session.calls();
    let is_open = |block: &Block| {
        let call = calls.of(block);
        block.kind == BlockKind::ToolUse && call.is_some_and(|call| call.results.is_empty())
    };
    let open = calls.iter().filter(|call| call.results.is_empty());
    let entries = open.flat_map(|call| call.uses.iter().map(|made| made.entry));
    entries.filter(move |&i| {
        let blocks = session.blocks(session.entry(i));
        blocks.iter().all(is_open)
    })
}
