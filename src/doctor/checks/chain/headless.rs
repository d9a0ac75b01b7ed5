//! Finds a conversation that begins with an answer.

use crate::session::Session;
use crate::transcript::{EntryIx, Kind};

use super::super::super::check::{Check, Gate, Survey};
use super::super::super::finding::{Finding, Severity};
use super::super::super::version::Versions;

pub(crate) static CHECK: Check = Check {
    name: "headless",
    family: "chain",
    finds: "a conversation that begins with an answer",
    severity: Severity::RefusedByTheApi,
    symptom: "messages: first message must use the \"user\" role",
    suffers: Versions::All,
    healed_by: "2.1.45 adds a reminder in front",
    repair: Some("a note is added as the first user message"),
    gate: Gate::Judged,
    run,
};

/// Returns the answer that would be the first message.
pub(crate) fn entry(session: &Session) -> Option<EntryIx> {
    let path = session.graph().path();
    let from = session.graph().window_start();
    let first = path[from as usize..]
        .iter()
        .copied()
        .find(|&i| session.entry(i).is_message())?;
    let e = session.entry(first);
    (e.kind == Kind::Assistant && !e.flags.api_error()).then_some(first)
}

fn run(survey: &Survey<'_>, findings: &mut Vec<Finding>) {
    if let Some(i) = entry(survey.session) {
        findings.push(survey.at(
            &CHECK,
            i,
            "is an answer without a prompt before it: the API requires that a user message comes first",
        ));
    }
}
