//! Removes a boundary without a summary at the end, or makes the summary newer than its boundary.

use crate::doctor::checks::compaction::boundary_last::{CHECK, End, end};
use crate::session::Session;
use crate::surgery::{Plan, Reach};

use super::super::RepairOptions;
use super::super::edit::{drop_entry, note_edit, set_field, timestamp};
use super::super::pass::Repair;

pub(crate) static REPAIR: Repair = Repair {
    checks: &[&CHECK],
    reach: Reach::Reveals,
    plan,
};

fn plan(session: &Session, _: &RepairOptions, plan: &mut Plan) {
    match end(session) {
        Some(End::Bare(_)) => {
            let path = session.graph().path().iter().rev();
            let tail = path.map(|&i| &session.entries()[i as usize]);
            for e in tail.take_while(|e| e.is_boundary()) {
                drop_entry(session, plan, e, "boundary without a summary");
            }
        }
        Some(End::SameTime(i)) => {
            let e = &session.entries()[i];
            let boundary = session.graph().parent(i);
            let time = boundary.map_or(e.time, |b| session.entries()[b].time.max(e.time));
            let later = timestamp(time + 1);
            set_field(session, plan, e, "timestamp", later.as_bytes());
            note_edit(session, plan, e, "time");
        }
        None => {}
    }
}
