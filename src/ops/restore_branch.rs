//! Makes an abandoned path the conversation again.

use rustc_hash::FxHashSet;

use crate::json::encode;
use crate::session::{Session, Standing};
use crate::surgery::{
    Action, ChangeKind, Detail, InsertAt, Plan, Reach, Refusal, Transform, leading_entry,
    session_id,
};
use crate::transcript::{EntryIx, PromptKind};
use crate::view::prompt_text;

use super::selector::find_entry;

/// The text of the entry that leads clients to the restored branch, as Claude Code shows it.
const TEXT: &str = "ccsurgery restored this branch; the conversation continues from here";

/// How many characters of the last prompt Claude Code remembers.
const REMEMBERED: usize = 200;

/// Makes an abandoned path the live one. The present one stays in the file as a branch.
///
/// Clients continue from the last entry of the file, older ones from the newest: an entry that is both, and that hangs
/// on the end of the branch, is added. The model is not shown it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RestoreBranch {
    /// The uuid of an entry of the branch, or the beginning of one.
    pub entry: String,
}

impl Transform for RestoreBranch {
    fn name(&self) -> &'static str {
        "restore-branch"
    }

    fn reach(&self) -> Reach {
        Reach::Rearranges
    }

    fn plan(&self, session: &Session, detail: Detail) -> Result<Plan, Refusal> {
        let mut plan = Plan::with_detail(detail);
        let named = find_entry(session, &self.entry)?;
        let (entries, graph) = (session.entries(), session.graph());
        if entries[named].flags.sidechain() {
            return Err(Refusal::new(
                "not-a-branch",
                format!("`{}` belongs to a subagent, not to a branch", self.entry),
                "see the branches with: ccsurgery show --branches",
            ));
        }
        if matches!(graph.place(named), Standing::Path(_) | Standing::Beside(_)) {
            return Ok(plan);
        }
        let Some(leaf) = end_of_branch(session, named) else {
            return Err(Refusal::new(
                "not-a-branch",
                format!("no message follows `{}`", self.entry),
                "see the branches with: ccsurgery show --branches",
            ));
        };
        let chain = above(session, leaf);
        note_changes(session, &chain, &mut plan);
        lead_to(session, leaf, &chain, &mut plan);
        Ok(plan)
    }
}

/// Returns how many turns of the present conversation the branch with this entry begins with. Refuses an entry that is
/// not on a branch.
pub(super) fn shared_turns(session: &Session, entry: &str) -> Result<u32, Refusal> {
    let named = find_entry(session, entry)?;
    let graph = session.graph();
    if matches!(graph.place(named), Standing::Path(_) | Standing::Beside(_)) {
        return Err(Refusal::new(
            "not-a-branch",
            format!("`{entry}` is part of the conversation, not of an abandoned branch"),
            "see the branches with: ccsurgery show --branches",
        ));
    }
    let top = above(session, named);
    let parent = top.last().and_then(|&i| graph.parent(i));
    Ok(match parent.map(|i| graph.place(i)) {
        Some(Standing::Path(position)) => session.turns().at_position(position),
        _ => 0,
    })
}

/// Returns the last message in the file at or below an entry.
fn end_of_branch(session: &Session, entry: EntryIx) -> Option<EntryIx> {
    let (heads, graph) = (session.heads(), session.graph());
    let mut seen = FxHashSet::default();
    let mut stack = vec![entry];
    let mut last = None;
    while let Some(i) = stack.pop() {
        if !seen.insert(i) {
            continue;
        }
        if heads[i].is_message() && !heads[i].flags.sidechain() {
            last = last.max(Some(i));
        }
        stack.extend(graph.children(i));
    }
    last
}

/// Returns an entry and those above it, up to the live path or a root.
fn above(session: &Session, entry: EntryIx) -> Vec<EntryIx> {
    let graph = session.graph();
    let mut seen = FxHashSet::default();
    let mut at = Some(entry);
    let mut out = Vec::new();
    while let Some(i) = at {
        if matches!(graph.place(i), Standing::Path(_)) || !seen.insert(i) {
            break;
        }
        out.push(i);
        at = graph.parent(i);
    }
    out
}

/// Adds the entries that make clients continue from a leaf.
fn lead_to(session: &Session, leaf: EntryIx, chain: &[EntryIx], plan: &mut Plan) {
    let uuid = session.uuid(session.entry(leaf));
    let (Some(uuid), Some(line)) = (uuid, leading_entry(session, leaf, TEXT)) else {
        return;
    };
    plan.note_insert(ChangeKind::SystemEntry, line.len() + 1, 0, "");
    plan.insert_line(InsertAt::End, line);
    let is_prompt = |i: &&EntryIx| session.entry(**i).prompt == PromptKind::Words;
    let words = chain.iter().find(is_prompt);
    let words = words.and_then(|&i| prompt_text(session, session.entry(i)));
    let words = words.map(|words| {
        let words: String = words.chars().take(REMEMBERED).collect();
        format!(r#""lastPrompt":{},"#, encode(&words))
    });
    let line = format!(
        r#"{{"type":"last-prompt",{}"leafUuid":{},"sessionId":{}}}"#,
        words.unwrap_or_default(),
        encode(&uuid),
        encode(&session_id(session))
    );
    plan.note_insert(ChangeKind::LastPrompt, line.len() + 1, 0, "");
    plan.insert_line(InsertAt::End, line);
}

/// Records which turns the model is no longer shown, and which prompts it is shown again.
fn note_changes(session: &Session, chain: &[EntryIx], plan: &mut Plan) {
    if plan.wants_no_changes() {
        return;
    }
    let (entries, graph) = (session.entries(), session.graph());
    let root = chain.last().and_then(|&i| graph.parent(i));
    let left_at = match root.map(|i| graph.place(i)) {
        Some(Standing::Path(position)) => position,
        _ => 0,
    };
    for turn in session.turns().iter().filter(|t| t.path.0 > left_at) {
        let e = &entries[turn.prompt];
        let words = prompt_text(session, e).unwrap_or_default();
        let hidden: i64 = graph.path()[turn.path.0 as usize..turn.path.1 as usize]
            .iter()
            .map(|&i| entries[i].content.len() as i64)
            .sum();
        plan.note(
            session,
            e,
            Action::Drop,
            ChangeKind::HiddenFromModel,
            0,
            -hidden,
            words,
        );
    }
    for &i in chain.iter().rev() {
        let e = &entries[i];
        if e.is_message() {
            let words = prompt_text(session, e).unwrap_or_default();
            let bytes = e.content.len() as i64;
            plan.note(
                session,
                e,
                Action::Edit,
                ChangeKind::ShownAgain,
                0,
                bytes,
                words,
            );
        }
    }
}
