//! Content that the API would refuse.

use crate::jsonl::{decode, lookup};
use crate::session::{BlockKind, Place, Session};

use super::super::finding::{Finding, Severity};
use super::at;

pub(super) fn check(session: &Session, findings: &mut Vec<Finding>) {
    for (i, e) in session.entries().iter().enumerate() {
        if !e.is_message() || !matches!(session.graph().place(i), Place::Path(_) | Place::Beside(_))
        {
            continue;
        }
        let text = session.text(e);
        let empty =
            e.content.len() == 2 || !e.flags.string_content() && session.blocks(e).is_empty();
        if empty {
            findings.push(at(
                session,
                e.line,
                "empty-content",
                Severity::RefusedByTheApi,
                "all messages must have non-empty content",
            ));
        }
        for block in session
            .blocks(e)
            .iter()
            .filter(|b| b.kind == BlockKind::Text)
        {
            if block.span.len() > 256 {
                continue;
            }
            let inner = block.span.of(text);
            let blank = lookup(inner, &["text"])
                .is_some_and(|s| s.len() <= 64 && decode(s.of(inner)).trim().is_empty());
            if blank {
                findings.push(at(
                    session,
                    e.line,
                    "blank-text",
                    Severity::RefusedByTheApi,
                    "text content blocks must contain non-whitespace text",
                ));
            }
        }
    }
}
