//! Finds results whose call is missing.

use crate::session::{At, Session};
use crate::transcript::BlockKind;

use super::super::super::check::{Check, Gate, Survey};
use super::super::super::finding::{Finding, Severity};
use super::super::super::version::{Version, Versions};

pub(crate) static CHECK: Check = Check {
    name: "stray-result",
    family: "calls",
    finds: "results whose call is missing",
    severity: Severity::RefusedByTheApi,
    symptom: "unexpected `tool_use_id` found in `tool_result` blocks",
    suffers: Versions::Before(Version(2, 1, 45)),
    healed_by: "2.1.45 and newer do not send the result",
    repair: Some("the result is removed"),
    gate: Gate::Judged,
    run,
};

/// Returns results without a call.
pub(crate) fn results(session: &Session) -> Vec<At> {
    let alone = super::shown(session)
        .filter(|c| c.uses.is_empty())
        .flat_map(|c| c.results);
    alone
        .filter(|r| session.block(r.block).kind == BlockKind::ToolResult)
        .collect()
}

fn run(survey: &Survey<'_>, findings: &mut Vec<Finding>) {
    for result in results(survey.session) {
        findings.push(survey.at(
            &CHECK,
            result.entry,
            "is a result without its call: the API answers \"unexpected `tool_use_id`\"",
        ));
    }
}
