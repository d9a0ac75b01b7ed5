//! Finds bytes that are not UTF-8.

use super::super::super::check::{Check, Gate, Survey};
use super::super::super::finding::{Finding, Severity};
use super::super::super::version::Versions;

pub(crate) static CHECK: Check = Check {
    name: "invalid-utf8",
    family: "lines",
    finds: "bytes that are not UTF-8",
    severity: Severity::Harmless,
    symptom: "� in the text",
    suffers: Versions::None,
    healed_by: "every version reads such bytes as U+FFFD",
    repair: Some("such bytes are replaced by U+FFFD"),
    gate: Gate::Judged,
    run,
};

fn run(survey: &Survey<'_>, findings: &mut Vec<Finding>) {
    if !survey.session.flags_of_any().not_utf8() {
        return;
    }
    for (i, e) in survey.session.numbered() {
        if e.flags.not_utf8() {
            findings.push(survey.at(
                &CHECK,
                i,
                "has bytes that are not UTF-8: Claude Code reads U+FFFD instead",
            ));
        }
    }
}
