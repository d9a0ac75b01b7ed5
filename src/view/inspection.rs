//! What fills a session's context window and its file, as data.

use std::path::PathBuf;

use serde::Serialize;

use super::excerpt::entry_label;
use super::fullness::window_limit;
use super::session_text::SessionText;
use super::shown_path;
use super::turn_stats::Growth;
use crate::session::Session;
use crate::window::{Calibration, Category, Large};

/// Tokens of one category.
#[derive(Debug, Clone, Serialize)]
pub struct TokenPart {
    /// The category.
    #[serde(flatten)]
    pub category: Category,
    /// Its tokens in the context window.
    pub tokens: u64,
}

/// Bytes of one category.
#[derive(Debug, Clone, Serialize)]
pub struct BytePart {
    /// The category.
    #[serde(flatten)]
    pub category: Category,
    /// Its bytes in the file.
    pub bytes: u64,
}

/// What fills the context window, and how well that is known.
#[derive(Debug, Clone, Serialize)]
pub struct WindowUse {
    /// Tokens at the next request.
    pub tokens: u64,
    /// Tokens that fit into it.
    pub limit: u64,
    /// Tokens that Claude Code recorded at the last request.
    pub recorded: Option<u64>,
    /// The estimate for the same request.
    pub estimated: Option<u64>,
    /// By which share the estimate is off.
    pub error: Option<f64>,
    /// The ratio that estimates use.
    pub bytes_per_token: f64,
    /// Whether the ratio was measured on this session.
    pub measured: bool,
    /// How many requests have a record.
    pub records: usize,
    /// What fills it.
    pub parts: Vec<TokenPart>,
}

impl WindowUse {
    /// Describes the context window.
    pub fn new(calibration: &Calibration, parts: Vec<(Category, u64)>, growth: &[Growth]) -> Self {
        let most = growth.iter().filter_map(|g| g.window_tokens).max();
        let most = most.unwrap_or(0).max(calibration.window());
        let part = |(category, tokens)| TokenPart { category, tokens };
        Self {
            tokens: calibration.window(),
            limit: window_limit(None, most),
            recorded: calibration.recorded,
            estimated: calibration.estimated,
            error: calibration.error(),
            bytes_per_token: calibration.bytes_per_token,
            measured: calibration.measured,
            records: calibration.records,
            parts: parts.into_iter().map(part).collect(),
        }
    }
}

/// What fills the file.
#[derive(Debug, Clone, Serialize)]
pub struct FileUse {
    /// Its size.
    pub bytes: u64,
    /// Bytes of lines that the model is not shown.
    pub not_shown: u64,
    /// What fills it.
    pub parts: Vec<BytePart>,
}

impl FileUse {
    /// Describes the file.
    pub fn new(bytes: u64, not_shown: u64, parts: Vec<(Category, u64)>) -> Self {
        let part = |(category, bytes)| BytePart { category, bytes };
        Self {
            bytes,
            not_shown,
            parts: parts.into_iter().map(part).collect(),
        }
    }
}

/// One of the largest entries.
#[derive(Debug, Clone, Serialize)]
pub struct LargeEntry {
    /// Its line, from 1.
    pub line: u32,
    /// Its uuid.
    pub uuid: Option<String>,
    /// Its turn; 0 before the first prompt, `None` off the live path.
    pub turn: Option<u32>,
    /// What most of it is.
    pub part: Category,
    /// The bytes of its line.
    pub bytes: u64,
    /// Its tokens in the context window; 0 if it is not shown.
    pub tokens: u64,
    /// Text by which a person recognises it.
    pub gist: SessionText,
}

impl LargeEntry {
    /// Describes an entry.
    pub fn new(session: &Session, large: Large) -> Self {
        let e = session.entry(large.entry);
        Self {
            line: e.line.from_one(),
            uuid: session.uuid(e),
            turn: large.turn,
            part: large.part,
            bytes: large.bytes,
            tokens: large.tokens,
            gist: entry_label(session, e),
        }
    }
}

/// An operation that would free some of the context window or the file.
#[derive(Debug, Clone, Serialize)]
pub struct Suggestion {
    /// The command.
    pub command: String,
    /// Tokens that it would remove from the context window.
    pub tokens: u64,
    /// Bytes that it would remove from the file; negative if the file would grow.
    pub bytes: i64,
    /// What it does to the conversation.
    #[serde(skip)]
    pub what: String,
}

/// What fills a session.
#[derive(Debug, Clone, Serialize)]
pub struct Inspection {
    /// Version of this document's form.
    pub schema: u32,
    /// The session's id.
    pub session_id: String,
    /// The transcript.
    #[serde(serialize_with = "shown_path")]
    pub path: PathBuf,
    /// Its title or first prompt.
    pub title: SessionText,
    /// How many turns.
    pub turns: u64,
    /// How many entries.
    pub entries: u64,
    /// How often the live path was compacted.
    pub compactions: u64,
    /// Whether there are abandoned branches.
    pub has_branches: bool,
    /// The context window.
    pub window: WindowUse,
    /// The file.
    pub file: FileUse,
    /// The largest entries: those that take most of the context window first, then those that take most of the file.
    pub largest: Vec<LargeEntry>,
    /// The context window at each turn.
    pub growth: Vec<Growth>,
    /// What would free some of it.
    pub operations: Vec<Suggestion>,
}
