//! Gives a boundary the metadata that it lacks.

use crate::doctor::checks::compaction::no_metadata::{CHECK, entries};
use crate::session::Session;
use crate::surgery::{Plan, Reach};

use super::super::RepairOptions;
use super::super::edit::{note_edit, set_field};
use super::super::pass::Repair;
use super::METADATA;

pub(crate) static REPAIR: Repair = Repair {
    checks: &[&CHECK],
    reach: Reach::Reveals,
    plan,
};

fn plan(session: &Session, _: &RepairOptions, plan: &mut Plan) {
    for i in entries(session) {
        let e = session.entry(i);
        set_field(session, plan, e, "compactMetadata", METADATA.as_bytes());
        note_edit(session, plan, e, "compaction metadata");
    }
}
