//! Finds lines of which a part is missing.

use super::super::super::check::{Check, Gate, Survey};
use super::super::super::finding::{Finding, Severity};
use super::super::super::version::Versions;
use crate::human;

use super::loss::Loss;
use super::recover::Piece;

pub(crate) static CHECK: Check = Check {
    name: "torn-line",
    family: "lines",
    finds: "lines that are cut off",
    severity: Severity::LosesHistory,
    symptom: "messages are missing after resume, with everything before them",
    suffers: Versions::All,
    healed_by: "",
    repair: Some(
        "complete records in the line are kept, the words of a prompt or a result are taken from their second copies where there are any, and the rest is moved to quarantine",
    ),
    gate: Gate::Judged,
    run,
};

fn run(survey: &Survey<'_>, findings: &mut Vec<Finding>) {
    for (line, pieces) in super::opaque(survey.session) {
        let records = pieces
            .iter()
            .filter(|p| matches!(p, Piece::Record(_)))
            .count();
        let text = survey.session.document().text(line);
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
                1 => " with a complete record in it".to_owned(),
                n => format!(" with {n} complete records in it"),
            };
            let parts = pieces.iter().filter_map(|p| match p {
                Piece::Fragment(range) | Piece::Record(range) => Some(&text[range.clone()]),
                Piece::Padding(_) => None,
            });
            let loss = parts.map(Loss::of).max().unwrap_or(Loss::Words);
            let message = format!(
                "is not valid JSON ({}){kept}: Claude Code skips it{}",
                human::bytes(torn as u64),
                loss.words()
            );
            findings.push(loss.judge(survey.at_line(&CHECK, line, message)));
        }
    }
}
