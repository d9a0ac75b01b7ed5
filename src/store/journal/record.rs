//! The record of one operation.

use std::path::PathBuf;
use std::time::SystemTime;

use serde::{Deserialize, Serialize};

use crate::store::fs::FileState;

/// How far an operation has come.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
#[allow(missing_docs)]
pub enum State {
    Prepared,
    Committed,
    Undoing,
    Undone,
    Redoing,
}

impl State {
    /// Whether a process is at it, or was killed while it was.
    pub fn is_under_way(self) -> bool {
        matches!(self, Self::Prepared | Self::Undoing | Self::Redoing)
    }
}

/// A file whose bytes were replaced.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Replaced {
    /// The file.
    pub path: PathBuf,
    /// Its old bytes, in the operation's folder.
    pub backup: PathBuf,
    /// What it was.
    pub before: FileState,
    /// What it became.
    pub after: Option<FileState>,
}

/// The record of one operation.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Operation {
    /// Its name: the time and a few letters.
    pub id: String,
    /// When, in RFC 3339.
    pub time: String,
    /// `clone`, `strip-thinking`, …
    pub operation: String,
    /// The command line.
    pub command: Vec<String>,
    /// The session that was operated on.
    pub source: PathBuf,
    /// The id of that session.
    pub source_id: String,
    /// The session that resulted.
    pub target: PathBuf,
    /// The id of that session.
    pub target_id: String,
    /// How far it came.
    pub state: State,
    /// The process that does it.
    pub pid: u32,
    /// When that process started, to tell it from another with its number.
    pub pid_start: Option<String>,
    /// Files that did not exist before, in the order in which they are made; the transcript is last.
    pub created: Vec<PathBuf>,
    /// Folders that did not exist before.
    pub created_dirs: Vec<PathBuf>,
    /// What the created files became.
    #[serde(default)]
    pub created_states: Vec<FileState>,
    /// Files whose bytes were replaced.
    #[serde(default)]
    pub replaced: Vec<Replaced>,
    /// When its state last changed.
    #[serde(default)]
    pub changed: String,
    /// How many ids were renamed.
    #[serde(default)]
    pub renamed: usize,
}

impl Operation {
    /// A fresh name for an operation that starts at `now`, sorted by time, and that time.
    pub fn name(now: SystemTime) -> (String, String) {
        let time = jiff::Timestamp::try_from(now).unwrap_or(jiff::Timestamp::UNIX_EPOCH);
        let letters = &uuid::Uuid::new_v4().simple().to_string()[..4];
        let stamp = time.strftime("%Y%m%d-%H%M%S%3f");
        (
            format!("{stamp}-{letters}"),
            time.strftime("%Y-%m-%dT%H:%M:%SZ").to_string(),
        )
    }
}
