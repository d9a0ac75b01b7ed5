//! Which subagents a session has launched.

use rustc_hash::FxHashSet;

use crate::json::{decode, lookup};
use crate::session::Session;
use crate::surgery::Plan;
use crate::transcript::{EntryIx, Flags};

/// The ids of subagents whose results are in entries that are `chosen`.
pub(crate) fn launched(session: &Session, chosen: impl Fn(EntryIx) -> bool) -> Vec<String> {
    session
        .entries_with(Flags::agent)
        .filter(|(i, _)| chosen(*i))
        .filter_map(|(_, e)| {
            let result = e.result.of(session.text(e));
            let raw = lookup(result, &["agentId"])?.of(result);
            raw.starts_with(b"\"").then(|| decode(raw).into_owned())
        })
        .collect()
}

/// Subagents that only entries which go have launched.
pub(crate) fn agents_gone(session: &Session, plan: &Plan) -> Vec<String> {
    let goes = |i: EntryIx| plan.drops(session.entry(i).line);
    let mut gone = launched(session, goes);
    if gone.is_empty() {
        return gone;
    }
    let kept: FxHashSet<String> = launched(session, |i| !goes(i)).into_iter().collect();
    gone.retain(|a| !kept.contains(a));
    gone.sort();
    gone.dedup();
    gone
}
