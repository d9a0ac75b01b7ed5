//! Checks of thinking that the API refuses.

pub(crate) mod adjacent;
pub(crate) mod alone;
pub(crate) mod missing;
pub(crate) mod unsigned;

use rustc_hash::FxHashMap;

use crate::session::{At, Session};
use crate::transcript::{BlockIx, BlockKind, Id, Kind};

use super::super::check::is_live;

/// Returns the blocks of each answer of the conversation, by message and in order.
pub(crate) fn answers(session: &Session) -> Vec<Vec<(At, BlockKind)>> {
    let mut by_id: FxHashMap<Id, usize> = FxHashMap::default();
    let mut out: Vec<Vec<(At, BlockKind)>> = Vec::new();
    for (i, e) in session.numbered() {
        if e.kind != Kind::Assistant || !is_live(session, i) {
            continue;
        }
        let at = match e.message_id.some() {
            Some(id) => *by_id.entry(id).or_insert(out.len()),
            None => out.len(),
        };
        if at == out.len() {
            out.push(Vec::new());
        }
        if e.flags.string_content() {
            // A string stands for a text block; no real block has this number.
            out[at].push((
                At {
                    entry: i,
                    block: BlockIx::MAX,
                },
                BlockKind::Text,
            ));
        }
        out[at].extend(
            e.blocks
                .numbers()
                .map(|b| (At { entry: i, block: b }, session.block(b).kind)),
        );
    }
    out
}
