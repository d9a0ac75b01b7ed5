//! Finds more than one result for a call.

use crate::session::{At, Session};

use super::super::super::check::{Check, Gate, Survey};
use super::super::super::finding::{Finding, Severity};
use super::super::super::version::{Version, Versions};

pub(crate) static CHECK: Check = Check {
    name: "repeated-result",
    family: "calls",
    finds: "more than one result for a call",
    severity: Severity::RefusedByTheApi,
    symptom: "each tool_use must have a single result",
    suffers: Versions::Before(Version(2, 1, 156)),
    healed_by: "2.1.156 and newer send only the first",
    repair: Some("the first result is kept, the others are removed"),
    gate: Gate::Judged,
    run,
};

/// Returns the results of a call after its first.
pub(crate) fn results(session: &Session) -> Vec<At> {
    let several = super::shown(session).filter(|c| c.results.len() > c.uses.len().max(1));
    several
        .flat_map(|call| {
            if call.uses.is_empty() {
                return call.results.into_iter().skip(1).collect();
            }
            let answers = call.answers(session).into_iter();
            let extra = answers.flat_map(|(_, results)| results.into_iter().skip(1));
            extra.collect::<Vec<_>>()
        })
        .collect()
}

fn run(survey: &Survey<'_>, findings: &mut Vec<Finding>) {
    for again in results(survey.session) {
        findings.push(survey.at(
            &CHECK,
            again.entry,
            "is a second result of one call: the API requires a single result for each tool_use",
        ));
    }
}
