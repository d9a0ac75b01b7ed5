//! Text of nothing but white space.

use crate::json::{begins_with_text, decode, lookup};
use crate::session::{At, Session};
use crate::transcript::BlockKind;

use super::super::super::check::is_live;
use super::super::super::check::{Check, Gate, Survey};
use super::super::super::finding::{Finding, Severity};
use super::super::super::version::{Version, Versions};

pub(crate) static CHECK: Check = Check {
    name: "blank-text",
    family: "content",
    severity: Severity::RefusedByTheApi,
    symptom: "text content blocks must contain non-whitespace text",
    suffers: Versions::Before(Version(2, 1, 325)),
    healed_by: "2.1.325 leaves it out",
    repair: Some("the text goes"),
    gate: Gate::Judged,
    run,
};

/// Text blocks that are blank.
pub(crate) fn blocks(session: &Session) -> Vec<At> {
    let mut out = Vec::new();
    if !session.flags_of_any().wordless() {
        return out;
    }
    for (i, e) in session.entries().iter().enumerate() {
        if !e.flags.wordless() || !e.is_message() || !is_live(session, i) {
            continue;
        }
        for b in (e.blocks.0..e.blocks.1).filter(|&b| session.block(b).kind == BlockKind::Text) {
            if session.block(b).has_words() {
                continue;
            }
            let inner = session.block(b).span.of(session.text(e));
            if lookup(inner, &["text"]).is_some_and(|s| is_blank(s.of(inner))) {
                out.push(At {
                    entry: i as u32,
                    block: b,
                });
            }
        }
    }
    out
}

/// Whether a JSON string is blank; one of more than a few blanks is not worth the decoding.
pub(crate) fn is_blank(raw: &[u8]) -> bool {
    raw.len() <= 4096 && !begins_with_text(raw) && decode(raw).trim().is_empty()
}

fn run(survey: &Survey<'_>, findings: &mut Vec<Finding>) {
    for at in blocks(survey.session) {
        findings.push(survey.at(
            &CHECK,
            at.entry as usize,
            "text content blocks must contain non-whitespace text",
        ));
    }
}
