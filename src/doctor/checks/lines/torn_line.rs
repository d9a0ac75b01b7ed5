//! Finds lines of which a part is missing.

use super::super::super::check::{Check, Gate, Survey};
use super::super::super::finding::{Finding, Severity};
use super::super::super::version::Versions;
use crate::human;
use crate::json::lookup;

use super::recover::Piece;

pub(crate) static CHECK: Check = Check {
    name: "torn-line",
    family: "lines",
    severity: Severity::LosesHistory,
    symptom: "messages are missing after resume, with everything before them",
    suffers: Versions::All,
    healed_by: "",
    repair: Some("complete records in the line are kept, the rest is moved to quarantine"),
    gate: Gate::Judged,
    run,
};

fn run(survey: &Survey<'_>, findings: &mut Vec<Finding>) {
    for (line, pieces) in super::opaque(survey.session) {
        let records = pieces
            .iter()
            .filter(|p| matches!(p, Piece::Record(_)))
            .count();
        let text = survey.session.document().text(line as usize);
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
            let mut finding = survey.at_line(
                &CHECK,
                line,
                format!(
                    "is not valid JSON ({}){kept}: Claude Code skips it",
                    human::bytes(torn as u64)
                ),
            );
            if pieces.iter().all(|p| is_metadata(text, p)) {
                finding.severity = Severity::Harmless;
            }
            findings.push(finding);
        }
    }
}

/// Returns whether a part of a line is the beginning of a record that is not part of the conversation:
/// those of the conversation begin with their parent.
fn is_metadata(text: &[u8], piece: &Piece) -> bool {
    match piece {
        Piece::Fragment(range) => {
            let start = &text[range.clone()];
            let conversation = ["user", "assistant", "system", "attachment"];
            start
                .strip_prefix(b"{\"type\":\"")
                .is_some_and(|kind| !conversation.iter().any(|k| kind.starts_with(k.as_bytes())))
        }
        Piece::Record(range) => lookup(&text[range.clone()], &["parentUuid"]).is_none(),
        Piece::Padding(_) => true,
    }
}
