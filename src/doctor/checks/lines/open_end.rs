//! Finds a last line without a newline.

use crate::document::{Ending, LineIx};
use crate::transcript::LineState;

use super::super::super::check::{Check, Gate, Survey};
use super::super::super::finding::{Finding, Severity};
use super::super::super::version::Versions;

pub(crate) static CHECK: Check = Check {
    name: "open-end",
    family: "lines",
    finds: "a last line without a newline",
    severity: Severity::Harmless,
    symptom: "the next record lands on the same line, and both are lost",
    suffers: Versions::None,
    healed_by: "every version reads such a line",
    repair: Some("a newline is added"),
    gate: Gate::ReportOnly,
    run,
};

fn run(survey: &Survey<'_>, findings: &mut Vec<Finding>) {
    let lines = survey.session.document().lines();
    if let (Some(last), Some(LineState::Entry(_))) = (lines.last(), survey.session.lines().last())
        && last.ending() == Ending::None
    {
        findings.push(survey.at_line(
            &CHECK,
            LineIx::new(lines.len() - 1),
            "is the last line and has no newline: the next record may be written onto the same line",
        ));
    }
}
