//! What was done, and its way back.
//!
//! Each operation has a folder under `ops` in the state folder: `op.json`, and the old bytes. While
//! an operation, or its way back, is under way, its record says so; see [`super::recover`] for what becomes
//! of one whose process was killed. A folder without a record is nobody's: the record is the first thing
//! that is put there, and the first that is removed.

use std::io::{self, Write as _};
use std::path::{Path, PathBuf};
use std::time::SystemTime;

use serde::{Deserialize, Serialize};

use crate::document::Source;

use super::atomic::{Candidate, PublishError, create_private_dirs};
use super::disk;
use super::sum::Sum;

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

/// What a file was.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct FileState {
    /// The sum of its bytes.
    #[serde(alias = "blake3")]
    pub sum: Sum,
    /// Its size.
    pub len: u64,
    /// When it was last written, in nanoseconds of the epoch.
    #[serde(default)]
    pub modified: Option<u64>,
    /// Its mode, where there are modes.
    #[serde(default)]
    pub mode: Option<u32>,
}

impl FileState {
    /// Reads a file's.
    pub fn of(path: &Path) -> io::Result<Self> {
        let metadata = fs_err::metadata(path)?;
        let source = Source::open(path)?;
        let bytes = source.bytes();
        Self::new(&metadata, Sum::of(bytes), bytes.len() as u64)
    }

    /// That of a file whose bytes are known.
    pub(crate) fn new(metadata: &std::fs::Metadata, sum: Sum, len: u64) -> io::Result<Self> {
        let modified = metadata
            .modified()?
            .duration_since(SystemTime::UNIX_EPOCH)
            .ok();
        #[cfg(unix)]
        let mode = Some(std::os::unix::fs::PermissionsExt::mode(&metadata.permissions()) & 0o7777);
        #[cfg(not(unix))]
        let mode = None;
        Ok(Self {
            sum,
            len,
            modified: modified.and_then(|d| u64::try_from(d.as_nanos()).ok()),
            mode,
        })
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

/// A journal that cannot be read or written.
#[derive(Debug, thiserror::Error)]
#[allow(missing_docs)]
pub enum JournalError {
    #[error("cannot use the journal in `{}`: {source}", folder.display())]
    Io { folder: PathBuf, source: io::Error },
    #[error(transparent)]
    Publish(#[from] PublishError),
    #[error("the journal's record `{}` cannot be read: {source}", path.display())]
    Record {
        path: PathBuf,
        source: serde_json::Error,
    },
}

/// The journal in a state folder.
#[derive(Debug, Clone)]
pub struct Journal {
    root: PathBuf,
}

impl Journal {
    /// The journal in `state`.
    pub fn new(state: impl Into<PathBuf>) -> Self {
        Self { root: state.into() }
    }

    /// Where it is.
    pub fn root(&self) -> &Path {
        &self.root
    }

    /// The folder of one operation.
    pub fn folder(&self, id: &str) -> PathBuf {
        self.root.join("ops").join(id)
    }

    /// Where an operation keeps what could not be read, if there was anything.
    pub fn quarantine(&self, id: &str) -> PathBuf {
        self.folder(id).join("quarantine")
    }

    /// Keeps other runs from publishing until the file is closed.
    pub fn lock(&self) -> Result<std::fs::File, JournalError> {
        create_private_dirs(&self.root)?;
        let path = self.root.join("lock");
        let failed = |source| JournalError::Io {
            folder: self.root.clone(),
            source,
        };
        let mut options = std::fs::OpenOptions::new();
        options.create(true).truncate(false).write(true);
        #[cfg(unix)]
        std::os::unix::fs::OpenOptionsExt::mode(&mut options, 0o600);
        let file = options.open(path).map_err(failed)?;
        file.lock().map_err(failed)?;
        Ok(file)
    }

    /// Writes a record, durably.
    pub fn record(&self, operation: &Operation) -> Result<(), JournalError> {
        Ok(self.write(operation)?.replace()?)
    }

    /// Writes the record of an operation whose files are all in place.
    pub(crate) fn record_done(&self, operation: &Operation) -> Result<(), JournalError> {
        self.write(operation)?.put()?;
        // It counts from here on. Should a crash bring back the record before it, the next run tells the
        // same from the files.
        let _ = disk::sync_folder(&self.folder(&operation.id));
        Ok(())
    }

    fn write(&self, operation: &Operation) -> Result<Candidate, JournalError> {
        let folder = self.folder(&operation.id);
        create_private_dirs(&folder)?;
        let path = folder.join("op.json");
        let changed = jiff::Timestamp::now().to_string();
        let operation = &Operation {
            changed,
            ..operation.clone()
        };
        let text = serde_json::to_vec_pretty(operation).map_err(|source| JournalError::Record {
            path: path.clone(),
            source,
        })?;
        Ok(Candidate::write(&path, |out, _| out.write_all(&text))?)
    }

    /// All records, oldest first. What holds no record is passed over.
    pub fn operations(&self) -> Result<Vec<Operation>, JournalError> {
        let folder = self.root.join("ops");
        let entries = match std::fs::read_dir(&folder) {
            Ok(entries) => entries,
            Err(e) if e.kind() == io::ErrorKind::NotFound => return Ok(Vec::new()),
            Err(source) => return Err(JournalError::Io { folder, source }),
        };
        let mut all: Vec<Operation> = Vec::new();
        for entry in entries {
            let read = entry.and_then(|e| fs_err::read(e.path().join("op.json")));
            match read {
                Ok(text) => all.extend(serde_json::from_slice::<Operation>(&text)),
                Err(e) if disk::is_missing(&e) => {}
                // Without it another would be taken for the last.
                Err(source) => return Err(JournalError::Io { folder, source }),
            }
        }
        all.sort_by(|a, b| a.id.cmp(&b.id));
        Ok(all)
    }

    /// Forgets an operation, old bytes and all; how many bytes of disk that frees.
    pub fn forget(&self, operation: &Operation, dry_run: bool) -> Result<u64, JournalError> {
        let folder = self.folder(&operation.id);
        let failed = |source| JournalError::Io {
            folder: folder.clone(),
            source,
        };
        let mut freed = 0;
        for entry in fs_err::read_dir(&folder).map_err(failed)? {
            let metadata = entry.and_then(|e| e.metadata()).map_err(failed)?;
            // Bytes that another name still holds are not freed.
            #[cfg(unix)]
            let alone = std::os::unix::fs::MetadataExt::nlink(&metadata) == 1;
            #[cfg(not(unix))]
            let alone = true;
            freed += if alone { metadata.len() } else { 0 };
        }
        if !dry_run {
            let _lock = self.lock()?;
            self.discard(&operation.id)?;
        }
        Ok(freed)
    }

    /// Removes an operation's folder: the record first, for without it the rest is nobody's.
    pub(crate) fn discard(&self, id: &str) -> Result<(), JournalError> {
        let folder = self.folder(id);
        match disk::remove_file(&folder.join("op.json")) {
            Err(source) if source.kind() != io::ErrorKind::NotFound => {
                return Err(JournalError::Io { folder, source });
            }
            _ => {}
        }
        // Should anything be left, the next run removes it.
        let _ = disk::remove_dir_all(&folder);
        Ok(())
    }
}

/// When a process started, as the system counts; `None` if it does not run.
pub fn process_start(pid: u32) -> Option<String> {
    #[cfg(target_os = "linux")]
    {
        let stat = fs_err::read_to_string(format!("/proc/{pid}/stat")).ok()?;
        // The second field is the name in parentheses, which may hold anything.
        let rest = &stat[stat.rfind(')')? + 1..];
        rest.split_ascii_whitespace().nth(19).map(str::to_owned)
    }
    #[cfg(all(unix, not(target_os = "linux")))]
    {
        let pid = rustix::process::Pid::from_raw(pid as i32)?;
        rustix::process::test_kill_process(pid)
            .ok()
            .map(|()| String::new())
    }
    #[cfg(not(unix))]
    {
        // Nothing safe to ask: an operation under way is taken as running.
        let _ = pid;
        Some(String::new())
    }
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
