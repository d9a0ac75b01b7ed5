//! Replaces references to tools by a note.

use crate::doctor::checks::calls::tool_reference::{CHECK, references};
use crate::session::Session;
use crate::surgery::{Plan, Reach};

use super::super::RepairOptions;
use super::super::content::put_note;
use super::super::pass::Repair;

pub(crate) static REPAIR: Repair = Repair {
    checks: &[&CHECK],
    reach: Reach::Narrows,
    plan,
};

fn plan(session: &Session, _: &RepairOptions, plan: &mut Plan) {
    for reference in references(session) {
        let note = format!("[Reference to the tool {} removed.]", reference.tool);
        let (entry, block) = (reference.entry, reference.block);
        put_note(session, plan, entry, block, "reference to a tool", &note);
    }
}
