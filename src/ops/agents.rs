//! Which subagents a session has launched.

use rustc_hash::FxHashSet;

use crate::jsonl::{decode, lookup};
use crate::rewrite::Plan;
use crate::session::Session;

/// The ids of subagents whose results are in entries that `chosen` names by index.
pub(super) fn launched<'a>(
    session: &'a Session,
    chosen: impl Fn(usize) -> bool + 'a,
) -> impl Iterator<Item = String> + 'a {
    let entries = session.entries().iter().enumerate();
    entries
        .filter(move |(i, e)| e.flags.tool_use_result() && chosen(*i))
        .filter_map(|(_, e)| {
            let result = e.result.of(session.text(e));
            let raw = lookup(result, &["agentId"])?.of(result);
            raw.starts_with(b"\"").then(|| decode(raw).into_owned())
        })
}

/// Subagents that only entries which go have launched.
pub(super) fn agents_gone(session: &Session, plan: &Plan) -> Vec<String> {
    let goes = |i: usize| plan.drops(session.entries()[i].line);
    let kept: FxHashSet<String> = launched(session, |i| !goes(i)).collect();
    let mut gone: Vec<String> = launched(session, goes)
        .filter(|a| !kept.contains(a))
        .collect();
    gone.sort();
    gone.dedup();
    gone
}
