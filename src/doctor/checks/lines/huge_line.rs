//! A line so long that reading it is the trouble.

use super::super::super::check::{Check, Gate, Survey};
use super::super::super::finding::{Finding, Severity};
use super::super::super::version::Versions;

pub(crate) static CHECK: Check = Check {
    name: "huge-line",
    family: "lines",
    severity: Severity::StopsResume,
    symptom: "the client hangs or runs out of memory when the session is opened",
    suffers: Versions::All,
    healed_by: "",
    repair: None,
    gate: Gate::ReportOnly,
    run,
};

/// No string of the client's runtime is longer than this.
const LONGEST: usize = 512 << 20;
const LONG: usize = 64 << 20;

fn run(survey: &Survey<'_>, findings: &mut Vec<Finding>) {
    for (i, line) in survey
        .session
        .document()
        .lines()
        .iter()
        .enumerate()
        .filter(|(_, l)| l.len() >= LONG)
    {
        let mut finding = survey.at_line(&CHECK, i as u32, format!("a line of {} MB; if it is a result, its middle would be lost with `ccsurgery drop-tools --larger-than 10MB --stub`, else all after the turn before it with `ccsurgery truncate`", line.len() >> 20));
        if line.len() < LONGEST {
            finding.severity = Severity::Harmless;
        }
        findings.push(finding);
    }
}
