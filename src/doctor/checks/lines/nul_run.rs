//! Finds NUL bytes in place of text, which a power loss leaves.

use super::super::super::check::{Check, Gate, Survey};
use super::super::super::finding::{Finding, Severity};
use super::super::super::version::Versions;
use super::recover::Piece;

pub(crate) static CHECK: Check = Check {
    name: "nul-run",
    family: "lines",
    finds: "NUL bytes in place of text, which a power loss leaves",
    severity: Severity::LosesHistory,
    symptom: "messages are missing after a power loss",
    suffers: Versions::All,
    healed_by: "2.1.156 and newer, in files over 5 MB",
    repair: Some("the NULs are removed, the record is kept"),
    gate: Gate::Judged,
    run,
};

fn run(survey: &Survey<'_>, findings: &mut Vec<Finding>) {
    for (line, pieces) in super::opaque(survey.session) {
        let text = survey.session.document().text(line);
        let nuls: usize = pieces
            .iter()
            .map(|p| {
                if let Piece::Padding(r) = p {
                    memchr::memchr_iter(0, &text[r.clone()]).count()
                } else {
                    0
                }
            })
            .sum();
        if nuls == 0 {
            continue;
        }
        let only = pieces.iter().all(|p| matches!(p, Piece::Padding(_)));
        let mut finding = survey.at_line(
            &CHECK,
            line,
            format!(
                "has {nuls} NUL bytes {}",
                if only {
                    "and nothing else"
                } else {
                    "next to a record: Claude Code skips the line"
                }
            ),
        );
        if only {
            finding.severity = Severity::Harmless;
            finding.suffers = Versions::None;
        }
        findings.push(finding);
    }
}
