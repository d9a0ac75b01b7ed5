//! Finds messages without content.

use crate::session::Session;
use crate::transcript::{EntryIx, Flags};

use super::super::super::check::is_live;
use super::super::super::check::{Check, Gate, Survey};
use super::super::super::finding::{Finding, Severity};
use super::super::super::version::{Version, Versions};

pub(crate) static CHECK: Check = Check {
    name: "empty-content",
    family: "content",
    finds: "messages without content",
    severity: Severity::RefusedByTheApi,
    symptom: "all messages must have non-empty content",
    suffers: Versions::Before(Version(2, 1, 156)),
    healed_by: "2.1.156 and newer do not send the message",
    repair: Some("the message is removed"),
    gate: Gate::Judged,
    run,
};

/// Returns messages without content.
pub(crate) fn entries(session: &Session) -> Vec<EntryIx> {
    let wordless = session.entries_with(Flags::wordless);
    wordless
        .filter(|(i, e)| e.is_message() && is_live(session, *i))
        .filter(|(_, e)| {
            let raw = || e.content.of(session.text(e));
            if e.flags.string_content() {
                super::blank_text::is_blank(raw())
            } else {
                session.blocks(e).is_empty() && (e.content.is_empty() || raw().starts_with(b"["))
            }
        })
        .map(|(i, _)| i)
        .collect()
}

fn run(survey: &Survey<'_>, findings: &mut Vec<Finding>) {
    findings.extend(entries(survey.session).into_iter().map(|i| {
        survey.at(
            &CHECK,
            i,
            "is an empty message: the API requires that messages have content",
        )
    }));
}
