//! The subagents that a session started.

use std::path::PathBuf;

use rustc_hash::{FxHashMap, FxHashSet};
use serde::{Serialize, Serializer};

use super::SCHEMA;
use super::excerpt::words_of;
use super::overview::{prompt_as_typed, prompt_text};
use super::session_text::SessionText;
use crate::json::lookup;
use crate::session::Session;
use crate::transcript::{BlockKind, Entry, EntryIx, Flags};

/// A subagent's transcript on the disk.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct AgentFile {
    /// The subagent's id, from the file's name.
    pub agent_id: String,
    /// The transcript.
    pub path: PathBuf,
    /// Its size.
    pub bytes: u64,
}

/// A subagent.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Subagent {
    /// Its id. A subagent of an old client has none; it is named by the uuid of its first entry.
    pub agent_id: String,
    /// The turn that started it; `None` if no call on the live path did.
    pub turn: Option<u32>,
    /// The id of the call that started it.
    pub call_id: Option<SessionText>,
    /// What kind of subagent it is.
    pub agent_type: SessionText,
    /// What it was started for, in a few words, else its prompt.
    pub description: SessionText,
    /// The size of its transcript; `None` if there is none to read.
    pub bytes: Option<u64>,
    /// Its own transcript; `None` if its entries are in the session's transcript, or nowhere.
    #[serde(serialize_with = "optional_path")]
    pub path: Option<PathBuf>,
}

/// All subagents of a session.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Subagents {
    /// Version of this document's form.
    pub schema: u32,
    /// The session's id.
    pub session_id: String,
    /// The subagents, in the order in which they were started.
    pub subagents: Vec<Subagent>,
}

impl Subagents {
    /// Collects the subagents of a session; `files` are the transcripts of subagents that belong to it.
    pub fn of(session: &Session, session_id: &str, files: &[AgentFile]) -> Self {
        let mut subagents = started(session);
        let mut places: FxHashMap<String, usize> = FxHashMap::default();
        for (place, agent) in subagents.iter().enumerate() {
            places.entry(agent.agent_id.clone()).or_insert(place);
        }
        let mut add = |agent: Subagent, subagents: &mut Vec<Subagent>| {
            let place = *places.entry(agent.agent_id.clone()).or_insert_with(|| {
                subagents.push(Subagent {
                    bytes: None,
                    path: None,
                    ..agent.clone()
                });
                subagents.len() - 1
            });
            let known = &mut subagents[place];
            known.bytes = Some(known.bytes.unwrap_or(0) + agent.bytes.unwrap_or(0));
            known.path = agent.path.or(known.path.take());
            if known.description.is_empty() {
                known.description = agent.description;
            }
        };
        for agent in inside(session) {
            add(agent, &mut subagents);
        }
        for file in files {
            let agent = Subagent {
                bytes: Some(file.bytes),
                path: Some(file.path.clone()),
                ..unknown(file.agent_id.clone())
            };
            add(agent, &mut subagents);
        }
        Self {
            schema: SCHEMA,
            session_id: session_id.to_owned(),
            subagents,
        }
    }

    /// Finds the subagent with this id, or with the only id that begins with it.
    pub fn find(&self, id: &str) -> Option<&Subagent> {
        let exact = self.subagents.iter().find(|a| a.agent_id == id);
        let mut beginning = self
            .subagents
            .iter()
            .filter(|a| !id.is_empty() && a.agent_id.starts_with(id));
        exact.or_else(|| beginning.next().filter(|_| beginning.next().is_none()))
    }
}

fn unknown(agent_id: String) -> Subagent {
    Subagent {
        agent_id,
        turn: None,
        call_id: None,
        agent_type: SessionText::default(),
        description: SessionText::default(),
        bytes: None,
        path: None,
    }
}

/// Returns the subagents that results of calls name.
fn started(session: &Session) -> Vec<Subagent> {
    let named = session.entries_with(Flags::agent);
    let named = named.filter_map(|(i, e)| {
        let kept = e.result.of(session.text(e));
        let agent_id = Some(words_of(kept, "agentId")).filter(|id| !id.is_empty())?;
        let agent = Subagent {
            turn: session.turns().of(session.graph(), i),
            agent_type: words_of(kept, "agentType").into(),
            ..unknown(agent_id)
        };
        Some(with_call(session, e, agent))
    });
    let mut seen = FxHashSet::default();
    named
        .filter(|agent| seen.insert(agent.agent_id.clone()))
        .collect()
}

/// Adds what the call of a result tells about its subagent.
fn with_call(session: &Session, result: &Entry, agent: Subagent) -> Subagent {
    let blocks = session.blocks(result).iter();
    let mut results = blocks.filter(|b| b.kind == BlockKind::ToolResult);
    let call = results.find_map(|b| session.calls().of(b)?.uses.first().copied());
    let Some(at) = call else {
        return agent;
    };
    let line = session.text(session.entry(at.entry));
    let raw = session.block(at.block).span.of(line);
    let input = lookup(raw, &["input"]).map_or(&[][..], |s| s.of(raw));
    let given = words_of(input, "subagent_type");
    Subagent {
        call_id: Some(words_of(raw, "id").into()),
        description: words_of(input, "description").into(),
        agent_type: if given.is_empty() {
            agent.agent_type
        } else {
            given.into()
        },
        ..agent
    }
}

/// Returns the subagents whose entries are in the session's own transcript, with the bytes of each.
fn inside(session: &Session) -> Vec<Subagent> {
    let mut ids: FxHashMap<EntryIx, String> = FxHashMap::default();
    let mut places: FxHashMap<String, usize> = FxHashMap::default();
    let mut out: Vec<Subagent> = Vec::new();
    for (i, e) in session.entries_with(Flags::sidechain) {
        let parent = session.graph().parent(i);
        let own_id = session.string(e, &["agentId"]);
        let inherited = || parent.and_then(|p| ids.get(&p).cloned());
        let id = own_id.or_else(inherited).or_else(|| session.uuid(e));
        let Some(id) = id else { continue };
        ids.insert(i, id.clone());
        let place = *places.entry(id.clone()).or_insert_with(|| {
            out.push(Subagent {
                bytes: Some(0),
                ..unknown(id)
            });
            out.len() - 1
        });
        let agent = &mut out[place];
        let size = session.document().lines()[e.line].len() as u64 + 1;
        agent.bytes = Some(agent.bytes.unwrap_or(0) + size);
        if agent.description.is_empty()
            && let Some(text) = prompt_text(session, e)
        {
            agent.description = prompt_as_typed(&text).into();
        }
    }
    out
}

#[allow(clippy::ref_option, reason = "the signature that serde asks for")]
fn optional_path<S: Serializer>(path: &Option<PathBuf>, serializer: S) -> Result<S::Ok, S::Error> {
    match path {
        Some(path) => super::shown_path(path, serializer),
        None => serializer.serialize_none(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn subagents_are_listed_with_the_call_that_started_them() {
        let lines = [
            r#"{"parentUuid":null,"type":"user","message":{"role":"user","content":"go"},"uuid":"a"}"#,
            r#"{"parentUuid":"a","type":"assistant","message":{"id":"m","role":"assistant","content":[{"type":"tool_use","id":"toolu_1","name":"Task","input":{"description":"Look around","subagent_type":"Explore","prompt":"p"}}]},"uuid":"b"}"#,
            r#"{"parentUuid":"b","type":"user","message":{"role":"user","content":[{"type":"tool_result","tool_use_id":"toolu_1","content":"done"}]},"toolUseResult":{"agentId":"a36efb2a"},"uuid":"c"}"#,
        ];
        let session = Session::from_bytes(lines.join("\n"));
        let file = |id: &str| AgentFile {
            agent_id: id.to_owned(),
            path: format!("/c/agent-{id}.jsonl").into(),
            bytes: 7,
        };
        let all = Subagents::of(&session, "s", &[file("a36efb2a"), file("a36zzz")]);
        let first = all.find("a36e").unwrap();
        assert_eq!((first.turn, first.bytes), (Some(1), Some(7)));
        assert_eq!(first.description.raw(), "Look around");
        assert_eq!(first.agent_type.raw(), "Explore");
        assert_eq!(all.subagents[1].turn, None);
        assert!(all.find("a36").is_none());
    }
}
