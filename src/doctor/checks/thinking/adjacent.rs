//! Finds two thinking blocks with nothing between them. Only models that hide their thinking write that.

use crate::session::{At, Session};
use crate::transcript::BlockKind;

use super::super::super::check::{Check, Gate, Survey};
use super::super::super::finding::{Finding, Severity};
use super::super::super::version::Versions;

pub(crate) static CHECK: Check = Check {
    name: "adjacent-thinking",
    family: "thinking",
    finds: "two thinking blocks with nothing between them",
    severity: Severity::RefusedByTheApi,
    symptom: "`thinking` blocks in the latest assistant message cannot be modified",
    suffers: Versions::All,
    healed_by: "",
    repair: Some("the thinking of that message is removed"),
    gate: Gate::ReportOnly,
    run,
};

/// Returns the thinking of answers with two adjacent thinking blocks, between which something is missing.
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
                at.entry,
                "has two adjacent thinking blocks: what was between them is missing, and the API refuses changed thinking",
            )
        }));
    }
}
