//! What was done, and its way back.
//!
//! Each operation has a folder under `ops` in the state folder: `op.json`, and the old bytes. While
//! an operation, or its way back, is under way, its record says so; see [`super::recover`] for what becomes
//! of one whose process was killed. A folder without a record is nobody's: the record is the first thing
//! that is put there, and the first that is removed.

use std::io::{self, Write as _};
use std::path::{Path, PathBuf};

use crate::store::fs::atomic::{Candidate, PublishError, create_private_dirs};
use crate::store::fs::disk;

use super::record::Operation;

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
}
