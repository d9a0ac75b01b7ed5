//! Finds calls without a result that are followed by more of the conversation.

use crate::session::{At, Session};
use crate::transcript::BlockKind;

use super::super::super::check::{Check, Gate, Survey};
use super::super::super::finding::{Finding, Severity};
use super::super::super::version::Versions;

pub(crate) static CHECK: Check = Check {
    name: "unanswered-call",
    family: "calls",
    finds: "calls without a result that are followed by more of the conversation",
    severity: Severity::RefusedByTheApi,
    symptom: "`tool_use` ids were found without `tool_result` blocks immediately after",
    suffers: Versions::None,
    healed_by: "every version that was measured leaves the call out",
    repair: Some("a result is added that reports the interruption"),
    gate: Gate::Judged,
    run,
};

/// Returns calls without a result, if the conversation goes on after them.
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
            made.entry,
            "is a call without a result, as an interrupted call leaves it",
        ));
    }
}
