//! Finds answers whose content is a string.

use crate::session::Session;
use crate::transcript::{EntryIx, Flags};

use super::super::super::check::{Check, Gate, Survey};
use super::super::super::finding::{Finding, Severity};
use super::super::super::version::{Version, Versions};

pub(crate) static CHECK: Check = Check {
    name: "string-answer",
    family: "content",
    finds: "answers whose content is a string",
    severity: Severity::StopsResume,
    symptom: "the session does not open: content.map is not a function",
    suffers: Versions::Before(Version(2, 1, 325)),
    healed_by: "2.1.325 reads it as text",
    repair: Some("the text becomes a block"),
    gate: Gate::Judged,
    run,
};

/// Returns answers whose content is a string.
pub(crate) fn entries(session: &Session) -> impl Iterator<Item = EntryIx> + '_ {
    let answers = session.entries_with(Flags::string_answer);
    answers.map(|(i, _)| i)
}

fn run(survey: &Survey<'_>, findings: &mut Vec<Finding>) {
    findings.extend(entries(survey.session).map(|i| {
        survey.at(
            &CHECK,
            i,
            "is an answer whose content is a string: Claude Code before 2.1.325 does not open the session",
        )
    }));
}
