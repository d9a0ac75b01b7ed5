//! A line of which a part is missing.

use super::super::super::check::{Check, Gate, Survey};
use super::super::super::finding::{Finding, Severity};
use super::super::super::version::Versions;
use super::recover::Piece;

pub(crate) static CHECK: Check = Check {
    name: "torn-line",
    family: "lines",
    severity: Severity::LosesHistory,
    symptom: "messages are missing after resume; what hangs on the torn one is cut off from what was before",
    suffers: Versions::All,
    healed_by: "",
    repair: Some("complete records in the line are kept, the rest goes to quarantine"),
    gate: Gate::Judged,
    run,
};

fn run(survey: &Survey<'_>, findings: &mut Vec<Finding>) {
    for (line, pieces) in super::opaque(survey.session) {
        let records = pieces
            .iter()
            .filter(|p| matches!(p, Piece::Record(_)))
            .count();
        let torn: usize = pieces
            .iter()
            .map(|p| {
                if let Piece::Fragment(r) = p {
                    r.len()
                } else {
                    0
                }
            })
            .sum();
        if torn > 0 {
            let kept = match records {
                0 => String::new(),
                1 => ", with a complete record in it".to_owned(),
                n => format!(", with {n} complete records in it"),
            };
            findings.push(survey.at_line(
                &CHECK,
                line,
                format!(
                    "{torn} bytes of a record that is not whole{kept}: clients pass over the line"
                ),
            ));
        }
    }
}
