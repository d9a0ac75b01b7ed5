//! Replaces files so that a run that is killed can be finished.

use std::io;
use std::path::{Path, PathBuf};
use std::time::{Duration, SystemTime};

use serde::{Deserialize, Serialize};

use crate::store::fs::atomic::{Candidate, create_private_dirs, link_or_copy, write_private};
use crate::store::fs::disk::{self, folder_of};
use crate::store::fs::swap::{Swap, SwapError};
use crate::store::fs::{FileState, Stamp, open_regular, path_text};
use crate::store::journal::{Journal, JournalError, Now, Operation, Replaced, State, before_name};
use crate::store::publish::{CommitError, Provenance, write_transcript};
use crate::store::sessions::{is_place, is_shared, resume_cache};
use crate::surgery::Verified;

/// The list of files that are replaced. It is written before the first of them is.
const LIST: &str = "list.json";

/// A file that is replaced.
#[derive(Debug, Clone, Serialize, Deserialize)]
struct Rewritten {
    #[serde(with = "path_text::one")]
    path: PathBuf,
    before: FileState,
    after: FileState,
}

/// What is kept of a redaction until it is done.
#[derive(Debug, Serialize, Deserialize)]
struct List {
    operation: Operation,
    files: Vec<Rewritten>,
}

/// A redaction that is being prepared. Nothing changes before [`Redaction::commit`].
#[derive(Debug)]
pub struct Redaction<'a> {
    journal: &'a Journal,
    folder: PathBuf,
    list: List,
    keep_undo: bool,
    _lock: std::fs::File,
}

impl<'a> Redaction<'a> {
    /// Begins a redaction. With `keep_undo` the journal keeps the old bytes, secrets included.
    pub fn begin(
        journal: &'a Journal,
        provenance: &Provenance,
        session: Option<(&Path, &str)>,
        keep_undo: bool,
    ) -> Result<Self, CommitError> {
        let lock = journal.lock()?;
        let mut operation = Operation::new(provenance.now, provenance.random);
        operation.operation.clone_from(&provenance.operation);
        operation.command.clone_from(&provenance.command);
        let (path, id) = session.unwrap_or((journal.config().root(), "all"));
        path.clone_into(&mut operation.source);
        path.clone_into(&mut operation.target);
        id.clone_into(&mut operation.source_id);
        id.clone_into(&mut operation.target_id);
        operation.forgets = !keep_undo;
        operation.claim();
        let folder = redactions(journal).join(&operation.id);
        create_private_dirs(&folder)?;
        Ok(Self {
            journal,
            folder,
            list: List {
                operation,
                files: Vec::new(),
            },
            keep_undo,
            _lock: lock,
        })
    }

    /// Adds a transcript that was read when it had this stamp.
    pub fn add_transcript(
        &mut self,
        path: &Path,
        stamp: Stamp,
        after: &Verified,
    ) -> Result<(), CommitError> {
        let (candidate, state) = write_transcript(&self.next(), after, None, None)?;
        candidate.create()?;
        self.add(path, stamp, state)
    }

    /// Adds another file that was read when it had this stamp.
    pub fn add_bytes(
        &mut self,
        path: &Path,
        stamp: Stamp,
        after: &[u8],
    ) -> Result<(), CommitError> {
        let new = self.next();
        write_private(&new, after)?;
        let state = FileState::of(&new)?;
        self.add(path, stamp, state)
    }

    fn next(&self) -> PathBuf {
        new_file(&self.folder, self.list.files.len())
    }

    fn add(&mut self, path: &Path, stamp: Stamp, after: FileState) -> Result<(), CommitError> {
        let path = fs_err::canonicalize(path)?;
        let before = FileState::of(&path)?;
        if Stamp::of(&path)? != stamp {
            return Err(CommitError::Changed { path });
        }
        self.list.files.push(Rewritten {
            path,
            before,
            after,
        });
        Ok(())
    }

    /// Replaces all files, and overwrites the old ones. If it fails half-way, the next run finishes it.
    pub fn commit(mut self) -> Result<Operation, CommitError> {
        if self.keep_undo {
            self.keep_old()?;
        }
        let text = serde_json::to_vec_pretty(&self.list).map_err(io::Error::other)?;
        write_private(&self.folder.join(LIST), &text)?;
        for (n, file) in self.list.files.iter().enumerate() {
            let stamp = Stamp::of(&file.path)?;
            if stamp.len != file.before.len {
                let path = file.path.clone();
                return Err(CommitError::Changed { path });
            }
            put(file, &new_file(&self.folder, n), stamp, &[]).map_err(|e| at(&file.path, e))?;
        }
        Ok(end(
            self.journal,
            &self.folder,
            self.list.operation.clone(),
        )?)
    }

    /// Keeps the old bytes in the journal.
    fn keep_old(&mut self) -> Result<(), CommitError> {
        let operation = &mut self.list.operation;
        for (n, file) in self.list.files.iter().enumerate() {
            operation.replaced.push(Replaced {
                path: file.path.clone(),
                backup: before_name(n).into(),
                before: file.before.clone(),
                after: Some(file.after.clone()),
            });
        }
        self.journal.record(operation)?;
        for (n, file) in self.list.files.iter().enumerate() {
            link_or_copy(&file.path, &self.journal.before(&operation.id, n))?;
        }
        Ok(disk::sync_folder(&self.journal.folder(&operation.id))?)
    }
}

impl Drop for Redaction<'_> {
    fn drop(&mut self) {
        // Before there is a list, nothing was replaced.
        if !self.folder.join(LIST).exists() {
            let _ = disk::remove_dir_all(&self.folder);
        }
    }
}

fn redactions(journal: &Journal) -> PathBuf {
    journal.root().join("redactions")
}

fn new_file(folder: &Path, n: usize) -> PathBuf {
    folder.join(format!("new-{n}"))
}

/// Replaces a file by the new one and what was `added` to the old one since, and overwrites the old one.
fn put(file: &Rewritten, new: &Path, stamp: Stamp, added: &[u8]) -> Result<(), SwapError> {
    let candidate = Candidate::write(&file.path, |out, _| {
        io::copy(&mut open_regular(new)?, out)?;
        io::Write::write_all(out, added)?;
        // The order of sessions and their age stay.
        if let Some(modified) = file.before.modified {
            out.set_modified(SystemTime::UNIX_EPOCH + Duration::from_nanos(modified))?;
        }
        Ok(())
    });
    let candidate = candidate.map_err(io::Error::other)?;
    candidate.mode_of(&file.path).map_err(io::Error::other)?;
    candidate.sync().map_err(io::Error::other)?;
    // The client's cache of the old bytes.
    if let Some(cache) = resume_cache(&file.path) {
        disk::shred(&cache)?;
    }
    let swap = Swap::put(&file.path, stamp, candidate.into_temp())?;
    if !swap.is_still()? {
        swap.put_back()?;
        return Err(SwapError::Changed);
    }
    Ok(swap.finish_shredded()?)
}

/// Records a redaction that is done, and removes what was kept of it.
fn end(
    journal: &Journal,
    folder: &Path,
    mut operation: Operation,
) -> Result<Operation, JournalError> {
    operation.state = State::Committed;
    journal.record_done(&operation)?;
    let failed = |source| JournalError::Io {
        folder: folder.to_owned(),
        source,
    };
    disk::remove_file(&folder.join(LIST)).map_err(failed)?;
    disk::remove_dir_all(folder).map_err(failed)?;
    Ok(operation)
}

/// Finishes redactions that were interrupted. Returns what was done, a sentence for each.
pub fn finish_redactions(journal: &Journal) -> Result<Vec<String>, JournalError> {
    let root = redactions(journal);
    let failed = |source| JournalError::Io {
        folder: root.clone(),
        source,
    };
    let entries = match std::fs::read_dir(&root) {
        Ok(entries) => entries,
        Err(e) if disk::is_missing(&e) => return Ok(Vec::new()),
        Err(e) => return Err(failed(e)),
    };
    let folders: Vec<PathBuf> = entries.flatten().map(|e| e.path()).collect();
    if folders.is_empty() {
        return Ok(Vec::new());
    }
    // Whoever redacts holds the lock, so a redaction that is not done belongs to a process that ended.
    let _lock = journal.lock()?;
    let mut reports = Vec::new();
    for folder in folders {
        match read_list(&folder.join(LIST)).map_err(failed)? {
            None => disk::remove_dir_all(&folder).map_err(failed)?,
            Some(list) => reports.push(finish(journal, &folder, list)?),
        }
    }
    Ok(reports)
}

fn read_list(path: &Path) -> io::Result<Option<List>> {
    if !disk::is_there(path)? {
        return Ok(None);
    }
    let list = serde_json::from_reader(io::BufReader::new(open_regular(path)?));
    list.map(Some).map_err(io::Error::other)
}

fn finish(journal: &Journal, folder: &Path, list: List) -> Result<String, JournalError> {
    let failed = |source| JournalError::Io {
        folder: folder.to_owned(),
        source,
    };
    let id = list.operation.id.clone();
    for (n, file) in list.files.iter().enumerate() {
        let config = journal.config();
        let is_transcript = file.path.extension().is_some_and(|x| x == "jsonl");
        if !is_transcript && !is_place(config, &file.path) && !is_shared(config, &file.path) {
            continue;
        }
        disk::shred_leftovers(folder_of(&file.path));
        let replaced = Replaced {
            path: file.path.clone(),
            backup: PathBuf::new(),
            before: file.before.clone(),
            after: Some(file.after.clone()),
        };
        if let Now::Old(added) = Now::of(&replaced).map_err(failed)? {
            let stamp = Stamp::of(&file.path).map_err(failed)?;
            match put(file, &new_file(folder, n), stamp, &added) {
                Ok(()) => {}
                Err(SwapError::Io(error)) => return Err(failed(error)),
                Err(_) => {
                    return Ok(format!(
                        "the redaction {id} was interrupted; a file is being written to, so the next run finishes it"
                    ));
                }
            }
        }
    }
    end(journal, folder, list.operation)?;
    Ok(format!(
        "the redaction {id} was interrupted; it is finished"
    ))
}

fn at(path: &Path, error: SwapError) -> CommitError {
    let path = path.to_owned();
    match error {
        SwapError::Busy => CommitError::Busy { path },
        SwapError::Changed => CommitError::Changed { path },
        SwapError::Io(error) => error.into(),
    }
}
