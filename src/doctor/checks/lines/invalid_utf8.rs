//! Bytes that are not UTF-8.

use super::super::super::check::{Check, Gate, Survey};
use super::super::super::finding::{Finding, Severity};
use super::super::super::version::Versions;

pub(crate) static CHECK: Check = Check {
    name: "invalid-utf8",
    family: "lines",
    severity: Severity::Harmless,
    symptom: "� in the text",
    suffers: Versions::None,
    healed_by: "all read each such byte as U+FFFD",
    repair: Some("such bytes become U+FFFD, as clients read them"),
    gate: Gate::Judged,
    run,
};

fn run(survey: &Survey<'_>, findings: &mut Vec<Finding>) {
    if !survey.session.flags_of_any().not_utf8() {
        return;
    }
    for (i, e) in survey.session.entries().iter().enumerate() {
        if e.flags.not_utf8() {
            findings.push(survey.at(&CHECK, i, "bytes that are not UTF-8: clients read U+FFFD"));
        }
    }
}
