//! Finds results that come before their call in the conversation. In the file they may.

use crate::session::{Session, Standing};
use crate::transcript::{BlockKind, EntryIx};

use super::super::super::check::{Check, Gate, Survey};
use super::super::super::finding::{Finding, Severity};
use super::super::super::version::Versions;

pub(crate) static CHECK: Check = Check {
    name: "result-before-call",
    family: "calls",
    finds: "results that come before their call in the conversation",
    severity: Severity::RefusedByTheApi,
    symptom: "unexpected `tool_use_id` found in `tool_result` blocks",
    suffers: Versions::All,
    healed_by: "",
    repair: Some("the result is moved to after its call"),
    gate: Gate::Judged,
    run,
};

/// Returns the entries of results that come before their call on the live path, with the call's entry.
pub(crate) fn pairs(session: &Session) -> Vec<(EntryIx, EntryIx)> {
    let mut out = Vec::new();
    for call in super::shown(session) {
        let ([made], [result]) = (&call.uses[..], &call.results[..]) else {
            continue;
        };
        let (a, b) = (
            session.graph().place(made.entry),
            session.graph().place(result.entry),
        );
        if let (Standing::Path(made_at), Standing::Path(result_at)) = (a, b)
            && result_at < made_at
            && session.block(result.block).kind == BlockKind::ToolResult
        {
            out.push((result.entry, made.entry));
        }
    }
    out
}

fn run(survey: &Survey<'_>, findings: &mut Vec<Finding>) {
    for (result, _) in pairs(survey.session) {
        findings.push(survey.at(
            &CHECK,
            result,
            "is a result that comes before its call: the API answers \"unexpected `tool_use_id`\"",
        ));
    }
}
