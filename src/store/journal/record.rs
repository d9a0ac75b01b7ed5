//! The record of one operation, as it is kept in `op.json`.

use std::path::PathBuf;
use std::time::SystemTime;

use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};
use uuid::Uuid;

use crate::store::fs::{FileState, path_text};

use super::shared_edit::SharedEdit;

/// The newest form of a record that this program reads.
pub(crate) const VERSION: u32 = 2;

/// The form of records without removed files and edits of shared files, which older programs read as well.
const WITHOUT_REMOVALS: u32 = 1;

/// The progress of an operation.
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
    /// Returns whether a process is working on the operation, or was killed while it did.
    pub fn is_under_way(self) -> bool {
        matches!(self, Self::Prepared | Self::Undoing | Self::Redoing)
    }
}

/// A file whose bytes were replaced. Its old bytes are kept in the operation's folder.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Replaced {
    /// The file.
    #[serde(with = "path_text::one")]
    pub path: PathBuf,
    /// The name of the kept file. Older records have a whole path here, which is wrong once the state folder is moved;
    /// the name always follows from the position in the list, so it is not used.
    #[serde(with = "path_text::one", default)]
    pub backup: PathBuf,
    /// What it was.
    pub before: FileState,
    /// What it became.
    pub after: Option<FileState>,
}

/// A file that was removed. Its bytes are kept in the operation's folder.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Removed {
    /// The file.
    #[serde(with = "path_text::one")]
    pub path: PathBuf,
    /// What it was.
    pub before: FileState,
}

/// The record of one operation.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Operation {
    /// The form of the record.
    #[serde(default = "first_version")]
    pub version: u32,
    /// Its name: the time and a few letters.
    pub id: String,
    /// When it began, in RFC 3339.
    pub time: String,
    /// `clone`, `strip-thinking`, …
    pub operation: String,
    /// The command line.
    pub command: Vec<String>,
    /// The transcript that was operated on.
    #[serde(with = "path_text::one")]
    pub source: PathBuf,
    /// The id of that session.
    pub source_id: String,
    /// The transcript that resulted.
    #[serde(with = "path_text::one")]
    pub target: PathBuf,
    /// The id of that session.
    pub target_id: String,
    /// Its progress.
    pub state: State,
    /// The process that works on it, or worked on it last.
    pub pid: u32,
    /// When that process started, to tell it from a later one with the same number.
    pub pid_start: Option<String>,
    /// Files that did not exist before, in the order in which they are created; the transcript is last.
    #[serde(with = "path_text::list")]
    pub created: Vec<PathBuf>,
    /// Folders that did not exist before.
    #[serde(with = "path_text::list")]
    pub created_dirs: Vec<PathBuf>,
    /// What the created files became.
    #[serde(default)]
    pub created_states: Vec<FileState>,
    /// Files whose bytes were replaced.
    #[serde(default)]
    pub replaced: Vec<Replaced>,
    /// Whether it kept no old bytes on purpose, so that it cannot be undone.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub forgets: bool,
    /// Files that were removed.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub removed: Vec<Removed>,
    /// Folders that were removed because nothing was left in them.
    #[serde(
        default,
        skip_serializing_if = "Vec::is_empty",
        with = "path_text::list"
    )]
    pub removed_dirs: Vec<PathBuf>,
    /// What was changed in files that sessions share.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub shared: Vec<SharedEdit>,
    /// When its state last changed.
    #[serde(default)]
    pub changed: String,
    /// How many ids were renamed.
    #[serde(default)]
    pub renamed: usize,
    /// Fields that this version does not know. They are kept when the record is written again.
    #[serde(flatten)]
    pub other: Map<String, Value>,
}

fn first_version() -> u32 {
    1
}

impl Operation {
    /// Returns an empty operation that begins at `now`. Its name sorts by time; `random` makes it unique.
    pub fn new(now: SystemTime, random: Uuid) -> Self {
        let time = jiff::Timestamp::try_from(now).unwrap_or(jiff::Timestamp::UNIX_EPOCH);
        let letters = &random.simple().to_string()[..4];
        Self {
            version: WITHOUT_REMOVALS,
            id: format!("{}-{letters}", time.strftime("%Y%m%d-%H%M%S%3f")),
            time: time.strftime("%Y-%m-%dT%H:%M:%SZ").to_string(),
            operation: String::new(),
            command: Vec::new(),
            source: PathBuf::new(),
            source_id: String::new(),
            target: PathBuf::new(),
            target_id: String::new(),
            state: State::Prepared,
            pid: 0,
            pid_start: None,
            created: Vec::new(),
            created_dirs: Vec::new(),
            created_states: Vec::new(),
            replaced: Vec::new(),
            forgets: false,
            removed: Vec::new(),
            removed_dirs: Vec::new(),
            shared: Vec::new(),
            changed: String::new(),
            renamed: 0,
            other: Map::new(),
        }
    }

    /// Returns the letters at the end of its name, by which people call it.
    pub fn letters(&self) -> &str {
        self.id.rsplit('-').next().unwrap_or(&self.id)
    }

    /// Returns whether its result is a new session. Otherwise the files that it created are beside one that it rewrote, or
    /// are files that were moved.
    pub(crate) fn makes_session(&self) -> bool {
        !self.created.is_empty() && self.replaced.is_empty() && !self.removes()
    }

    /// Returns the ids of the sessions whose transcripts it changed, the one that resulted first.
    pub fn session_ids(&self) -> Vec<String> {
        let mut ids = vec![self.target_id.clone()];
        let replaced = self.replaced.iter().map(|r| &r.path);
        let removed = self.removed.iter().map(|r| &r.path);
        for path in self.created.iter().chain(replaced).chain(removed) {
            let is_transcript = path.extension().is_some_and(|x| x == "jsonl");
            if let (true, Some(id)) = (is_transcript, path.file_stem().and_then(|s| s.to_str()))
                && !ids.iter().any(|known| known == id)
            {
                ids.push(id.to_owned());
            }
        }
        ids
    }

    /// Returns whether the operation removes files or edits shared ones, which older programs cannot undo.
    pub(crate) fn removes(&self) -> bool {
        !self.removed.is_empty() || !self.removed_dirs.is_empty() || !self.shared.is_empty()
    }

    /// Notes the running process as the one that works on the operation.
    pub(crate) fn claim(&mut self) {
        if self.removes() {
            self.version = VERSION;
        }
        self.pid = std::process::id();
        self.pid_start = crate::store::fs::process_start(self.pid);
    }
}

/// Returns whether a folder's name has the form of an operation's: `20260131-095959123-1a2b`.
pub(crate) fn is_operation_id(name: &str) -> bool {
    let parts: Vec<&str> = name.split('-').collect();
    let digits = |part: &str, len| part.len() == len && part.bytes().all(|b| b.is_ascii_digit());
    match parts[..] {
        [day, time, letters] => {
            digits(day, 8)
                && digits(time, 9)
                && letters.len() == 4
                && letters.bytes().all(|b| b.is_ascii_hexdigit())
        }
        _ => false,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn operation_names_are_recognised() {
        let operation = Operation::new(SystemTime::UNIX_EPOCH, Uuid::nil());
        assert_eq!(operation.id, "19700101-000000000-0000");
        assert_eq!(operation.letters(), "0000");
        assert!(is_operation_id(&operation.id));
        for bad in [
            "",
            "..",
            "notes",
            "../../../victim",
            "19700101-000000000-00/0",
            "1970-1-0",
        ] {
            assert!(!is_operation_id(bad), "{bad}");
        }
    }

    #[test]
    fn record_keeps_unknown_fields() {
        let operation = Operation::new(SystemTime::UNIX_EPOCH, Uuid::nil());
        let mut value = serde_json::to_value(&operation).unwrap();
        value["colour"] = "blue".into();
        let read: Operation = serde_json::from_value(value.clone()).unwrap();
        assert_eq!(serde_json::to_value(&read).unwrap(), value);
    }
}
