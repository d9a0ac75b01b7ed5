//! Finds references to tools, which a search for tools leaves in its result.

use memchr::memmem;

use crate::json::{Span, decode, elements, lookup};
use crate::session::Session;
use crate::transcript::{BlockKind, EntryIx};

use super::super::super::check::{Check, Gate, Survey, is_live};
use super::super::super::finding::{Finding, Severity};
use super::super::super::version::{Version, Versions};

pub(crate) static CHECK: Check = Check {
    name: "tool-reference",
    family: "calls",
    finds: "references to tools, which a search for tools leaves in its result",
    severity: Severity::RefusedByTheApi,
    symptom: "Tool reference not found in available tools",
    suffers: Versions::Before(Version(2, 0, 76)),
    healed_by: "2.0.76 and newer do not send references to tools that are gone",
    repair: Some("a note replaces the reference"),
    gate: Gate::JudgedForVersion,
    run,
};

/// A reference in a result, by its span in the entry's line.
pub(crate) struct Reference {
    pub(crate) entry: EntryIx,
    pub(crate) block: Span,
    pub(crate) tool: String,
}

/// Returns all references of the conversation.
pub(crate) fn references(session: &Session) -> Vec<Reference> {
    let mut out = Vec::new();
    for (i, e) in session.numbered() {
        if !e.is_message() || !is_live(session, i) {
            continue;
        }
        let results = session.blocks(e).iter();
        for block in results.filter(|b| b.kind == BlockKind::ToolResult && b.is_nested()) {
            let text = session.text(e);
            let inner = block.span.of(text);
            if memmem::find(inner, b"\"tool_reference\"").is_none() {
                continue;
            }
            let list = lookup(inner, &["content"]).filter(|s| s.of(inner).starts_with(b"["));
            let Some(list) = list else { continue };
            for span in elements(list.of(inner)).unwrap_or_default() {
                let span = span.shift(list.start + block.span.start);
                let element = span.of(text);
                let is = |key: &str| lookup(element, &[key]).map(|s| s.of(element));
                if is("type") == Some(b"\"tool_reference\"") {
                    out.push(Reference {
                        entry: i,
                        block: span,
                        tool: is("tool_name")
                            .map(|n| decode(n).into_owned())
                            .unwrap_or_default(),
                    });
                }
            }
        }
    }
    out
}

fn run(survey: &Survey<'_>, findings: &mut Vec<Finding>) {
    findings.extend(references(survey.session).into_iter().map(|r| {
        survey.at(
            &CHECK,
            r.entry,
            format!(
                "refers to the tool {}, which Claude Code may not offer any more",
                r.tool
            ),
        )
    }));
}
