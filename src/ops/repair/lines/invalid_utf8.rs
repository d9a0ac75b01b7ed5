//! Replaces bytes that are not UTF-8 by U+FFFD, which is what clients read there.

use crate::doctor::checks::lines::invalid_utf8::CHECK;
use crate::json::{Edit, Span};
use crate::session::Session;
use crate::surgery::{Plan, Reach};

use super::super::RepairOptions;
use super::super::edit::note_edit;
use super::super::pass::Repair;

pub(crate) static REPAIR: Repair = Repair {
    checks: &[&CHECK],
    reach: Reach::Reveals,
    plan,
};

fn plan(session: &Session, _: &RepairOptions, plan: &mut Plan) {
    if !session.flags_of_any().not_utf8() {
        return;
    }
    for e in session.entries().iter().filter(|e| e.flags.not_utf8()) {
        plan.edit_line(e.line, replacements(session.text(e)));
        note_edit(session, plan, e, "bytes that are not UTF-8");
    }
}

fn replacements(text: &[u8]) -> Vec<Edit> {
    let mut out = Vec::new();
    let mut at = 0;
    for chunk in text.utf8_chunks() {
        at += chunk.valid().len();
        if !chunk.invalid().is_empty() {
            let span = Span::new(at, at + chunk.invalid().len());
            out.push(Edit::new(span, "\u{fffd}"));
            at += chunk.invalid().len();
        }
    }
    out
}
