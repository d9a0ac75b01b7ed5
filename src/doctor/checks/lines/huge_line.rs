//! Finds lines that are too long to be read.

use super::super::super::check::{Check, Gate, Survey};
use super::super::super::finding::{Finding, Remedy, Severity};
use super::super::super::version::Versions;

pub(crate) static CHECK: Check = Check {
    name: "huge-line",
    family: "lines",
    finds: "lines that are too long to be read",
    severity: Severity::StopsResume,
    symptom: "Claude Code hangs or runs out of memory when it opens the session",
    suffers: Versions::All,
    healed_by: "",
    repair: None,
    gate: Gate::ReportOnly,
    run,
};

/// The longest string of the client's runtime.
const LONGEST: usize = 512 << 20;
const LONG: usize = 64 << 20;

fn run(survey: &Survey<'_>, findings: &mut Vec<Finding>) {
    let document = survey.session.document();
    let lines = document.numbers().zip(document.lines());
    for (i, line) in lines.filter(|(_, line)| line.len() >= LONG) {
        let mut finding = survey
            .at_line(&CHECK, i, format!("is {} MB long", line.len() >> 20))
            .with(Remedy::ShortenResults);
        if line.len() < LONGEST {
            finding.severity = Severity::Harmless;
        }
        findings.push(finding);
    }
}
