//! Ends the last line, so that the next record does not land on it.

use crate::doctor::checks::lines::open_end::CHECK;
use crate::document::Ending;
use crate::session::Session;
use crate::surgery::{Action, Plan, Reach};
use crate::transcript::LineState;

use super::super::RepairOptions;
use super::super::pass::Repair;

pub(crate) static REPAIR: Repair = Repair {
    checks: &[&CHECK],
    reach: Reach::Reveals,
    plan,
};

fn plan(session: &Session, _: &RepairOptions, plan: &mut Plan) {
    let last = session.document().lines().last();
    let open = last.is_some_and(|l| l.ending() == Ending::None);
    if let (true, Some(LineState::Entry(entry))) = (open, session.lines().last()) {
        let e = session.entry(*entry);
        // Carrying out any plan ends the last line, so an edit without changes is enough.
        plan.edit_line(e.line, []);
        plan.note(session, e, Action::Edit, "end of the last line", 1, 0, "");
    }
}
