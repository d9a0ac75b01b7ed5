//! What was found, and where in the session it is.

use std::ops::Range;
use std::path::PathBuf;

use serde::{Serialize, Serializer};

use crate::secrets::mask;
use crate::session::{Session, Standing};
use crate::transcript::{Block, Entry, EntryIx, LineState};

use super::super::excerpt::words_of;
use super::super::session_text::{SessionText, is_revealed};
use super::super::{SCHEMA, shown_path};
use super::text_kind::TextKind;
use super::transcript::Match;

/// A line of a text, and which parts of it are secret. Serialized, they are masked.
#[derive(Clone, PartialEq, Eq, Default)]
pub struct HitText {
    line: SessionText,
    secrets: Vec<Range<usize>>,
}

impl HitText {
    /// Takes a line and the ranges of it that are secret.
    pub(super) fn new(line: &str, secrets: Vec<Range<usize>>) -> Self {
        Self {
            line: line.into(),
            secrets,
        }
    }

    /// Returns the line as it is, for code that processes it. Never print it.
    pub fn raw(&self) -> &str {
        self.line.raw()
    }

    /// Returns the line with its secrets masked. It is not safe for a terminal yet.
    pub fn masked(&self) -> SessionText {
        let line = self.raw();
        let (mut out, mut kept) = (String::new(), 0);
        for secret in &self.secrets {
            // Secrets never overlap; the check keeps a mistake there from ending the program.
            out.push_str(line.get(kept..secret.start).unwrap_or_default());
            out.push_str("[masked]");
            kept = secret.end;
        }
        out.push_str(line.get(kept..).unwrap_or_default());
        mask(&out).into_owned().into()
    }
}

impl std::fmt::Debug for HitText {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        self.line.fmt(f)
    }
}

impl Serialize for HitText {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        if is_revealed() {
            serializer.serialize_str(self.raw())
        } else {
            serializer.serialize_str(self.masked().raw())
        }
    }
}

/// Where a text is, as the model sees it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum Whereabouts {
    /// In the context window.
    Shown,
    /// On the live path, but no longer in the context window.
    Hidden,
    /// On a branch that was abandoned.
    Abandoned,
    /// In the conversation of a subagent.
    Subagent,
}

/// A line of a session's text that matches.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Hit {
    /// What the text is.
    pub kind: TextKind,
    /// The tool, if the text is of a call or of its result.
    pub tool: Option<SessionText>,
    /// The call's id, if the text is of a call or of its result.
    pub call_id: Option<SessionText>,
    /// The turn that it is in; `None` if it is not on the live path.
    pub turn: Option<u32>,
    /// Where it is.
    pub standing: Whereabouts,
    /// The subagent, if it is in the transcript of one.
    pub agent_id: Option<String>,
    /// The entry's uuid.
    pub uuid: Option<String>,
    /// The entry's line in the file, from 1.
    pub line: u64,
    /// The line of the text.
    pub text: HitText,
}

impl Hit {
    /// Returns the hits of a session; `agent` is the subagent whose transcript it is.
    pub fn all(session: &Session, matches: Vec<Match>, agent: Option<&str>) -> Vec<Self> {
        let lines = session.document().lines();
        let line_at = |offset: usize| {
            lines.binary_search_by_key(&Some(offset as u64), |line| line.start_in_file())
        };
        let hits = matches.into_iter().filter_map(|found| {
            let line = line_at(found.offset).ok()?;
            let LineState::Entry(number) = session.lines()[line] else {
                return None;
            };
            Some(Self::of(session, number, found, agent))
        });
        hits.collect()
    }

    pub(super) fn of(
        session: &Session,
        number: EntryIx,
        found: Match,
        agent: Option<&str>,
    ) -> Self {
        let entry = session.entry(number);
        let block = found.block.map(|b| &session.blocks(entry)[b]);
        let block = block.filter(|b| b.kind.is_call() || b.kind.is_result());
        let place = session.graph().place(number);
        let standing = match place {
            _ if agent.is_some() || entry.flags.sidechain() => Whereabouts::Subagent,
            Standing::Branch(_) | Standing::Apart => Whereabouts::Abandoned,
            _ if session.graph().is_shown(number) => Whereabouts::Shown,
            _ => Whereabouts::Hidden,
        };
        let turn = match place {
            Standing::Path(p) | Standing::Beside(p) if standing != Whereabouts::Subagent => {
                Some(session.turns().at_position(p))
            }
            _ => None,
        };
        Self {
            kind: found.kind,
            tool: block.and_then(|b| tool(session, entry, b)),
            call_id: block.map(|b| call_id(session, entry, b)),
            turn,
            standing,
            agent_id: agent.map(str::to_owned),
            uuid: session.uuid(entry),
            line: u64::from(entry.line.from_one()),
            text: found.text,
        }
    }
}

/// Returns the tool that a call or a result is of.
fn tool(session: &Session, entry: &Entry, block: &Block) -> Option<SessionText> {
    if block.kind.is_call() {
        return Some(session.tool_name(entry, block).as_ref().into());
    }
    let at = session.calls().of(block)?.uses.first()?;
    let entry = session.entry(at.entry);
    let name = session.tool_name(entry, session.block(at.block));
    Some(name.as_ref().into())
}

fn call_id(session: &Session, entry: &Entry, block: &Block) -> SessionText {
    let raw = block.span.of(session.text(entry));
    let key = if block.kind.is_call() {
        "id"
    } else {
        "tool_use_id"
    };
    words_of(raw, key).into()
}

/// A session in which something was found.
#[derive(Debug, Clone, Serialize)]
pub struct FoundSession {
    /// The session's id.
    pub session_id: String,
    /// The transcript.
    #[serde(serialize_with = "shown_path")]
    pub path: PathBuf,
    /// The folder in which it was held.
    pub project: Option<String>,
    /// Its title, or its first prompt.
    pub title: SessionText,
    /// How many lines match.
    pub matches: u64,
    /// The first of them.
    pub hits: Vec<Hit>,
}

/// Everything that was found.
#[derive(Debug, Clone, Serialize)]
pub struct SearchReport {
    /// Version of this document's form.
    pub schema: u32,
    /// The pattern.
    pub pattern: String,
    /// How many sessions were searched.
    pub searched: u64,
    /// How many lines match in all sessions.
    pub matches: u64,
    /// The sessions in which something was found.
    pub sessions: Vec<FoundSession>,
}

impl SearchReport {
    /// Collects what was found.
    pub fn new(pattern: &str, searched: u64, sessions: Vec<FoundSession>) -> Self {
        Self {
            schema: SCHEMA,
            pattern: pattern.to_owned(),
            searched,
            matches: sessions.iter().map(|s| s.matches).sum(),
            sessions,
        }
    }
}
