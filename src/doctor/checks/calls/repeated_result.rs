//! Two results for one call.

use crate::session::{At, Session};

use super::super::super::check::{Check, Gate, Survey};
use super::super::super::finding::{Finding, Severity};
use super::super::super::version::{Version, Versions};

pub(crate) static CHECK: Check = Check {
    name: "repeated-result",
    family: "calls",
    severity: Severity::RefusedByTheApi,
    seen: "each tool_use must have a single result",
    suffers: Versions::Before(Version(2, 1, 156)),
    heals: "2.1.156 and newer keep the first",
    mend: Some("the first stays, as newer clients have it"),
    gate: Gate::Judged,
    run,
};

/// Results beyond one a call.
pub(crate) fn results(session: &Session) -> Vec<At> {
    super::shown(session)
        .flat_map(|c| {
            c.results
                .into_iter()
                .skip(c.uses.len().max(1))
                .collect::<Vec<_>>()
        })
        .collect()
}

fn run(survey: &Survey<'_>, findings: &mut Vec<Finding>) {
    for again in results(survey.session) {
        findings.push(survey.at(
            &CHECK,
            again.entry as usize,
            "each tool_use must have a single result",
        ));
    }
}
