//! Finds two calls with one id.

use crate::session::{At, Session};

use super::super::super::check::{Check, Gate, Survey};
use super::super::super::finding::{Finding, Severity};
use super::super::super::version::{Version, Versions};
use super::LiveCall;

pub(crate) static CHECK: Check = Check {
    name: "repeated-call",
    family: "calls",
    finds: "two calls with one id",
    severity: Severity::RefusedByTheApi,
    symptom: "`tool_use` ids must be unique",
    suffers: Versions::Before(Version(2, 1, 156)),
    healed_by: "2.1.156 and newer replace the second call and its result by a note",
    repair: Some("the second call and its result get a new id"),
    gate: Gate::Judged,
    run,
};

/// Returns each further call with an id that was used before, with its results.
pub(crate) fn calls(session: &Session) -> Vec<(At, Vec<At>)> {
    let mut out = Vec::new();
    for call in super::shown(session).filter(|c| c.uses.len() > 1) {
        let answers = call.answers(session);
        let Some(&(first, _)) = answers.first() else {
            continue;
        };
        let others = answers.into_iter().skip(1);
        out.extend(others.filter(|&(made, _)| !LiveCall::is_copy(session, first, made)));
    }
    out
}

fn run(survey: &Survey<'_>, findings: &mut Vec<Finding>) {
    for (again, _) in calls(survey.session) {
        findings.push(survey.at(
            &CHECK,
            again.entry,
            "uses the id of an earlier call: the API requires that `tool_use` ids are unique",
        ));
    }
}
