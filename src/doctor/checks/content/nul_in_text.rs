//! Finds NUL characters in texts.

use super::super::super::check::{Check, Gate, Survey};
use super::super::super::finding::{Finding, Severity};
use super::super::super::version::Versions;
use super::escapes::{Bad, bad_escapes};

pub(crate) static CHECK: Check = Check {
    name: "nul-in-text",
    family: "content",
    finds: "NUL characters in texts",
    severity: Severity::RefusedByTheApi,
    symptom: "invalid request: unsupported Unicode escape \\u0000",
    suffers: Versions::All,
    healed_by: "",
    repair: Some("the NULs are removed"),
    gate: Gate::Judged,
    run,
};

fn run(survey: &Survey<'_>, findings: &mut Vec<Finding>) {
    if !survey.session.flags_of_any().numbered_characters() {
        return;
    }
    for (i, e) in survey
        .live()
        .filter(|(_, e)| e.is_message() && e.flags.numbered_characters())
    {
        let bad = bad_escapes(e.content.of(survey.session.text(e)))
            .into_iter()
            .filter(|(_, b)| *b == Bad::Nul)
            .count();
        if bad > 0 {
            findings.push(survey.at(
                &CHECK,
                i,
                format!("has NUL characters ({bad}), which the API does not accept"),
            ));
        }
    }
}
