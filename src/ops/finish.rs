//! What every result needs at its end: the leaf named once more, and the title where the picker looks for it.

use crate::jsonl::encode;
use crate::rewrite::{Action, Place, Plan, Refusal, Transform};
use crate::session::{Glance, Id, Kind, PromptKind, Session};

/// Ends a transcript as clients of all versions need it.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Finish {
    /// A title to give it.
    pub title: Option<String>,
    /// Whether the leaf is named even where no `last-prompt` is left: the original had one.
    pub name_leaf: bool,
}

impl Transform for Finish {
    fn name(&self) -> &'static str {
        "finish"
    }

    fn plan(&self, session: &Session) -> Result<Plan, Refusal> {
        let mut plan = Plan::default();
        drop_offsets(session, &mut plan);
        let id = session_id(session);
        name_leaf(session, &id, self.name_leaf, &mut plan);
        if let Some(title) = &self.title {
            let line = format!(
                r#"{{"type":"custom-title","customTitle":{},"sessionId":{}}}"#,
                encode(title),
                encode(&id)
            );
            plan.note_insert("title", line.len() + 1, 0, title.clone());
            plan.insert_line(Place::End, line);
        }
        Ok(plan)
    }
}

/// The session id as most entries spell it.
fn session_id(session: &Session) -> String {
    let id = session.session_id();
    session
        .entries()
        .iter()
        .find(|e| e.session.is_some() && Some(e.session) == id)
        .and_then(|e| session.string(e, &["sessionId"]))
        .unwrap_or_default()
}

/// Lines that vouch for byte offsets into the transcript fit no other bytes.
fn drop_offsets(session: &Session, plan: &mut Plan) {
    for e in session.entries().iter().filter(|e| e.kind == Kind::Other) {
        if session.string(e, &["type"]).as_deref() == Some("resume-head-vouch") {
            plan.drop_line(e.line);
            plan.note(
                session,
                e,
                Action::Drop,
                "offsets",
                -(session.text(e).len() as i64 + 1),
                0,
                "",
            );
        }
    }
}

/// Where the last of the `last-prompt` entries does not lead to the leaf, a new one does.
///
/// Only sessions that have such entries get one: for others, the last entry is the leaf.
fn name_leaf(session: &Session, id: &str, always: bool, plan: &mut Plan) {
    let Some(leaf) = session.graph().leaf() else {
        return;
    };
    let leaf_entry = &session.entries()[leaf];
    match session
        .entries()
        .iter()
        .rfind(|e| e.kind == Kind::LastPrompt)
    {
        None if !always => return,
        Some(last)
            if last.names != Id::NONE
                && session
                    .graph()
                    .find(last.names)
                    .is_some_and(|n| session.graph().descends(leaf, n)) =>
        {
            return;
        }
        _ => {}
    }
    let Some(uuid) = session.string(leaf_entry, &["uuid"]) else {
        return;
    };
    let prompt = session
        .turns()
        .iter()
        .next_back()
        .map(|t| &session.entries()[t.prompt as usize])
        .filter(|e| e.prompt == PromptKind::Words)
        .and_then(|e| crate::session::prompt_words(session, e))
        .map(|words| {
            format!(
                r#""lastPrompt":{},"#,
                encode(&words.chars().take(200).collect::<String>())
            )
        });
    let line = format!(
        r#"{{"type":"last-prompt",{}"leafUuid":{},"sessionId":{}}}"#,
        prompt.unwrap_or_default(),
        encode(&uuid),
        encode(id)
    );
    plan.note_insert("last prompt", line.len() + 1, 0, "");
    plan.insert_line(Place::End, line);
}

/// The title of a result: the old one, or the first prompt, with the operation's name behind it.
pub fn title_for(glance: &Glance, operation: &str) -> String {
    let name = glance
        .name()
        .split_whitespace()
        .collect::<Vec<_>>()
        .join(" ");
    let mut short: String = name.chars().take(60).collect();
    if short.len() < name.len() {
        short.push('…');
    }
    // "x (clone)" becomes "x (clone 2)", not "x (clone) (clone)".
    if let Some((base, rest)) = short.rsplit_once(&format!(" ({operation}"))
        && let Some(count) = rest.strip_suffix(')')
        && (count.is_empty() || count.trim().parse::<u32>().is_ok())
    {
        let next = count.trim().parse::<u32>().unwrap_or(1) + 1;
        return format!("{base} ({operation} {next})");
    }
    format!("{short} ({operation})")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn titles_count_up() {
        let named = |t: &str| {
            title_for(
                &Glance {
                    title: Some(t.into()),
                    ..Glance::default()
                },
                "clone",
            )
        };
        assert_eq!(named("Fix it"), "Fix it (clone)");
        assert_eq!(named("Fix it (clone)"), "Fix it (clone 2)");
        assert_eq!(named("Fix it (clone 2)"), "Fix it (clone 3)");
        assert_eq!(named("a\n b"), "a b (clone)");
    }
}
