//! Puts the results of parallel calls in one chain, so that every client shows all of them.

use rustc_hash::FxHashSet;

use crate::doctor::checks::chain::parallel_results::{Group, groups};
use crate::session::{Session, Standing};
use crate::surgery::{Detail, Plan, Refusal, Transform};

use super::edit::{set_parent, uuid};

pub(crate) struct Linearize;

impl Transform for Linearize {
    fn name(&self) -> &'static str {
        "repair"
    }

    fn rearranges(&self) -> bool {
        true
    }

    fn plan(&self, session: &Session, _: Detail) -> Result<Plan, Refusal> {
        let mut plan = Plan::default();
        for group in groups(session) {
            chain(session, &group, &mut plan);
        }
        Ok(plan)
    }
}

/// The answer's lines, then its results with what hangs on them by time, then what followed.
fn chain(session: &Session, group: &Group, plan: &mut Plan) {
    let members = members(session, group);
    let mut rest: Vec<usize> = members
        .iter()
        .copied()
        .filter(|i| !group.lines.contains(i))
        .collect();
    rest.sort_by_key(|&i| (session.entries()[i].time, i));
    let order: Vec<usize> = group.lines.iter().copied().chain(rest).collect();
    for pair in order.windows(2) {
        if session.graph().parent(pair[1]) != Some(pair[0]) {
            set_parent(session, plan, pair[1], uuid(session, pair[0]).as_deref());
        }
    }
    let Some(&last) = order.last() else { return };
    // What the path goes on with follows all of them.
    let next = session
        .graph()
        .path()
        .iter()
        .map(|&i| i as usize)
        .find(|&i| {
            !members.contains(&i)
                && session
                    .graph()
                    .parent(i)
                    .is_some_and(|p| members.contains(&p) && p != last)
        });
    if let Some(next) = next {
        set_parent(session, plan, next, uuid(session, last).as_deref());
    }
}

/// The lines and results, and all that hangs on them and is no message.
fn members(session: &Session, group: &Group) -> FxHashSet<usize> {
    let mut members: FxHashSet<usize> = group.lines.iter().chain(&group.results).copied().collect();
    let mut stack: Vec<usize> = members.iter().copied().collect();
    while let Some(i) = stack.pop() {
        for child in session.graph().children(i) {
            let tail = !session.entries()[child].is_message()
                && matches!(
                    session.graph().place(child),
                    Standing::Path(_) | Standing::Beside(_)
                );
            if tail && members.insert(child) {
                stack.push(child);
            }
        }
    }
    members
}
