//! A call at the end that was never answered.

use crate::session::{At, Session};

use super::super::super::check::{Check, Gate, Survey};
use super::super::super::finding::{Finding, Severity};
use super::super::super::version::Versions;

pub(crate) static CHECK: Check = Check {
    name: "unfinished-call",
    family: "calls",
    severity: Severity::Harmless,
    symptom: "the session was closed while a tool ran",
    suffers: Versions::None,
    healed_by: "older clients leave the call out, 2.1.325 makes up a result",
    repair: Some("the call goes"),
    gate: Gate::ReportOnly,
    run,
};

/// Calls at the end that nobody answered, and calls of the server's tools without a result anywhere.
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
            made.entry as usize,
            "the session ends before this call's result",
        ));
    }
}
