//! Thinking without a signature.

use crate::jsonl::lookup;
use crate::session::{At, BlockKind, Kind, Session};

use super::super::super::check::{Check, Scope, Survey, is_live};
use super::super::super::finding::{Finding, Severity};
use super::super::super::version::{Version, Versions};

pub(crate) static CHECK: Check = Check {
    name: "unsigned-thinking",
    family: "thinking",
    severity: Severity::RefusedByTheApi,
    seen: "Invalid `signature` in `thinking` block",
    suffers: Versions::Before(Version(2, 1, 325)),
    heals: "2.1.325 tries again without thinking",
    mend: Some("the thinking goes"),
    scope: Scope::Always,
    run,
};

/// Thinking blocks whose signature is missing or empty. An empty thinking with a signature is normal.
pub(crate) fn blocks(session: &Session) -> Vec<At> {
    let mut out = Vec::new();
    for (i, e) in session.entries().iter().enumerate() {
        if e.kind != Kind::Assistant || !is_live(session, i) {
            continue;
        }
        let text = session.text(e);
        for b in (e.blocks.0..e.blocks.1).filter(|&b| session.block(b).kind == BlockKind::Thinking)
        {
            let inner = session.block(b).span.of(text);
            if lookup(inner, &["signature"])
                .is_none_or(|s| s.len() <= 2 || !s.of(inner).starts_with(b"\""))
            {
                out.push(At {
                    entry: i as u32,
                    block: b,
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
            at.entry as usize,
            "Invalid `signature` in `thinking` block",
        ));
    }
}
