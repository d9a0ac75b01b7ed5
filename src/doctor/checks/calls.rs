//! Calls and results that do not pair.

use crate::session::{BlockKind, Kind, Place, Session};

use super::super::finding::{Finding, Severity};
use super::at;

pub(super) fn check(session: &Session, findings: &mut Vec<Finding>) {
    let live = |entry: u32| {
        matches!(
            session.graph().place(entry as usize),
            Place::Path(_) | Place::Beside(_)
        )
    };
    for call in session.calls().iter() {
        let uses: Vec<_> = call.uses.iter().filter(|u| live(u.entry)).collect();
        let results: Vec<_> = call.results.iter().filter(|r| live(r.entry)).collect();
        match (uses.first(), results.first()) {
            (Some(use_), None)
                if !is_last_message(session, use_.entry)
                    && session.block(use_.block).kind == BlockKind::ToolUse =>
            {
                let line = session.entries()[use_.entry as usize].line;
                findings.push(at(
                    session,
                    line,
                    "unanswered-call",
                    Severity::RefusedByTheApi,
                    "`tool_use` ids were found without `tool_result` blocks immediately after",
                ));
            }
            (None, Some(result)) => {
                let line = session.entries()[result.entry as usize].line;
                findings.push(at(
                    session,
                    line,
                    "stray-result",
                    Severity::RefusedByTheApi,
                    "unexpected `tool_use_id` found in `tool_result` blocks",
                ));
            }
            _ => {}
        }
        for again in uses.iter().skip(1) {
            let line = session.entries()[again.entry as usize].line;
            findings.push(at(
                session,
                line,
                "repeated-call",
                Severity::RefusedByTheApi,
                "`tool_use` ids must be unique",
            ));
        }
        for again in results.iter().skip(1) {
            let line = session.entries()[again.entry as usize].line;
            findings.push(at(
                session,
                line,
                "repeated-result",
                Severity::RefusedByTheApi,
                "each tool_use must have a single result",
            ));
        }
    }
}

/// Whether nothing of the conversation follows the message of an entry: its calls may still be running.
fn is_last_message(session: &Session, entry: u32) -> bool {
    let message = session.entries()[entry as usize].message_id;
    let tail = session
        .graph()
        .path()
        .iter()
        .rev()
        .map(|&i| &session.entries()[i as usize]);
    tail.filter(|e| e.is_message())
        .take_while(|e| {
            e.kind == Kind::User && e.prompt == crate::session::PromptKind::None
                || e.message_id == message
        })
        .any(|e| e.message_id == message)
}
