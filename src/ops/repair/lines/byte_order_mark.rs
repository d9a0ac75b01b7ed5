//! Removes a byte order mark in front of a record.

use crate::doctor::checks::lines::byte_order_mark::{CHECK, MARK};
use crate::json::{Edit, Span};
use crate::session::Session;
use crate::surgery::{Action, Plan, Reach};

use super::super::RepairOptions;
use super::super::pass::Repair;

pub(crate) static REPAIR: Repair = Repair {
    checks: &[&CHECK],
    reach: Reach::Reveals,
    plan,
};

fn plan(session: &Session, _: &RepairOptions, plan: &mut Plan) {
    for e in session.entries() {
        if session.text(e).starts_with(MARK) {
            plan.edit_line(e.line, [Edit::new(Span::new(0, MARK.len()), "")]);
            let grown = -(MARK.len() as i64);
            plan.note(session, e, Action::Edit, "byte order mark", grown, 0, "");
        }
    }
}
