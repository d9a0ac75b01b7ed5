//! A session as a row of a list.

use std::time::SystemTime;

use serde::Serialize;

use super::call_summary::CallSummary;
use super::session_text::SessionText;
use super::status::State;
use super::{SCHEMA, shown_path};

/// What a list shows of a session.
#[derive(Debug, Clone, Serialize)]
pub struct SessionRow {
    /// The id.
    pub session_id: String,
    /// The shortest beginning of the id that no other session of the list has.
    pub short_id: String,
    /// The transcript.
    #[serde(serialize_with = "shown_path")]
    pub path: std::path::PathBuf,
    /// The folder in which it was held.
    pub project: Option<String>,
    /// The title.
    pub title: Option<SessionText>,
    /// The first prompt.
    pub first_prompt: Option<SessionText>,
    /// How many turns, if it was read fully.
    pub turns: Option<u64>,
    /// How many compactions, if it was read fully.
    pub compactions: Option<u64>,
    /// Tokens in the context window.
    pub tokens: u64,
    /// Whether Claude Code recorded that number; otherwise it is an estimate.
    pub tokens_recorded: bool,
    /// Tokens that fit into the context window.
    pub tokens_limit: u64,
    /// Size of the transcript.
    pub bytes: u64,
    /// When it was written last.
    pub modified: Option<String>,
    /// The same, for its age.
    #[serde(skip)]
    pub modified_at: SystemTime,
    /// When Claude Code will delete it because of its age, if ever.
    pub expires: Option<String>,
    /// The same, for comparing.
    #[serde(skip)]
    pub expires_at: Option<SystemTime>,
    /// The git branch that was checked out last.
    pub branch: Option<SessionText>,
    /// The version of Claude Code that wrote last.
    pub version: Option<SessionText>,
    /// The model that answered last.
    pub model: Option<SessionText>,
    /// What the session is doing.
    pub state: State,
    /// Whether a running Claude Code has it open.
    pub live: bool,
    /// The process that has it open.
    pub pid: Option<u32>,
    /// The call that has no result yet.
    pub pending_call: Option<CallSummary>,
}

impl SessionRow {
    /// Returns the title, else the first prompt.
    pub fn name(&self) -> SessionText {
        let name = self.title.as_ref().or(self.first_prompt.as_ref());
        name.cloned().unwrap_or_else(|| "(no prompt)".into())
    }
}

/// A list of sessions.
#[derive(Debug, Clone, Serialize)]
pub struct SessionList {
    /// Version of this document's form.
    pub schema: u32,
    /// The sessions.
    pub sessions: Vec<SessionRow>,
    /// What could not be read, and why.
    pub warnings: Vec<String>,
}

impl From<Vec<SessionRow>> for SessionList {
    fn from(sessions: Vec<SessionRow>) -> Self {
        Self {
            schema: SCHEMA,
            sessions,
            warnings: Vec::new(),
        }
    }
}
