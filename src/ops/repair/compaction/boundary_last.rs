//! Removes a boundary without a summary at the end, or makes the summary newer than its boundary.

use std::collections::BTreeSet;

use crate::doctor::checks::chain::wrong_leaf::can_lead;
use crate::doctor::checks::compaction::boundary_last::{CHECK, End, end};
use crate::session::Session;
use crate::surgery::{Plan, Reach};
use crate::transcript::EntryIx;

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
            let entries = session.entries();
            let path = session.graph().path().iter().rev().copied();
            let on_path = path.take_while(|&i| entries[i].is_boundary());
            // A boundary before the one that is removed would become the end.
            let ends = session.numbers().rev();
            let ends = ends.filter(|&i| can_lead(entries[i].head()));
            let in_file = ends.take_while(|&i| entries[i].is_boundary());
            let bare: BTreeSet<EntryIx> = on_path.chain(in_file).collect();
            for i in bare {
                drop_entry(session, plan, &entries[i], "boundary without a summary");
            }
        }
        Some(End::SameTime(i)) => {
            let e = session.entry(i);
            let boundary = session.graph().parent(i);
            let time = boundary.map_or(e.time, |b| session.entry(b).time.max(e.time));
            let later = timestamp(time + 1);
            set_field(session, plan, e, "timestamp", later.as_bytes());
            note_edit(session, plan, e, "time");
        }
        None => {}
    }
}
