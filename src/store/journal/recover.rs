//! Cleans up after runs that were killed.
//!
//! One rule for all of them: if everything is as the operation leaves it, the operation is done; otherwise everything is
//! put back as it was before. Lines that a client appended meanwhile stay in either case, and a file that is neither the
//! old nor the new one is left alone.

use std::io;
use std::path::Path;

use crate::store::fs::atomic::{create_private_dirs, sync_folders_of};
use crate::store::fs::swap::{Swap, SwapError};
use crate::store::fs::{FileState, Stamp, disk, process_start, real_path};
use crate::store::sessions::remove_from_index;

use super::journal::{Journal, JournalError};
use super::kept::is_kept_name;
use super::now::Now;
use super::record::{Operation, State, is_operation_id};
use super::shared_edit::{apply_all, revert_all};

impl Journal {
    /// Cleans up after runs that were killed. Returns what was done, a sentence for each operation.
    ///
    /// Records that cannot be used are left alone, and so are operations of another config folder and those that name
    /// files elsewhere.
    pub fn recover(&self) -> Result<Vec<String>, JournalError> {
        disk::sweep_folders(self.root());
        disk::sweep(&self.archives());
        if !self.operations_folder().exists() {
            return Ok(Vec::new());
        }
        // Whoever publishes holds the lock, so an operation that is under way now belongs to a process that ended.
        let _lock = self.lock()?;
        self.remove_leftovers()?;
        let mut operations = self.records()?.operations;
        operations.retain(|o| self.is_ours(o) && self.misplaced(o).is_none());
        // Runs follow one another, so only the last can have been killed while it tidied up.
        if let Some(last) = operations.iter().max_by_key(|o| o.changed.as_str()) {
            self.sweep(last);
            match last.state {
                State::Undone => drop(remove_folders(last)),
                State::Committed => remove_left_folders(last),
                _ => {}
            }
        }
        let mut reports = Vec::new();
        for operation in operations {
            if self.is_interrupted(&operation) {
                let report = self.settle(operation).map_err(|source| JournalError::Io {
                    folder: self.root().to_owned(),
                    source,
                })?;
                reports.push(report);
            }
        }
        Ok(reports)
    }

    /// Returns whether the process that worked on an operation ended before it was done.
    pub fn is_interrupted(&self, operation: &Operation) -> bool {
        operation.state.is_under_way() && !is_running(operation)
    }

    /// Removes folders whose record is gone. Folders that hold anything but an operation's files are left alone.
    fn remove_leftovers(&self) -> Result<(), JournalError> {
        let folder = self.operations_folder();
        let failed = |source| JournalError::Io {
            folder: folder.clone(),
            source,
        };
        for entry in std::fs::read_dir(&folder).map_err(failed)? {
            let entry = entry.map_err(failed)?;
            let is_folder = entry.file_type().map_err(failed)?.is_dir();
            let named = is_operation_id(&entry.file_name().to_string_lossy());
            if is_folder && named && holds_only_kept_files(&entry.path()).map_err(failed)? {
                disk::remove_dir_all(&entry.path()).map_err(failed)?;
            }
        }
        Ok(())
    }

    fn settle(&self, mut operation: Operation) -> io::Result<String> {
        self.sweep(&operation);
        let id = operation.id.clone();
        let now = operation
            .replaced
            .iter()
            .map(Now::of)
            .collect::<io::Result<Vec<_>>>()?;
        let is_unknown = |n: &Now| matches!(n, Now::Neither | Now::Missing | Now::Special);
        let unknown = now.iter().any(is_unknown);
        let all_new = now.iter().all(|n| matches!(n, Now::New(_)));
        let in_place = match operation.created.last() {
            _ if operation.removes() => is_as(&operation, true)?,
            Some(transcript) if now.is_empty() => transcript.try_exists()?,
            _ => !now.is_empty() && all_new && are_there(&operation.created)?,
        };
        if in_place || unknown {
            let was = operation.state;
            apply_all(&operation.shared)?;
            forget_missing(&mut operation);
            operation.state = State::Committed;
            self.record(&operation).map_err(io::Error::other)?;
            remove_left_folders(&operation);
            return Ok(match was {
                State::Undoing => format!("undoing {id} was interrupted before anything changed"),
                _ if unknown => format!(
                    "{id} was interrupted, and its file has changed since; its old bytes are kept"
                ),
                _ => {
                    format!("{id} was interrupted after its result was in place; it counts as done")
                }
            });
        }
        for (n, now) in now.into_iter().enumerate() {
            if let Now::New(added) = now {
                match self.put_old(&operation, n, &added) {
                    Ok(()) => {}
                    Err(SwapError::Io(error)) => return Err(error),
                    Err(_) => {
                        return Ok(format!(
                            "{id} was interrupted; its session is being written to, so the next run repairs it"
                        ));
                    }
                }
            }
        }
        self.settle_removed(operation)
    }

    /// Ends an interrupted operation whose files have their old bytes: removes what it created.
    fn settle_removed(&self, mut operation: Operation) -> io::Result<String> {
        let id = operation.id.clone();
        self.restore_removed(&operation)?;
        let gone = self.remove_created(&operation)? && self.sweep(&operation);
        revert_all(&operation.shared)?;
        if operation.state != State::Prepared {
            operation.state = State::Undone;
            self.record(&operation).map_err(io::Error::other)?;
            return Ok(format!("undoing {id} was interrupted; it is undone"));
        }
        if !gone {
            return Ok(format!(
                "{id} was interrupted before its result was in place; not all of its files can be removed, so the next run tries again"
            ));
        }
        self.discard(&id).map_err(io::Error::other)?;
        Ok(format!(
            "{id} was interrupted before its result was in place; its files are removed"
        ))
    }

    /// Puts removed files back that are missing.
    fn restore_removed(&self, operation: &Operation) -> io::Result<()> {
        for dir in &operation.removed_dirs {
            create_private_dirs(dir).map_err(io::Error::other)?;
        }
        for (n, file) in operation.removed.iter().enumerate() {
            let kept = self.removed(&operation.id, n);
            if !disk::is_there(&file.path)? && disk::is_there(&kept)? {
                self.put_removed(operation, n).map_err(io::Error::other)?;
            }
        }
        let files = operation.removed.iter().map(|r| r.path.as_path());
        sync_folders_of(files)
    }

    /// Removes created files, the transcript first; what redo needs is kept. Returns false if folders are left.
    fn remove_created(&self, operation: &Operation) -> io::Result<bool> {
        for (n, path) in operation.created.iter().enumerate().rev() {
            if !disk::is_there(path)? {
                continue;
            }
            if operation.state != State::Prepared {
                self.keep_created(operation, n).map_err(io::Error::other)?;
            }
            disk::remove_file(path)?;
        }
        Ok(remove_folders(operation))
    }

    /// Removes temp files that a run left beside its files. Returns false if some may be left.
    pub(crate) fn sweep(&self, operation: &Operation) -> bool {
        let own = self.folder(&operation.id);
        let replaced = operation.replaced.iter().map(|r| r.path.as_path());
        let files = operation.created.iter().map(std::path::PathBuf::as_path);
        let removed = operation.removed.iter().map(|r| r.path.as_path());
        // A shared file can be a link; it is written where the link leads.
        let shared = operation.shared.iter().map(|edit| {
            let path = real_path(edit.path());
            path.unwrap_or_else(|_| edit.path().clone())
        });
        let shared: Vec<std::path::PathBuf> = shared.collect();
        let shared = shared.iter().map(std::path::PathBuf::as_path);
        let files = files.chain(replaced).chain(removed).chain(shared);
        let files = files.chain([operation.target.as_path()]);
        let mut folders: Vec<&Path> = files.map(disk::folder_of).collect();
        folders.push(&own);
        folders.sort_unstable();
        folders.dedup();
        let swept: Vec<bool> = folders.into_iter().map(disk::sweep).collect();
        swept.into_iter().all(|clean| clean)
    }

    /// Gives a replaced file its old bytes back, followed by what was appended since.
    fn put_old(&self, operation: &Operation, n: usize, added: &[u8]) -> Result<(), SwapError> {
        let replaced = &operation.replaced[n];
        let old = self
            .old_file(operation, n, added)
            .map_err(io::Error::other)?;
        let stamp = Stamp::of(&replaced.path)?;
        let new_len = replaced.after.as_ref().map_or(0, |a| a.len) + added.len() as u64;
        if stamp.len != new_len {
            return Err(SwapError::Changed);
        }
        Swap::put(&replaced.path, stamp, old).map(drop)
    }

    /// Puts old bytes back that a failed run could not put back itself, as far as possible.
    pub(crate) fn put_all_old(&self, operation: &Operation) {
        for (n, replaced) in operation.replaced.iter().enumerate() {
            if let Ok(Now::New(added)) = Now::of(replaced) {
                let _ = self.put_old(operation, n, &added);
            }
        }
    }
}

fn are_there(paths: &[std::path::PathBuf]) -> io::Result<bool> {
    for path in paths {
        if !disk::is_there(path)? {
            return Ok(false);
        }
    }
    Ok(true)
}

/// Drops created files from a record that somebody removed since.
fn forget_missing(operation: &mut Operation) {
    let states = std::mem::take(&mut operation.created_states);
    let created = std::mem::take(&mut operation.created);
    let mut states = states.into_iter();
    for path in created {
        let state = states.next().or_else(|| FileState::of(&path).ok());
        if let (true, Some(state)) = (disk::is_there(&path).unwrap_or(true), state) {
            operation.created.push(path);
            operation.created_states.push(state);
        }
    }
}

/// Returns whether a folder has no record, and nothing in it but files of an operation.
fn holds_only_kept_files(folder: &Path) -> io::Result<bool> {
    for entry in std::fs::read_dir(folder)? {
        let entry = entry?;
        if !entry.file_type()?.is_file() || !is_kept_name(&entry.file_name().to_string_lossy()) {
            return Ok(false);
        }
    }
    Ok(true)
}

/// Removes the folders that an operation created, if they are empty, and its session from the client's list. Returns
/// false if a folder is left for another reason than that something is in it.
pub(crate) fn remove_folders(operation: &Operation) -> bool {
    let mut gone = true;
    for dir in operation.created_dirs.iter().rev() {
        if let Err(e) = disk::remove_dir(dir) {
            gone &= e.kind() == io::ErrorKind::DirectoryNotEmpty || disk::is_missing(&e);
        }
    }
    if let Some(folder) = operation.target.parent()
        && operation.makes_session()
    {
        // Clients remove missing sessions by themselves, so a list that cannot be written is not a failure.
        let _ = remove_from_index(folder, &operation.target_id);
    }
    gone
}

/// Removes the folders that an operation emptied, if nothing is in them now.
pub(crate) fn remove_left_folders(operation: &Operation) {
    for dir in operation.removed_dirs.iter().rev() {
        let _ = disk::remove_dir(dir);
    }
}

/// Returns whether the files of an operation are as they are with it (`done`), or without it. Files that are neither
/// do not count.
pub(crate) fn is_as(operation: &Operation, done: bool) -> io::Result<bool> {
    for replaced in &operation.replaced {
        match Now::of(replaced)? {
            Now::Old(_) if done => return Ok(false),
            Now::New(_) if !done => return Ok(false),
            _ => {}
        }
    }
    for path in &operation.created {
        if disk::is_there(path)? != done {
            return Ok(false);
        }
    }
    for file in &operation.removed {
        if disk::is_there(&file.path)? == done {
            return Ok(false);
        }
    }
    Ok(true)
}

fn is_running(operation: &Operation) -> bool {
    process_start(operation.pid)
        .is_some_and(|s| operation.pid_start.as_deref().is_none_or(|p| p == s))
}
