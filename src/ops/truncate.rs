//! Removes everything after a turn.

use serde::Deserialize;

use crate::document::LineIx;
use crate::session::{Session, Standing, TurnSpec, turn_end};
use crate::surgery::{Action, ChangeKind, Detail, Plan, Refusal, RefusalKind, Remedy, Transform};
use crate::transcript::{BlockKind, Entry, EntryIx, Kind, LineState, PromptKind};

use crate::window::tail_of_conversation;

use super::agents::agents_gone;

/// Keeps a session up to the end of a turn.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
pub struct Truncate {
    /// The last turn that stays.
    pub at: TurnSpec,
}

impl Transform for Truncate {
    fn name(&self) -> &'static str {
        "truncate"
    }

    fn plan(&self, session: &Session, _: Detail) -> Result<Plan, Refusal> {
        let turns = session.turns();
        let mut plan = Plan::default();
        let at = self.at.resolve(session)?;
        let Some(turn) = turns.get(at) else {
            return Ok(plan);
        };
        let end = turn_end(session, turn);
        if end as usize == session.graph().path().len() {
            return Ok(plan);
        }
        refuse_unfinished(session, at)?;
        let cut = Cut::new(session, end);
        for (line, state) in session.numbered_lines() {
            match state {
                LineState::Entry(i) => {
                    let e = session.entry(i);
                    if !cut.keeps(session, i, e) {
                        plan.drop_line(line);
                        note(session, &mut plan, i, e);
                    }
                }
                // Lines that cannot be read belong to the lines around them.
                LineState::Blank | LineState::Opaque => {
                    if line > cut.line {
                        plan.drop_line(line);
                    }
                }
            }
        }
        plan.dropped_agents = agents_gone(session, &plan);
        plan.takes_files = true;
        Ok(plan)
    }
}

/// Where a session is cut.
struct Cut {
    /// The first position of the path that is removed.
    position: u32,
    /// The first line of the file that is removed.
    line: LineIx,
    /// The position, line and time of the last message that stays.
    leaf: (u32, LineIx, i64),
    /// What follows the end of the conversation, which can hang on an entry that stays.
    tail: Vec<EntryIx>,
}

impl Cut {
    fn new(session: &Session, position: u32) -> Self {
        let entries = session.entries();
        let path = session.graph().path();
        let line = path[position as usize..]
            .iter()
            .map(|&i| entries[i].line)
            .min()
            .unwrap_or(LineIx::MAX);
        let leaf = (0..position)
            .rev()
            .find(|&p| entries[path[p as usize]].is_message())
            .unwrap_or(0);
        let e = &entries[path[leaf as usize]];
        Self {
            position,
            line,
            leaf: (leaf, e.line, e.time),
            tail: tail_of_conversation(session),
        }
    }

    fn keeps(&self, session: &Session, index: EntryIx, e: &Entry) -> bool {
        let (leaf_position, leaf_line, leaf_time) = self.leaf;
        // Copies of one entry stay or are removed together.
        let index = session.graph().known_as(session.entries(), index);
        if self.tail.contains(&index) {
            return false;
        }
        match session.graph().place(index) {
            Standing::Path(p) | Standing::Beside(p) => p < self.position,
            // Clients would take a branch that is newer than the cut for the conversation.
            Standing::Branch(p) => p < leaf_position && e.line < leaf_line && e.time < leaf_time,
            Standing::Apart => e.line < self.line && (e.flags.sidechain() || e.time < leaf_time),
            Standing::Metadata => self.keeps_metadata(session, e),
        }
    }

    fn keeps_metadata(&self, session: &Session, e: &Entry) -> bool {
        let named = e.refers_to.some().and_then(|id| session.find(id));
        if let Some(named) = named {
            let target = session.entry(named);
            // A record of an abandoned place would lead clients there once the later records are removed.
            let place = session.graph().place(named);
            if e.kind == Kind::LastPrompt && matches!(place, Standing::Branch(_)) {
                return false;
            }
            return self.keeps(session, named, target);
        }
        match e.kind {
            // A person chose it.
            Kind::CustomTitle => true,
            // Between the last answer and the next prompt only that prompt is queued.
            Kind::QueueOperation => e.line < self.leaf.1,
            Kind::Other => e.line < self.line || is_name(session, e),
            _ => e.line < self.line,
        }
    }
}

/// Whether an entry names the session instead of describing its contents.
pub(crate) fn is_name(session: &Session, e: &Entry) -> bool {
    matches!(
        session.string(e, &["type"]).as_deref(),
        Some("agent-name" | "agent-color" | "agent-setting" | "tag")
    )
}

/// Refuses to cut after calls without results: the API does not accept them.
fn refuse_unfinished(session: &Session, at: u32) -> Result<(), Refusal> {
    if !is_unfinished(session, at) {
        return Ok(());
    }
    let count = session.turns().len() as u32;
    let before = (1..at).rev().find(|&n| !is_unfinished(session, n));
    let after = (at + 1..=count).find(|&n| !is_unfinished(session, n));
    Err(Refusal::with(
        RefusalKind::UnfinishedTurn,
        format!(
            "turn {at} is unfinished: it has calls without results, which the model cannot be shown"
        ),
        [before, after].into_iter().flatten().map(Remedy::At),
    ))
}

/// Whether a turn has calls without results.
pub(crate) fn is_unfinished(session: &Session, number: u32) -> bool {
    session.calls().iter().any(|call| {
        let Some(made) = call.uses.first() else {
            return false;
        };
        session.block(made.block).kind == BlockKind::ToolUse
            && call.results.is_empty()
            && session.turns().of(session.graph(), made.entry) == Some(number)
    })
}

/// Returns what a person calls a turn. One whose prompt is not in the file has no number, and is the only one.
pub(crate) fn name_of_turn(number: u32) -> String {
    match number {
        0 => "the last turn".to_owned(),
        number => format!("turn {number}"),
    }
}

/// Records what is removed; messages with an excerpt.
pub(crate) fn note(session: &Session, plan: &mut Plan, index: EntryIx, e: &Entry) {
    let bytes = -(session.text(e).len() as i64 + 1);
    let shown = session.graph().is_shown(index) && e.is_message();
    let gist = crate::view::prompt_text(session, e).unwrap_or_default();
    let what = match e.kind {
        Kind::User if e.prompt != PromptKind::None => ChangeKind::Prompt,
        Kind::User => ChangeKind::Result { tool: None },
        Kind::Assistant => ChangeKind::Answer,
        Kind::System if e.is_boundary() => ChangeKind::Boundary,
        Kind::System => ChangeKind::SystemEntry,
        Kind::Attachment => ChangeKind::Attachment,
        _ => ChangeKind::Metadata,
    };
    plan.note(
        session,
        e,
        Action::Drop,
        what,
        bytes,
        if shown { -(e.content.len() as i64) } else { 0 },
        gist,
    );
}

#[cfg(test)]
mod tests {
    use super::Truncate;
    use crate::session::Session;
    use crate::surgery::Surgery;

    #[test]
    fn truncate_removes_a_queued_prompt_that_a_person_went_back_to() {
        let lines = [
            r#"{"parentUuid":null,"type":"user","message":{"role":"user","content":"first"},"uuid":"p"}"#,
            r#"{"parentUuid":"p","type":"assistant","message":{"id":"m","role":"assistant","content":[{"type":"tool_use","id":"A","name":"Read","input":{}}]},"uuid":"c"}"#,
            r#"{"parentUuid":"c","type":"user","message":{"role":"user","content":"meanwhile"},"uuid":"q"}"#,
            r#"{"parentUuid":"q","type":"user","message":{"role":"user","content":[{"type":"tool_result","tool_use_id":"A","content":"x"}]},"uuid":"r"}"#,
            r#"{"parentUuid":"r","type":"attachment","attachment":{"type":"queued_command","prompt":"queued","commandMode":"prompt"},"uuid":"t"}"#,
            r#"{"parentUuid":"t","type":"user","message":{"role":"user","content":"abandoned"},"uuid":"x"}"#,
            r#"{"type":"last-prompt","leafUuid":"t","explicit":true}"#,
        ];
        let session = Session::from_bytes(lines.join("\n") + "\n");
        let operated = Surgery::on(session)
            .then(Truncate { at: 1.into() })
            .operate();
        let verified = operated.expect("a result").verify().expect("no fault");
        let result = String::from_utf8(verified.to_vec()).expect("UTF-8");
        assert!(result.contains("tool_result"), "{result}");
        assert!(!result.contains("queued"), "{result}");
    }
}
