//! Removes what Claude Code keeps of deleted messages in other lines, and reports what stays outside of the session.

use rustc_hash::FxHashSet;

use crate::document::LineIx;
use crate::session::{Session, Standing};
use crate::surgery::{ChangeKind, Plan};
use crate::transcript::{Entry, Id, Kind};
use crate::view::prompt_text;

use super::drop_tools::drop_field;
use super::selector_calls::file_of;

/// Tools that write files.
const WRITERS: [&str; 4] = ["Write", "Edit", "MultiEdit", "NotebookEdit"];

/// The lines of the file between the first and the last deleted one; empty by default.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct Lines(Option<(LineIx, LineIx)>);

impl Lines {
    /// Makes the range include a line.
    pub(super) fn extend_to(&mut self, line: LineIx) {
        let (first, last) = self.0.unwrap_or((line, line));
        self.0 = Some((first.min(line), last.max(line)));
    }

    fn contains(self, line: LineIx) -> bool {
        self.0
            .is_some_and(|(first, last)| (first..=last).contains(&line))
    }
}

/// Removes the entries that describe deleted messages: their file snapshots, their queued and remembered prompts, and,
/// between the deleted lines, requests and subagents that are stored in the transcript itself.
pub(super) fn drop_traces(session: &Session, lines: Lines, plan: &mut Plan) {
    let prompts = deleted_prompts(session, plan);
    for (i, e) in session.numbered() {
        if plan.drops(e.line) {
            continue;
        }
        let (goes, what) = match session.graph().place(i) {
            Standing::Apart => (
                e.flags.sidechain() && lines.contains(e.line),
                ChangeKind::SubagentEntry,
            ),
            Standing::Metadata => (
                is_trace(session, e, lines, &prompts, plan),
                ChangeKind::Metadata,
            ),
            _ => (false, ChangeKind::Metadata),
        };
        if goes && e.kind == Kind::LastPrompt && e.refers_to.is_some() {
            // The record also names the leaf, which clients need.
            drop_field(session, plan, i, "lastPrompt");
        } else if goes {
            plan.drop_entry(session, e, what);
        }
    }
}

fn is_trace(session: &Session, e: &Entry, lines: Lines, prompts: &[String], plan: &Plan) -> bool {
    let repeats = |key: &str| {
        let text = session.string(e, &[key]).filter(|text| !text.is_empty());
        // Claude Code remembers only the beginning of a long prompt.
        text.is_some_and(|text| {
            let text = text.trim_end_matches('…').trim();
            prompts.iter().any(|prompt| prompt.trim().starts_with(text))
        })
    };
    match e.kind {
        Kind::FileHistorySnapshot | Kind::FileHistoryDelta | Kind::Summary => {
            let named = e.refers_to.some().and_then(|id| session.find(id));
            named.is_some_and(|n| plan.drops(session.entry(n).line))
        }
        Kind::LastPrompt => repeats("lastPrompt"),
        Kind::QueueOperation => lines.contains(e.line) || repeats("content"),
        Kind::ApiRequest | Kind::ApiRequestBlob | Kind::Progress => lines.contains(e.line),
        _ => false,
    }
}

/// Returns the texts of prompts that no longer occur in the session.
fn deleted_prompts(session: &Session, plan: &Plan) -> Vec<String> {
    let users = || session.entries_of(Kind::User).map(|(_, e)| e);
    let is_replaced = |e: &&Entry| plan.touches(e.line, e.content);
    let gone = users().filter(is_replaced);
    let mut prompts: Vec<String> = gone.filter_map(|e| prompt_text(session, e)).collect();
    prompts.retain(|text| !text.trim().is_empty());
    prompts.sort();
    prompts.dedup();
    if prompts.is_empty() {
        return prompts;
    }
    let kept = users().filter(|e| !is_replaced(e));
    let kept: FxHashSet<String> = kept.filter_map(|e| prompt_text(session, e)).collect();
    prompts.retain(|text| !kept.contains(text));
    prompts
}

/// Warns if deleted calls wrote files, which stay as they are on the disk.
pub(super) fn warn_of_written_files(session: &Session, calls: &FxHashSet<Id>, plan: &mut Plan) {
    let mut files = FxHashSet::default();
    for call in calls.iter().filter_map(|&id| session.calls().find(id)) {
        let Some(made) = call.uses.first() else {
            continue;
        };
        let entry = session.entry(made.entry);
        let block = session.block(made.block);
        if WRITERS.contains(&&*session.tool_name(entry, block)) && !call.failed(session) {
            files.extend(file_of(session, entry, block));
        }
    }
    let number = files.len();
    if number > 0 {
        let noun = if number == 1 { "file" } else { "files" };
        plan.warnings.push(format!(
            "deleted calls wrote {number} {noun}: what they wrote stays on the disk, but the model no longer knows of it"
        ));
    }
}
