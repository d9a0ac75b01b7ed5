//! Replaces half surrogate pairs by U+FFFD and removes NULs.

use crate::doctor::checks::content::escapes::{Bad, bad_escapes};
use crate::doctor::checks::content::{lone_surrogate, nul_in_text};
use crate::json::{Edit, Span};
use crate::session::{Session, Standing};
use crate::surgery::{Action, Plan, Reach};

use super::super::RepairOptions;
use super::super::pass::Repair;

pub(crate) static REPAIR: Repair = Repair {
    checks: &[&lone_surrogate::CHECK, &nul_in_text::CHECK],
    reach: Reach::Narrows,
    plan,
};

fn plan(session: &Session, options: &RepairOptions, plan: &mut Plan) {
    if !session.flags_of_any().numbered_characters() {
        return;
    }
    let (surrogates, nuls) = (
        options.wants(&lone_surrogate::CHECK),
        options.wants(&nul_in_text::CHECK),
    );
    for (i, e) in session.numbered() {
        let live = matches!(
            session.graph().place(i),
            Standing::Path(_) | Standing::Beside(_)
        );
        if !live || !e.is_message() || !e.flags.numbered_characters() {
            continue;
        }
        let mut edits = Vec::new();
        for (at, bad) in bad_escapes(e.content.of(session.text(e))) {
            let span = Span::new(at, at + 6).shift(e.content.start);
            match bad {
                Bad::Surrogate if surrogates => edits.push(Edit::new(span, "\\ufffd")),
                Bad::Nul if nuls => edits.push(Edit::new(span, "")),
                _ => {}
            }
        }
        if !edits.is_empty() {
            let grown: i64 = edits.iter().map(|e| e.with.len() as i64 - 6).sum();
            let what = "characters that the API refuses";
            plan.note(session, e, Action::Edit, what, grown, 0, "");
            plan.edit_line(e.line, edits);
        }
    }
}
