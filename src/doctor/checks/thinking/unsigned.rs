//! Finds thinking without a signature.

use crate::session::{At, Session};
use crate::transcript::{BlockKind, Kind};

use super::super::super::check::{Check, Gate, Survey, is_live};
use super::super::super::finding::{Finding, Severity};
use super::super::super::version::{Version, Versions};

pub(crate) static CHECK: Check = Check {
    name: "unsigned-thinking",
    family: "thinking",
    finds: "thinking without a signature",
    severity: Severity::RefusedByTheApi,
    symptom: "Invalid `signature` in `thinking` block",
    suffers: Versions::Before(Version(2, 1, 325)),
    healed_by: "2.1.325 tries again without thinking",
    repair: Some("the thinking is removed"),
    gate: Gate::Judged,
    run,
};

/// Returns thinking blocks whose signature is missing or empty. Empty thinking with a signature is normal.
pub(crate) fn blocks(session: &Session) -> Vec<At> {
    let mut out = Vec::new();
    if !session.flags_of_any().unsigned() {
        return out;
    }
    for (i, e) in session.numbered() {
        if e.kind != Kind::Assistant || !is_live(session, i) {
            continue;
        }
        for number in e.blocks.numbers() {
            let block = session.block(number);
            if block.kind == BlockKind::Thinking && !block.is_signed() {
                out.push(At {
                    entry: i,
                    block: number,
                });
            }
        }
    }
    out
}

fn run(survey: &Survey<'_>, findings: &mut Vec<Finding>) {
    for at in blocks(survey.session) {
        findings.push(survey.at(
            &CHECK,
            at.entry,
            "has thinking without a signature: the API answers \"Invalid `signature`\"",
        ));
    }
}
