//! Finds several records on one line: the newline between them was never written.

use super::super::super::check::{Check, Gate, Survey};
use super::super::super::finding::{Finding, Severity};
use super::super::super::version::{Version, Versions};

use super::loss::Loss;
use super::recover::Piece;

pub(crate) static CHECK: Check = Check {
    name: "glued-records",
    family: "lines",
    finds: "several records on one line: the newline between them was never written",
    severity: Severity::LosesHistory,
    symptom: "messages are missing after resume",
    suffers: Versions::All,
    healed_by: "2.1.156 and newer read the first of them",
    repair: Some("each record gets its own line"),
    gate: Gate::Judged,
    run,
};

fn run(survey: &Survey<'_>, findings: &mut Vec<Finding>) {
    for (line, pieces) in super::opaque(survey.session) {
        if pieces.iter().any(|p| matches!(p, Piece::Fragment(_))) {
            continue;
        }
        let text = survey.session.document().text(line);
        let records: Vec<&[u8]> = pieces
            .iter()
            .filter_map(|p| match p {
                Piece::Record(range) => Some(&text[range.clone()]),
                _ => None,
            })
            .collect();
        let [first, rest @ ..] = &records[..] else {
            continue;
        };
        if rest.is_empty() {
            continue;
        }
        let message = format!(
            "holds {} records: Claude Code reads at most the first",
            records.len()
        );
        let mut finding = survey.at_line(&CHECK, line, message);
        let of_rest = rest.iter().map(|r| Loss::of(r)).max();
        if of_rest.is_none_or(|loss| loss < Loss::Words) {
            finding.suffers = Versions::Before(Version(2, 1, 156));
            finding = Loss::of(first).judge(finding);
        }
        findings.push(finding);
    }
}
