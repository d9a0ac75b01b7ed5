//! The folder in which operations are recorded.
//!
//! Each operation has a folder under `ops` in the state folder: `op.json`, and the old bytes of what it replaced. While a
//! process works on an operation its record says so; `recover` describes what becomes of one whose process was killed.
//! The record is the first file that is written there and the first that is removed, so a folder without a record is a
//! leftover.

use std::io::{self, Write as _};
use std::path::{Path, PathBuf};
use std::time::SystemTime;

use crate::store::fs::atomic::{Candidate, PublishError, create_private_dirs};
use crate::store::fs::{disk, open_regular, private};
use crate::store::sessions::Config;

use super::record::Operation;
use super::validate::{RecordFault, parse};

/// A journal that cannot be read or written.
#[derive(Debug, thiserror::Error)]
#[allow(missing_docs)]
#[non_exhaustive]
pub enum JournalError {
    #[error("cannot use the journal in `{}`: {source}", folder.display())]
    Io { folder: PathBuf, source: io::Error },
    #[error(transparent)]
    Publish(#[from] PublishError),
    #[error("the journal's record `{}` cannot be written: {source}", path.display())]
    Write {
        path: PathBuf,
        source: serde_json::Error,
    },
    #[error("the journal's record `{}` cannot be used: {fault}", path.display())]
    Record { path: PathBuf, fault: RecordFault },
    #[error("the journal's folder `{}` is not private: {reason}", folder.display())]
    NotPrivate {
        folder: PathBuf,
        reason: &'static str,
    },
}

/// A record that cannot be used, and why.
#[derive(Debug)]
pub struct UnusableRecord {
    /// The name of its folder.
    pub id: String,
    /// The record.
    pub path: PathBuf,
    /// Why it cannot be used.
    pub fault: RecordFault,
}

/// All records of a journal.
#[derive(Debug, Default)]
pub struct Records {
    /// Those that can be used, oldest first.
    pub operations: Vec<Operation>,
    /// Those that cannot, oldest first.
    pub unusable: Vec<UnusableRecord>,
}

/// The journal in a state folder.
#[derive(Debug, Clone)]
pub struct Journal {
    root: PathBuf,
    config: Config,
    clock: fn() -> SystemTime,
}

impl Journal {
    /// Opens the journal in `state` for sessions of `config`. Nothing is created before something is recorded.
    pub fn new(state: impl Into<PathBuf>, config: &Config, clock: fn() -> SystemTime) -> Self {
        Self {
            root: state.into(),
            config: config.clone(),
            clock,
        }
    }

    /// Returns the state folder.
    pub fn root(&self) -> &Path {
        &self.root
    }

    pub(crate) fn config(&self) -> &Config {
        &self.config
    }

    /// Returns the folder of archived sessions, unless the user names another.
    pub fn archives(&self) -> PathBuf {
        self.root.join("archive")
    }

    /// Returns the folder of all operations.
    pub(crate) fn operations_folder(&self) -> PathBuf {
        self.root.join("ops")
    }

    /// Returns the folder of one operation.
    pub fn folder(&self, id: &str) -> PathBuf {
        self.operations_folder().join(id)
    }

    /// Returns where an operation keeps lines that could not be read, if there were any.
    pub fn quarantine(&self, id: &str) -> PathBuf {
        self.folder(id).join("quarantine")
    }

    /// Keeps other runs from publishing until the returned file is closed.
    pub fn lock(&self) -> Result<std::fs::File, JournalError> {
        create_private_dirs(&self.root)?;
        self.check_privacy()?;
        let path = self.root.join("lock");
        let failed = |source| JournalError::Io {
            folder: self.root.clone(),
            source,
        };
        let file = private::open_lock(&path).map_err(failed)?;
        file.lock().map_err(failed)?;
        Ok(file)
    }

    /// Fails if somebody else could have written the records: they decide which files are deleted.
    fn check_privacy(&self) -> Result<(), JournalError> {
        for folder in [self.root.clone(), self.operations_folder()] {
            if let Some(reason) = private::exposure(&folder) {
                return Err(JournalError::NotPrivate { folder, reason });
            }
        }
        Ok(())
    }

    /// Writes a record, durably.
    pub fn record(&self, operation: &Operation) -> Result<(), JournalError> {
        Ok(self.write(operation)?.replace()?)
    }

    /// Writes the record of an operation whose files are all in place.
    pub(crate) fn record_done(&self, operation: &Operation) -> Result<(), JournalError> {
        // The operation is done from here on. Should a crash bring back the previous record, the next run comes to the
        // same conclusion from the files, so the folder need not be synced.
        Ok(self.write(operation)?.put()?)
    }

    fn write(&self, operation: &Operation) -> Result<Candidate, JournalError> {
        let folder = self.folder(&operation.id);
        create_private_dirs(&folder)?;
        let path = folder.join("op.json");
        let now = jiff::Timestamp::try_from((self.clock)()).unwrap_or(jiff::Timestamp::UNIX_EPOCH);
        let operation = &Operation {
            changed: now.to_string(),
            ..operation.clone()
        };
        let text = serde_json::to_vec_pretty(operation).map_err(|source| JournalError::Write {
            path: path.clone(),
            source,
        })?;
        Ok(Candidate::write(&path, |out, _| out.write_all(&text))?)
    }

    /// Reads all records. Folders without a record are skipped.
    pub fn records(&self) -> Result<Records, JournalError> {
        let folder = self.operations_folder();
        let failed = |source| JournalError::Io {
            folder: folder.clone(),
            source,
        };
        let entries = match std::fs::read_dir(&folder) {
            Ok(entries) => entries,
            Err(e) if e.kind() == io::ErrorKind::NotFound => return Ok(Records::default()),
            Err(source) => return Err(failed(source)),
        };
        let mut all = Records::default();
        for entry in entries {
            let entry = entry.map_err(failed)?;
            let path = entry.path().join("op.json");
            let id = entry.file_name().to_string_lossy().into_owned();
            match read(&id, &path) {
                Ok(operation) => all.operations.extend(operation),
                // A disk that fails may work again at the next look, so nothing is concluded from it.
                Err(RecordFault::Unreadable(source)) if !is_lasting(&source) => {
                    return Err(failed(source));
                }
                Err(fault) => all.unusable.push(UnusableRecord { id, path, fault }),
            }
        }
        all.operations.sort_by(|a, b| a.id.cmp(&b.id));
        all.unusable.sort_by(|a, b| a.id.cmp(&b.id));
        Ok(all)
    }

    /// Reads all records, oldest first. Fails if one cannot be used: without it, another would be taken for the last.
    pub fn operations(&self) -> Result<Vec<Operation>, JournalError> {
        let Records {
            operations,
            unusable,
        } = self.records()?;
        match unusable.into_iter().next_back() {
            Some(UnusableRecord { path, fault, .. }) => Err(JournalError::Record { path, fault }),
            None => Ok(operations),
        }
    }
}

/// Returns whether a file that could not be read is one that nobody can read, or not a file at all.
fn is_lasting(error: &io::Error) -> bool {
    use io::ErrorKind::{InvalidInput, PermissionDenied};
    matches!(error.kind(), InvalidInput | PermissionDenied)
}

/// Reads the record at `path`, if there is one.
fn read(name: &str, path: &Path) -> Result<Option<Operation>, RecordFault> {
    use std::io::Read as _;
    match disk::is_there(path) {
        Ok(true) => {}
        Ok(false) => return Ok(None),
        Err(error) => return Err(error.into()),
    }
    let mut text = Vec::new();
    open_regular(path)?.read_to_end(&mut text)?;
    parse(name, &text).map(Some)
}
