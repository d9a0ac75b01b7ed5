//! Finds a byte order mark before the first record.

use super::super::super::check::{Check, Gate, Survey};
use super::super::super::finding::{Finding, Severity};
use super::super::super::version::{Version, Versions};
use crate::document::LineIx;

pub(crate) use crate::json::BYTE_ORDER_MARK as MARK;

pub(crate) static CHECK: Check = Check {
    name: "byte-order-mark",
    family: "lines",
    finds: "a byte order mark before the first record",
    severity: Severity::LosesHistory,
    symptom: "the first message is missing after an editor saved the file",
    suffers: Versions::Before(Version(2, 0, 76)),
    healed_by: "2.0.76 and newer, in files up to 5 MB",
    repair: Some("the mark is removed"),
    gate: Gate::Judged,
    run,
};

/// In files larger than this, no client skips the mark.
const LARGE: u64 = 5 << 20;

fn run(survey: &Survey<'_>, findings: &mut Vec<Finding>) {
    let document = survey.session.document();
    if document.lines().is_empty() || !document.text(LineIx::default()).starts_with(MARK) {
        return;
    }
    let mut finding = survey.at_line(
        &CHECK,
        LineIx::default(),
        "begins with a byte order mark: Claude Code may skip this record",
    );
    if document.len() > LARGE {
        finding.suffers = Versions::All;
    }
    findings.push(finding);
}
