//! A call without a result, with more of the conversation behind it.

use crate::session::{At, Session};
use crate::transcript::BlockKind;

use super::super::super::check::{Check, Gate, Survey};
use super::super::super::finding::{Finding, Severity};
use super::super::super::version::Versions;

pub(crate) static CHECK: Check = Check {
    name: "unanswered-call",
    family: "calls",
    severity: Severity::RefusedByTheApi,
    symptom: "`tool_use` ids were found without `tool_result` blocks immediately after",
    suffers: Versions::All,
    healed_by: "all that were measured leave the call out",
    repair: Some("a result is made up that says the call was interrupted"),
    gate: Gate::Judged,
    run,
};

/// Calls that nobody answered although the conversation goes on.
pub(crate) fn calls(session: &Session) -> Vec<At> {
    let open = super::shown(session)
        .filter(|c| c.results.is_empty())
        .filter_map(|c| c.uses.first().copied());
    open.filter(|u| {
        session.block(u.block).kind == BlockKind::ToolUse
            && !super::is_last_message(session, u.entry)
    })
    .collect()
}

fn run(survey: &Survey<'_>, findings: &mut Vec<Finding>) {
    for made in calls(survey.session) {
        findings.push(survey.at(
            &CHECK,
            made.entry as usize,
            "`tool_use` ids were found without `tool_result` blocks immediately after",
        ));
    }
}
