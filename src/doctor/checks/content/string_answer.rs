//! An answer whose content is a string.

use crate::session::Session;

use super::super::super::check::{Check, Gate, Survey};
use super::super::super::finding::{Finding, Severity};
use super::super::super::version::{Version, Versions};

pub(crate) static CHECK: Check = Check {
    name: "string-answer",
    family: "content",
    severity: Severity::StopsResume,
    symptom: "the session does not open: content.map is not a function",
    suffers: Versions::Before(Version(2, 1, 325)),
    healed_by: "2.1.325 wraps it",
    repair: Some("the text becomes a block"),
    gate: Gate::Judged,
    run,
};

/// Answers that are strings.
pub(crate) fn entries(session: &Session) -> impl Iterator<Item = usize> + '_ {
    let some = session.flags_of_any().string_answer();
    let all = if some { session.entries() } else { &[] };
    let all = all.iter().enumerate();
    all.filter(|(_, e)| e.flags.string_answer()).map(|(i, _)| i)
}

fn run(survey: &Survey<'_>, findings: &mut Vec<Finding>) {
    findings.extend(entries(survey.session).map(|i| {
        survey.at(
            &CHECK,
            i,
            "an answer whose content is a string: clients before 2.1.325 do not open the session",
        )
    }));
}
