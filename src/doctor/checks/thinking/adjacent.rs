//! Two thinking blocks with nothing between them. Models whose thinking is not shown do that; others do not.

use crate::session::{At, Session};
use crate::transcript::BlockKind;

use super::super::super::check::{Check, Gate, Survey};
use super::super::super::finding::{Finding, Severity};
use super::super::super::version::Versions;

pub(crate) static CHECK: Check = Check {
    name: "adjacent-thinking",
    family: "thinking",
    severity: Severity::RefusedByTheApi,
    symptom: "`thinking` blocks in the latest assistant message cannot be modified",
    suffers: Versions::All,
    healed_by: "",
    repair: Some("the thinking of that message goes"),
    gate: Gate::ReportOnly,
    run,
};

/// The thinking of answers in which two thinking blocks stand together: something between them is gone.
pub(crate) fn blocks(session: &Session) -> Vec<Vec<At>> {
    let answers = super::answers(session).into_iter();
    answers
        .filter(|blocks| {
            let pairs = blocks.windows(2);
            let mut pairs =
                pairs.filter(|w| w.iter().all(|(_, kind)| *kind == BlockKind::Thinking));
            pairs.any(|w| {
                w.iter()
                    .all(|(at, _)| session.block(at.block).has_readable_thinking())
            })
        })
        .map(|blocks| {
            blocks
                .into_iter()
                .filter(|(_, kind)| kind.is_thinking())
                .map(|(at, _)| at)
                .collect()
        })
        .collect()
}

fn run(survey: &Survey<'_>, findings: &mut Vec<Finding>) {
    for message in blocks(survey.session) {
        findings.extend(message.first().map(|at| {
            survey.at(
                &CHECK,
                at.entry as usize,
                "two thinking blocks stand together: what was between them is gone",
            )
        }));
    }
}
