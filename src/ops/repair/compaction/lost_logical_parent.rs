//! Makes a boundary name the entry before it, if the entry that it names is gone.

use crate::doctor::checks::compaction::lost_logical_parent::{CHECK, boundaries};
use crate::json::encode;
use crate::session::Session;
use crate::surgery::{Plan, Reach};

use super::super::RepairOptions;
use super::super::edit::{note_edit, set_field, uuid};
use super::super::pass::Repair;

pub(crate) static REPAIR: Repair = Repair {
    checks: &[&CHECK],
    reach: Reach::Reveals,
    plan,
};

fn plan(session: &Session, _: &RepairOptions, plan: &mut Plan) {
    for (i, before) in boundaries(session) {
        if let Some(before) = before.and_then(|b| uuid(session, b)) {
            let e = session.entry(i);
            let value = encode(&before);
            set_field(session, plan, e, "logicalParentUuid", value.as_bytes());
            note_edit(session, plan, e, "entry before a compaction");
        }
    }
}
