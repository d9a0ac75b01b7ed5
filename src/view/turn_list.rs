//! The turns of a session as a list.

use std::path::PathBuf;

use serde::Serialize;

use super::fullness::window_limit;
use super::session_text::SessionText;
use super::turn_stats::TurnStats;
use super::{SCHEMA, shown_path};
use crate::session::Session;
use crate::window::{Calibration, EntryWeights};

/// How often a turn calls a tool.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct ToolCount {
    /// The tool.
    pub tool: SessionText,
    /// How many calls.
    pub count: u32,
}

/// What a list shows of a turn.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[allow(clippy::struct_excessive_bools)]
pub struct TurnRow {
    /// Its number; 0 is what comes before the first prompt.
    pub turn: u32,
    /// When it began.
    pub time: Option<String>,
    /// The same in milliseconds since 1970, for its age.
    #[serde(skip)]
    pub time_ms: Option<i64>,
    /// Its prompt.
    pub prompt: SessionText,
    /// Calls by tool, in the order of their first use.
    pub calls: Vec<ToolCount>,
    /// Entries of the turn.
    pub entries: u32,
    /// Bytes of its lines.
    pub bytes: u64,
    /// Estimated tokens of its messages.
    pub tokens: u64,
    /// Tokens in the context window at its last request, as recorded.
    pub window_tokens: Option<u64>,
    /// Whether the model is still shown it.
    pub shown: bool,
    /// Whether a compaction happened in it.
    pub compacted: bool,
    /// Whether a person interrupted it.
    pub interrupted: bool,
    /// How many calls or requests failed.
    pub failures: u32,
    /// Whether a call has no result, or the model did not answer.
    pub unfinished: bool,
}

/// The turns of a session.
#[derive(Debug, Clone, Serialize)]
pub struct TurnList {
    /// Version of this document's form.
    pub schema: u32,
    /// The session's id.
    pub session_id: String,
    /// The transcript.
    #[serde(serialize_with = "shown_path")]
    pub path: PathBuf,
    /// Tokens in the context window.
    pub tokens: u64,
    /// Whether Claude Code recorded that number; otherwise it is an estimate.
    pub tokens_recorded: bool,
    /// Tokens that fit into the context window.
    pub tokens_limit: u64,
    /// How many turns there are.
    pub turns: u64,
    /// The turns.
    pub turn_rows: Vec<TurnRow>,
}

impl TurnList {
    /// Lists the turns of a session.
    pub fn of(session: &Session, session_id: &str, path: PathBuf) -> Self {
        let weights = EntryWeights::of(session);
        let calibration = Calibration::by(session, &weights);
        let row = |stats: TurnStats| {
            let tokens = calibration.tokens(stats.weight).max(0.0) as u64;
            TurnRow::new(stats, tokens)
        };
        let stats = TurnStats::all(session, &weights);
        let most = stats.iter().filter_map(|s| s.window).max();
        let most = most.unwrap_or(0).max(calibration.window());
        Self {
            schema: SCHEMA,
            session_id: session_id.to_owned(),
            path,
            tokens: calibration.window(),
            tokens_recorded: calibration.recorded.is_some(),
            tokens_limit: window_limit(None, most),
            turns: session.turns().len() as u64,
            turn_rows: stats.into_iter().map(row).collect(),
        }
    }
}

impl TurnRow {
    fn new(stats: TurnStats, tokens: u64) -> Self {
        let time = stats
            .time
            .and_then(|t| jiff::Timestamp::from_millisecond(t).ok());
        let calls = stats.calls.into_iter();
        Self {
            turn: stats.number,
            time: time.map(|t| t.to_string()),
            time_ms: stats.time,
            prompt: stats.prompt,
            calls: calls
                .map(|(tool, count)| ToolCount { tool, count })
                .collect(),
            entries: stats.entries,
            bytes: stats.bytes,
            tokens,
            window_tokens: stats.window,
            shown: stats.shown,
            compacted: stats.compacted,
            interrupted: stats.interrupted,
            failures: stats.errors,
            unfinished: stats.unfinished,
        }
    }
}
