//! Puts the results of parallel calls in one chain, which every client shows whole.

use rustc_hash::FxHashSet;

use crate::doctor::checks::chain::parallel_results::{CHECK, Group, groups};
use crate::session::{Session, Standing};
use crate::surgery::{Plan, Reach};
use crate::transcript::EntryIx;

use super::super::RepairOptions;
use super::super::edit::uuid;
use super::super::pass::Repair;

pub(crate) static REPAIR: Repair = Repair {
    checks: &[&CHECK],
    reach: Reach::Rearranges,
    plan,
};

fn plan(session: &Session, _: &RepairOptions, plan: &mut Plan) {
    for group in groups(session) {
        chain(session, &group, plan);
    }
}

/// Chains the lines of an answer, then its results with what hangs on them by time, then what follows.
///
/// The first member keeps its parent. It comes first on the live path, so none of its ancestors is a
/// member and the chain cannot close into a cycle.
fn chain(session: &Session, group: &Group, plan: &mut Plan) {
    let members = members(session, group);
    let on_path = |i: EntryIx| match session.graph().place(i) {
        Standing::Path(p) => Some(p),
        _ => None,
    };
    let mut lines = group.lines.clone();
    lines.sort_by_key(|&i| (on_path(i).unwrap_or(u32::MAX), i));
    let mut rest: Vec<EntryIx> = members
        .iter()
        .copied()
        .filter(|i| !group.lines.contains(i))
        .collect();
    rest.sort_by_key(|&i| (session.entry(i).time, i));
    let mut order: Vec<EntryIx> = lines.into_iter().chain(rest).collect();
    let positions: Vec<u32> = order.iter().filter_map(|&i| on_path(i)).collect();
    let (Some(&from), Some(&to)) = (positions.iter().min(), positions.iter().max()) else {
        return;
    };
    let path = session.graph().path();
    // What comes before a message of someone else, such as the report of an API error, stays where it is.
    let others = (from..=to)
        .rev()
        .find(|&p| !members.contains(&path[p as usize]));
    let from = others.map_or(from, |p| p + 1);
    order.retain(|&i| on_path(i).is_none_or(|p| p >= from));
    let (Some(&first), Some(&last)) = (order.first(), order.last()) else {
        return;
    };
    // A result before that message would be cut off from its call.
    let is_result_cut = |i: &EntryIx| on_path(*i).is_some_and(|p| p < from);
    if on_path(first) != Some(from) || group.results.iter().any(is_result_cut) {
        return;
    }
    for pair in order.windows(2) {
        if session.graph().parent(pair[1]) != Some(pair[0]) {
            plan.set_parent(pair[1], uuid(session, pair[0]).as_deref());
        }
    }
    if let Some(&next) = path.get(to as usize + 1)
        && session.graph().parent(next) != Some(last)
    {
        plan.set_parent(next, uuid(session, last).as_deref());
    }
}

/// Returns the lines and results of a group with everything on them that is not a message.
fn members(session: &Session, group: &Group) -> FxHashSet<EntryIx> {
    let mut members: FxHashSet<EntryIx> =
        group.lines.iter().chain(&group.results).copied().collect();
    let mut stack: Vec<EntryIx> = members.iter().copied().collect();
    while let Some(i) = stack.pop() {
        for child in session.graph().children(i) {
            let live = matches!(
                session.graph().place(child),
                Standing::Path(_) | Standing::Beside(_)
            );
            if live && !session.entry(child).is_message() && members.insert(child) {
                stack.push(child);
            }
        }
    }
    members
}
