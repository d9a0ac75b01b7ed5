//! Wraps the content of an answer that is a string in a text block.

use crate::doctor::checks::content::string_answer::{CHECK, entries};
use crate::json::{Edit, Span};
use crate::session::Session;
use crate::surgery::{Plan, Reach};

use super::super::RepairOptions;
use super::super::edit::note_edit;
use super::super::pass::Repair;

pub(crate) static REPAIR: Repair = Repair {
    checks: &[&CHECK],
    reach: Reach::Narrows,
    plan,
};

fn plan(session: &Session, _: &RepairOptions, plan: &mut Plan) {
    for i in entries(session) {
        let e = session.entry(i);
        let (start, end) = (e.content.start, e.content.end);
        let open = Edit::new(Span { start, end: start }, r#"[{"type":"text","text":"#);
        let close = Edit::new(Span { start: end, end }, "}]");
        plan.edit_line(e.line, [open, close]);
        note_edit(session, plan, e, "answer wrapped");
    }
}
