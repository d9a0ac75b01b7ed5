//! A conversation as a person reads it: turns with prompts, answers, thinking, calls, results and media.
//!
//! `show` lays it out for a terminal, and exports are made of it.

use serde::Serialize;

use super::SCHEMA;
use super::branches::{branch_entries, sidechain_entries};
use super::items::{TurnItem, add_entry, add_parts, time_text};
use super::overview::Overview;
use super::session_text::SessionText;
use crate::session::{At, Session, Standing};
use crate::transcript::{EntryIx, Kind, PromptKind, Subtype};
use crate::window::{Calibration, EntryWeights, Weight, line_weight, recorded_window};

/// A turn with everything in it that a person reads.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize)]
pub struct TurnContent {
    /// Its number; 0 is what comes before the first prompt.
    pub turn: u32,
    /// When it began.
    pub time: Option<String>,
    /// The same in milliseconds since 1970, for its age.
    #[serde(skip)]
    pub time_ms: Option<i64>,
    /// When its last entry was written.
    pub ended: Option<String>,
    /// The same in milliseconds since 1970.
    #[serde(skip)]
    pub ended_ms: Option<i64>,
    /// The model that answered last in it.
    pub model: Option<SessionText>,
    /// Estimated tokens of its messages; `None` if they were not estimated.
    pub tokens: Option<u64>,
    /// Tokens in the context window at its last request, as recorded.
    pub window_tokens: Option<u64>,
    /// Whether the model is still shown it.
    pub shown: bool,
    /// The items in the order of the conversation, each call followed by its result.
    pub items: Vec<TurnItem>,
}

/// Some turns of a session, of a branch, or of a subagent.
#[derive(Debug, Clone, Serialize)]
pub struct Conversation {
    /// Version of this document's form.
    pub schema: u32,
    /// The session's id.
    pub session_id: String,
    /// Its title or first prompt.
    pub title: SessionText,
    /// The folder in which it was held.
    pub project: Option<SessionText>,
    /// The uuid of the branch's first entry, if this is an abandoned branch.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub branch: Option<String>,
    /// The subagent's id, if this is its conversation.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub agent_id: Option<String>,
    /// Tokens in the context window of the session at the next request.
    pub tokens: u64,
    /// How many turns are in the document.
    pub turns: u64,
    /// The turns.
    pub turn_contents: Vec<TurnContent>,
}

impl TurnContent {
    /// Returns the turns `from` to `to` of the live path, both included, in one pass over the entries.
    pub fn of(session: &Session, from: u32, to: u32) -> Vec<Self> {
        let members = live_members(session, from, to);
        grouped(session, &members, from, to)
    }

    /// Returns what some entries hold, as a part of this turn.
    pub fn of_entries(session: &Session, turn: u32, entries: &[EntryIx]) -> Self {
        let mut content = Self::empty(turn);
        for &i in entries {
            content.add(session, i);
        }
        content.finish()
    }

    /// Returns one block of an entry, as a part of this turn; a call comes with its result.
    pub fn of_block(session: &Session, turn: u32, at: At) -> Self {
        let mut content = Self::empty(turn);
        let e = session.entry(at.entry);
        if e.time != i64::MIN {
            content.time_ms = Some(e.time);
        }
        content.shown = session.graph().is_shown(at.entry);
        let block = session.block(at.block);
        add_parts(session, e, Some(block), &mut content.items);
        content.finish()
    }

    fn empty(turn: u32) -> Self {
        Self {
            turn,
            ..Self::default()
        }
    }

    fn add(&mut self, session: &Session, i: EntryIx) {
        let e = session.entry(i);
        self.shown |= session.graph().is_shown(i);
        if e.time != i64::MIN {
            self.time_ms = Some(self.time_ms.map_or(e.time, |t| t.min(e.time)));
            self.ended_ms = Some(self.ended_ms.map_or(e.time, |t| t.max(e.time)));
        }
        if e.kind == Kind::Assistant && !e.flags.synthetic() {
            let model = session.string(e, &["message", "model"]);
            self.model = model.map(SessionText::from).or(self.model.take());
            self.window_tokens = recorded_window(session, e).or(self.window_tokens);
        }
        add_entry(session, e, &mut self.items);
    }

    fn finish(mut self) -> Self {
        self.time = self.time_ms.and_then(time_text);
        self.ended = self.ended_ms.and_then(time_text);
        self
    }
}

impl Conversation {
    /// Returns the turns `from` to `to` of the live path, both included; 0 is what comes before the first prompt.
    pub fn of(session: &Session, session_id: &str, from: u32, to: u32) -> Self {
        let members = live_members(session, from, to);
        let weights = EntryWeights::of(session);
        let calibration = Calibration::by(session, &weights);
        let mut contents = grouped(session, &members, from, to);
        let mut sums = vec![Weight::default(); contents.len()];
        for &(turn, i) in &members {
            sums[(turn - from) as usize] += weights.weight(i);
        }
        for (content, sum) in contents.iter_mut().zip(sums) {
            content.tokens = Some(calibration.tokens(sum).max(0.0) as u64);
        }
        contents.retain(|c| c.turn > 0 || !c.items.is_empty());
        Self::new(session, session_id, calibration.window(), contents)
    }

    /// Returns the abandoned branch to which an entry belongs; `None` if the entry is on the live path.
    ///
    /// Its turns are numbered from the turn after which it leaves the live path.
    pub fn of_branch(session: &Session, session_id: &str, entry: EntryIx) -> Option<Self> {
        let entries = branch_entries(session, entry)?;
        let root = *entries.first()?;
        let after = match session.graph().place(root) {
            Standing::Branch(position) => session.turns().at_position(position),
            _ => 0,
        };
        let calibration = Calibration::of(session);
        let mut contents = split(session, &entries, after, |contents, i| {
            let weight = line_weight(session.text(session.entry(i)));
            let tokens = calibration.tokens(weight).max(0.0) as u64;
            contents.tokens = Some(contents.tokens.unwrap_or(0) + tokens);
        });
        contents.retain(|c| !c.items.is_empty());
        let branch = session.uuid(session.entry(root));
        Some(Self {
            branch,
            ..Self::new(session, session_id, calibration.window(), contents)
        })
    }

    /// Returns the conversation of a subagent from its own transcript, or from its entries inside the transcript of the
    /// session that started it; `None` if there are none.
    pub fn of_subagent(session: &Session, session_id: &str, agent_id: &str) -> Option<Self> {
        let entries = sidechain_entries(session, agent_id);
        let mut contents = split(session, &entries, 0, |_, _| {});
        contents.retain(|c| !c.items.is_empty());
        let tokens = contents.iter().rev().find_map(|c| c.window_tokens);
        (!contents.is_empty()).then(|| Self {
            agent_id: Some(agent_id.to_owned()),
            ..Self::new(session, session_id, tokens.unwrap_or(0), contents)
        })
    }

    fn new(session: &Session, session_id: &str, tokens: u64, contents: Vec<TurnContent>) -> Self {
        let overview = Overview::of(session);
        Self {
            schema: SCHEMA,
            session_id: session_id.to_owned(),
            title: overview.name(),
            project: overview.cwd.map(SessionText::from),
            branch: None,
            agent_id: None,
            tokens,
            turns: contents.iter().filter(|c| c.turn > 0).count() as u64,
            turn_contents: contents,
        }
    }
}

/// Returns the entries of some turns of the live path with their turns, in the order of the conversation.
pub(crate) fn live_members(session: &Session, from: u32, to: u32) -> Vec<(u32, EntryIx)> {
    let (graph, turns) = (session.graph(), session.turns());
    let mut members: Vec<(u32, EntryIx)> = Vec::new();
    for i in session.numbers() {
        if let Standing::Path(p) | Standing::Beside(p) = graph.place(i)
            && (from..=to).contains(&turns.at_position(p))
        {
            members.push((p, i));
        }
    }
    members.sort_unstable();
    let turn = |(position, i)| (turns.at_position(position), i);
    members.into_iter().map(turn).collect()
}

fn grouped(session: &Session, members: &[(u32, EntryIx)], from: u32, to: u32) -> Vec<TurnContent> {
    let mut out: Vec<TurnContent> = (from..=to).map(TurnContent::empty).collect();
    for &(turn, i) in members {
        out[(turn - from) as usize].add(session, i);
    }
    out.into_iter().map(TurnContent::finish).collect()
}

/// Makes turns of entries that are not on the live path: each prompt begins one. `count` is called with each entry.
fn split(
    session: &Session,
    entries: &[EntryIx],
    first: u32,
    mut count: impl FnMut(&mut TurnContent, EntryIx),
) -> Vec<TurnContent> {
    let mut out = vec![TurnContent::empty(first)];
    for &i in entries {
        let e = session.entry(i);
        let begins = matches!(e.prompt, PromptKind::Words | PromptKind::Command)
            || e.subtype == Subtype::QueuedCommand;
        if begins {
            out.push(TurnContent::empty(first + out.len() as u32));
        }
        if let Some(content) = out.last_mut() {
            content.add(session, i);
            count(content, i);
        }
    }
    out.into_iter().map(TurnContent::finish).collect()
}

#[cfg(test)]
mod tests {
    use super::super::items::ItemContent;
    use super::*;

    fn line(uuid: &str, parent: &str, more: &str) -> String {
        let parent = match parent {
            "" => "null".to_owned(),
            parent => format!("\"{parent}\""),
        };
        format!(
            r#"{{"parentUuid":{parent},{more},"uuid":"{uuid}","timestamp":"2026-01-02T03:04:05.000Z"}}"#
        )
    }

    fn user(text: &str) -> String {
        format!(r#""type":"user","message":{{"role":"user","content":"{text}"}}"#)
    }

    fn answer(text: &str) -> String {
        format!(
            r#""type":"assistant","message":{{"role":"assistant","model":"m","content":[{{"type":"text","text":"{text}"}}]}}"#
        )
    }

    fn texts(conversation: &Conversation) -> Vec<(u32, String)> {
        let items = conversation.turn_contents.iter();
        let items = items.flat_map(|c| c.items.iter().map(move |i| (c.turn, i)));
        items
            .filter_map(|(turn, item)| match &item.content {
                ItemContent::Prompt { text } | ItemContent::Answer { text } => {
                    Some((turn, text.raw().to_owned()))
                }
                _ => None,
            })
            .collect()
    }

    #[test]
    fn conversation_of_a_branch_is_numbered_after_the_turn_it_leaves() {
        let lines = [
            line("a", "", &user("one")),
            line("b", "a", &answer("first")),
            line("c", "b", &user("abandoned")),
            line("d", "c", &answer("lost")),
            line("e", "b", &user("two")),
            line("f", "e", &answer("second")),
        ];
        let session = Session::from_bytes(lines.join("\n"));
        let live = Conversation::of(&session, "s", 0, 2);
        let owned = |texts: &[(u32, &str)]| -> Vec<(u32, String)> {
            texts.iter().map(|(n, t)| (*n, (*t).to_owned())).collect()
        };
        assert_eq!(
            texts(&live),
            owned(&[(1, "one"), (1, "first"), (2, "two"), (2, "second")])
        );
        let branch = Conversation::of_branch(&session, "s", EntryIx::new(3)).unwrap();
        assert_eq!(texts(&branch), owned(&[(2, "abandoned"), (2, "lost")]));
        assert_eq!((branch.branch.as_deref(), branch.turns), (Some("c"), 1));
        assert!(Conversation::of_branch(&session, "s", EntryIx::new(0)).is_none());
    }

    #[test]
    fn conversation_of_a_subagent_is_read_from_its_own_transcript() {
        let of_agent = |text: String| format!(r#""isSidechain":true,"agentId":"a1",{text}"#);
        let lines = [
            line("a", "", &of_agent(user("look"))),
            line("b", "a", &of_agent(answer("found"))),
        ];
        let session = Session::from_bytes(lines.join("\n"));
        let agent = Conversation::of_subagent(&session, "s", "a1").unwrap();
        assert_eq!(
            texts(&agent),
            [(1, "look".to_owned()), (1, "found".to_owned())]
        );
        assert!(Conversation::of_subagent(&session, "s", "other").is_none());
    }
}
