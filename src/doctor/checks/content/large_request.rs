//! Finds a conversation that is larger than a request may be.

use super::super::super::check::{Check, Gate, Survey, whole};
use super::super::super::finding::{Finding, Remedy, Severity};
use super::super::super::version::Versions;

pub(crate) static CHECK: Check = Check {
    name: "large-request",
    family: "content",
    finds: "a conversation that is larger than a request may be",
    severity: Severity::RefusedByTheApi,
    symptom: "Request too large (max 32MB)",
    suffers: Versions::All,
    healed_by: "",
    repair: None,
    gate: Gate::ReportOnly,
    run,
};

/// The largest request that the API accepts.
const MOST: usize = 32 << 20;

fn run(survey: &Survey<'_>, findings: &mut Vec<Finding>) {
    let session = survey.session;
    let all = session.numbered();
    let size: usize = all
        .filter(|(i, e)| e.is_message() && session.graph().is_shown(*i))
        .map(|(_, e)| e.content.len())
        .sum();
    if size > MOST {
        findings.push(
            whole(
                &CHECK,
                format!(
                    "the messages are {} MB, and the API accepts at most 32 MB",
                    size >> 20
                ),
            )
            .with(Remedy::Shrink),
        );
    }
}
