//! Finds an answer or a result that begins the conversation although more comes before it in the file.

use crate::session::Session;
use crate::transcript::{EntryIx, Kind, PromptKind};

use super::super::super::check::{Check, Gate, Survey};
use super::super::super::finding::{Finding, Severity};
use super::super::super::version::Versions;

pub(crate) static CHECK: Check = Check {
    name: "cut-root",
    family: "chain",
    finds: "an answer or a result that begins the conversation although more comes before it in the file",
    severity: Severity::LosesHistory,
    symptom: "everything before a message is gone after resume",
    suffers: Versions::All,
    healed_by: "",
    repair: Some("it is attached to the entry before it, if the history shows which"),
    gate: Gate::Judged,
    run,
};

/// Returns the first entry of the live path if it has no parent, cannot begin a conversation, and other
/// messages come before it in the file. A prompt can begin one: people rewind to before their first.
pub(crate) fn entry(session: &Session) -> Option<EntryIx> {
    let first = *session.graph().path().first()?;
    let e = session.entry(first);
    let begins = match e.kind {
        Kind::Assistant => false,
        Kind::User => e.prompt != PromptKind::None || e.flags.meta(),
        _ => true,
    };
    let earlier = session.entries()[..first.index()]
        .iter()
        .any(|e| e.is_chained() && e.is_message() && !e.flags.sidechain());
    (!begins && !e.parent.is_some() && earlier).then_some(first)
}

fn run(survey: &Survey<'_>, findings: &mut Vec<Finding>) {
    if let Some(i) = entry(survey.session) {
        findings.push(survey.at(
            &CHECK,
            i,
            "has no parent, so Claude Code shows nothing of what came before",
        ));
    }
}
