//! Gives each call an id of its own.

use rustc_hash::FxHashSet;

use crate::doctor::checks::calls::repeated_call::{CHECK, calls};
use crate::json::{Edit, encode, lookup};
use crate::session::{At, Session};
use crate::surgery::{Plan, Reach};
use crate::transcript::Id;

use super::super::RepairOptions;
use super::super::edit::note_edit;
use super::super::pass::Repair;
use super::tool_id;

pub(crate) static REPAIR: Repair = Repair {
    checks: &[&CHECK],
    // A result is shown after its own call, which can be a later one than before.
    reach: Reach::Rearranges,
    plan,
};

fn plan(session: &Session, _: &RepairOptions, plan: &mut Plan) {
    let mut taken: FxHashSet<String> = FxHashSet::default();
    for (again, results) in calls(session) {
        let Some(old) = tool_id(session, again, "id") else {
            continue;
        };
        let unused = |id: &String| {
            session.calls().find(Id::of(id.as_bytes())).is_none() && !taken.contains(id)
        };
        let mut numbered = (2..u32::MAX).map(|n| format!("{old}_{n}"));
        let Some(fresh) = numbered.find(unused) else {
            continue;
        };
        rename(session, plan, again, "id", &fresh);
        for result in results {
            rename(session, plan, result, "tool_use_id", &fresh);
        }
        taken.insert(fresh);
    }
}

fn rename(session: &Session, plan: &mut Plan, at: At, key: &str, fresh: &str) {
    let e = session.entry(at.entry);
    let block = session.block(at.block).span;
    if let Some(span) = lookup(block.of(session.text(e)), &[key]) {
        plan.edit_line(e.line, [Edit::new(span.shift(block.start), encode(fresh))]);
        note_edit(session, plan, e, "id of a call");
    }
}
