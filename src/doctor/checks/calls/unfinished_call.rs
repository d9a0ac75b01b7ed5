//! Finds calls at the end that have no result.

use crate::session::{At, Session};

use super::super::super::check::{Check, Gate, Survey};
use super::super::super::finding::{Finding, Severity};
use super::super::super::version::Versions;

pub(crate) static CHECK: Check = Check {
    name: "unfinished-call",
    family: "calls",
    finds: "calls at the end that have no result",
    severity: Severity::Harmless,
    symptom: "the session was closed while a tool ran",
    suffers: Versions::None,
    healed_by: "older versions leave the call out, 2.1.325 adds a result",
    repair: Some("the call is removed"),
    gate: Gate::ReportOnly,
    run,
};

/// Returns calls at the end, those of server tools included, that have no result.
pub(crate) fn calls(session: &Session) -> Vec<At> {
    let open = super::shown(session)
        .filter(|c| c.results.is_empty())
        .filter_map(|c| c.uses.first().copied());
    open.filter(|u| {
        session.block(u.block).kind.is_call() && super::is_last_message(session, u.entry)
    })
    .collect()
}

fn run(survey: &Survey<'_>, findings: &mut Vec<Finding>) {
    for made in calls(survey.session) {
        findings.push(survey.at(
            &CHECK,
            made.entry,
            "is a call without a result: the session was closed while a tool was running",
        ));
    }
}
