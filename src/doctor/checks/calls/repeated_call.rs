//! Two calls with one id.

use crate::session::{At, Session};

use super::super::super::check::{Check, Gate, Survey};
use super::super::super::finding::{Finding, Severity};
use super::super::super::version::{Version, Versions};

pub(crate) static CHECK: Check = Check {
    name: "repeated-call",
    family: "calls",
    severity: Severity::RefusedByTheApi,
    seen: "`tool_use` ids must be unique",
    suffers: Versions::Before(Version(2, 1, 156)),
    heals: "2.1.156 and newer replace the second pair by a note",
    mend: Some("the second call and its result get an id of their own"),
    gate: Gate::Judged,
    run,
};

/// Each further call with an id that was used, with the result that follows it.
pub(crate) fn calls(session: &Session) -> Vec<(At, Option<At>)> {
    let mut out = Vec::new();
    for call in super::shown(session).filter(|c| c.uses.len() > 1) {
        for (n, &again) in call.uses.iter().enumerate().skip(1) {
            // Results are told apart by their order; one that is too few belongs to the first call.
            let result = (call.results.len() == call.uses.len()).then(|| call.results[n]);
            out.push((again, result));
        }
    }
    out
}

fn run(survey: &Survey<'_>, findings: &mut Vec<Finding>) {
    for (again, _) in calls(survey.session) {
        findings.push(survey.at(
            &CHECK,
            again.entry as usize,
            "`tool_use` ids must be unique",
        ));
    }
}
