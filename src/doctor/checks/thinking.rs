//! Thinking that the API would refuse.

use crate::jsonl::lookup;
use crate::session::{BlockKind, Kind, Place, Session};

use super::super::finding::{Finding, Severity};
use super::at;

pub(super) fn check(session: &Session, findings: &mut Vec<Finding>) {
    for (i, e) in session.entries().iter().enumerate() {
        if e.kind != Kind::Assistant
            || !matches!(session.graph().place(i), Place::Path(_) | Place::Beside(_))
        {
            continue;
        }
        let text = session.text(e);
        for block in session
            .blocks(e)
            .iter()
            .filter(|b| b.kind == BlockKind::Thinking)
        {
            let inner = block.span.of(text);
            let signed = lookup(inner, &["signature"]).is_some_and(|s| s.len() > 2);
            if !signed {
                findings.push(at(
                    session,
                    e.line,
                    "unsigned-thinking",
                    Severity::RefusedByTheApi,
                    "Invalid `signature` in `thinking` block",
                ));
            }
        }
    }
}
