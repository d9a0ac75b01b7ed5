//! Finds answers that are only thinking.

use crate::session::{At, Session};

use super::super::super::check::{Check, Gate, Survey};
use super::super::super::finding::{Finding, Severity};
use super::super::super::version::{Version, Versions};

pub(crate) static CHECK: Check = Check {
    name: "lone-thinking",
    family: "thinking",
    finds: "answers that are only thinking",
    severity: Severity::RefusedByTheApi,
    symptom: "the final block in an assistant message cannot be `thinking`",
    suffers: Versions::Before(Version(2, 1, 29)),
    healed_by: "2.1.29 and newer do not send the message",
    repair: Some("the thinking is removed"),
    gate: Gate::ReportOnly,
    run,
};

/// Returns the blocks of answers that are only thinking.
pub(crate) fn blocks(session: &Session) -> Vec<Vec<At>> {
    let answers = super::answers(session).into_iter();
    answers
        .filter(|b| !b.is_empty() && b.iter().all(|(_, kind)| kind.is_thinking()))
        .map(|b| b.into_iter().map(|(at, _)| at).collect())
        .collect()
}

fn run(survey: &Survey<'_>, findings: &mut Vec<Finding>) {
    for message in blocks(survey.session) {
        findings.extend(
            message
                .first()
                .map(|at| survey.at(&CHECK, at.entry, "is an answer with nothing but thinking")),
        );
    }
}
