//! Moves a result that comes before its call to after the call.

use rustc_hash::FxHashSet;

use crate::doctor::checks::calls::result_before_call::{CHECK, pairs};
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
    let path = session.graph().path();
    let next = |i: EntryIx| match session.graph().place(i) {
        Standing::Path(p) => path.get(p as usize + 1).copied(),
        _ => None,
    };
    let mut touched: FxHashSet<EntryIx> = FxHashSet::default();
    for (result, call) in pairs(session) {
        let (Some(follower), after) = (next(result), next(call)) else {
            continue;
        };
        let changed = [Some(result), Some(follower), after];
        if changed.iter().flatten().any(|i| touched.contains(i)) {
            continue;
        }
        touched.extend(changed.iter().flatten());
        let parent = session
            .graph()
            .parent(result)
            .and_then(|p| uuid(session, p));
        plan.set_parent(follower, parent.as_deref());
        plan.set_parent(result, uuid(session, call).as_deref());
        if let Some(after) = after {
            plan.set_parent(after, uuid(session, result).as_deref());
        }
    }
}
