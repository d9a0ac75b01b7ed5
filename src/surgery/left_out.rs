//! Finds entries of a conversation that no client shows to the model.

use rustc_hash::FxHashSet;

use crate::doctor::checks::calls::is_last_message;
use crate::session::Session;
use crate::transcript::BlockKind;

/// Returns the entries that hold nothing but calls without results after which the conversation goes on.
///
/// A call that was interrupted stays without a result, and every client leaves it out. Its place among the other
/// entries therefore does not matter.
pub(super) fn left_out(session: &Session) -> FxHashSet<u32> {
    let calls = session.calls();
    let is_open = |block: &crate::transcript::Block| {
        let call = calls.of(block);
        block.kind == BlockKind::ToolUse && call.is_some_and(|call| call.results.is_empty())
    };
    let open = calls.iter().filter(|call| call.results.is_empty());
    let entries = open.flat_map(|call| call.uses.iter().map(|made| made.entry));
    let left_out = entries.filter(|&i| {
        let blocks = session.blocks(&session.entries()[i as usize]);
        blocks.iter().all(is_open) && !is_last_message(session, i)
    });
    left_out.collect()
}
