//! Finds an unfinished last turn that begins without thinking.

use crate::session::Session;
use crate::transcript::{BlockKind, EntryIx, Kind};

use super::super::super::check::{Check, Gate, Survey};
use super::super::super::finding::{Finding, Remedy, Severity};
use super::super::super::version::Versions;

pub(crate) static CHECK: Check = Check {
    name: "missing-thinking",
    family: "thinking",
    finds: "an unfinished last turn that begins without thinking",
    severity: Severity::Harmless,
    symptom: "Expected `thinking` or `redacted_thinking`, but found `tool_use`",
    suffers: Versions::None,
    healed_by: "a new prompt ends the turn, and the API no longer asks for the thinking",
    repair: None,
    gate: Gate::ReportOnly,
    run,
};

/// Returns the first answer of the last turn if it has no thinking, later answers of the turn do, and the
/// turn ends with a call or a result.
fn entry(session: &Session) -> Option<EntryIx> {
    let turn = session.turns().iter().next_back()?;
    let path = &session.graph().path()[turn.path.0 as usize..turn.path.1 as usize];
    let last = session.entry(*path.last()?);
    let has = |i: EntryIx, kind: fn(BlockKind) -> bool| {
        session
            .blocks(session.entry(i))
            .iter()
            .any(|b| kind(b.kind))
    };
    let unfinished = session
        .blocks(last)
        .iter()
        .any(|b| b.kind == BlockKind::ToolResult || b.kind == BlockKind::ToolUse);
    let first = path
        .iter()
        .copied()
        .find(|&i| session.entry(i).kind == Kind::Assistant)?;
    let own = session.entry(first).message_id;
    let later = path
        .iter()
        .any(|&i| session.entry(i).message_id != own && has(i, BlockKind::is_thinking));
    let calls = has(first, BlockKind::is_call);
    (unfinished && later && calls && !has(first, BlockKind::is_thinking)).then_some(first)
}

fn run(survey: &Survey<'_>, findings: &mut Vec<Finding>) {
    if let Some(i) = entry(survey.session) {
        let turn = survey.session.turns().len().saturating_sub(1);
        let finding = survey.at(&CHECK, i, "begins an unfinished turn without thinking: the API refuses to continue it, but accepts a new prompt");
        findings.push(finding.with(Remedy::KeepTurns(turn)));
    }
}
