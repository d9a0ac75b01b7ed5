//! Several records on one line: the newline between them was never written.

use super::super::super::check::{Check, Gate, Survey};
use super::super::super::finding::{Finding, Severity};
use super::super::super::version::Versions;
use super::recover::Piece;

pub(crate) static CHECK: Check = Check {
    name: "glued-records",
    family: "lines",
    severity: Severity::LosesHistory,
    symptom: "messages are missing after resume",
    suffers: Versions::All,
    healed_by: "2.1.156 and newer keep the first of them",
    repair: Some("each record gets a line of its own"),
    gate: Gate::Judged,
    run,
};

fn run(survey: &Survey<'_>, findings: &mut Vec<Finding>) {
    for (line, pieces) in super::opaque(survey.session) {
        let records = pieces
            .iter()
            .filter(|p| matches!(p, Piece::Record(_)))
            .count();
        if records > 1 && !pieces.iter().any(|p| matches!(p, Piece::Fragment(_))) {
            findings.push(survey.at_line(&CHECK, line, format!("{records} records on one line: older clients pass over all of them, newer ones keep the first")));
        }
    }
}
