//! Removes answers that are reports of an API error.

use crate::doctor::checks::content::replayed_error::{CHECK, entries};
use crate::session::Session;
use crate::surgery::{Plan, Reach};

use super::super::RepairOptions;
use super::super::edit::drop_entry;
use super::super::pass::Repair;

pub(crate) static REPAIR: Repair = Repair {
    checks: &[&CHECK],
    reach: Reach::Narrows,
    plan,
};

fn plan(session: &Session, _: &RepairOptions, plan: &mut Plan) {
    for i in entries(session) {
        drop_entry(session, plan, session.entry(i), "API error");
    }
}
