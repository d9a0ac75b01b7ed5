//! Cleans up after runs that were killed.
//!
//! One rule for all of them: where everything is as the operation leaves it, it counts as done; else
//! everything goes back to what it was before. What a client appended meanwhile stays in either case, and
//! a file that is neither the old nor the new is left alone.

use std::io;
use std::path::Path;

use super::journal::{Journal, JournalError};
use super::record::{Operation, Replaced, State};
use super::undo::{keep_created, old_file};
use crate::store::fs::Stamp;
use crate::store::fs::atomic::Candidate;
use crate::store::fs::disk;
use crate::store::fs::swap::{Swap, SwapError};
use crate::store::fs::{FileState, begins_with, process_start};
use crate::store::sessions::remove_from_index;

/// What a file that was being replaced is now; behind that, what was appended since.
enum Now {
    Old,
    New(Vec<u8>),
    Neither,
}

impl Journal {
    /// Cleans up after runs that were killed. Says what was done.
    pub fn recover(&self) -> Result<Vec<String>, JournalError> {
        let mut told = Vec::new();
        if !self.root().join("ops").exists() {
            return Ok(told);
        }
        // Whoever publishes holds the lock, so what is under way now was left by the dead.
        let _lock = self.lock()?;
        self.remove_nobodys()?;
        let operations = self.operations()?;
        // Runs follow one another, so only the last can have been killed while it tidied up.
        if let Some(last) = operations.iter().max_by_key(|o| o.changed.as_str()) {
            self.sweep(last);
            if last.state == State::Undone {
                remove_folders(last);
            }
        }
        for operation in operations {
            if !operation.state.is_under_way() || is_running(&operation) {
                continue;
            }
            let said = self.settle(operation).map_err(|source| JournalError::Io {
                folder: self.root().to_owned(),
                source,
            })?;
            told.push(said);
        }
        Ok(told)
    }

    /// Removes folders without a record.
    fn remove_nobodys(&self) -> Result<(), JournalError> {
        let folder = self.root().join("ops");
        let failed = |source| JournalError::Io {
            folder: folder.clone(),
            source,
        };
        for entry in std::fs::read_dir(&folder).map_err(failed)? {
            let path = entry.map_err(failed)?.path();
            if path.is_dir() && !disk::is_there(&path.join("op.json")).map_err(failed)? {
                disk::remove_dir_all(&path).map_err(failed)?;
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
            .map(look_at)
            .collect::<io::Result<Vec<_>>>()?;
        let unknown = now.iter().any(|n| matches!(n, Now::Neither));
        let all_new = now.iter().all(|n| matches!(n, Now::New(_)));
        let in_place = match operation.created.last() {
            Some(transcript) => transcript.try_exists()?,
            None => !now.is_empty() && all_new,
        };
        if in_place || unknown {
            let was = operation.state;
            self.forget_missing(&mut operation);
            operation.state = State::Committed;
            self.record(&operation).map_err(io::Error::other)?;
            return Ok(match was {
                State::Undoing => format!("taking {id} back was interrupted before it began"),
                _ if unknown => format!(
                    "{id} was interrupted, and its file was changed since; its old bytes are kept"
                ),
                _ => {
                    format!("{id} was interrupted after its result was in place; it counts as done")
                }
            });
        }
        for (replaced, now) in operation.replaced.iter().zip(now) {
            if let Now::New(added) = now {
                match put_old(replaced, &added) {
                    Ok(()) => {}
                    Err(SwapError::Io(error)) => return Err(error),
                    Err(_) => {
                        return Ok(format!(
                            "{id} was interrupted; its session is being written to, so that is mended by the next run"
                        ));
                    }
                }
            }
        }
        let gone = self.take_back_created(&operation)? && self.sweep(&operation);
        if operation.state == State::Prepared {
            if !gone {
                return Ok(format!(
                    "{id} was interrupted before its result was in place; not all that it left can be removed, so the next run tries again"
                ));
            }
            self.discard(&id).map_err(io::Error::other)?;
            return Ok(format!(
                "{id} was interrupted before its result was in place; what it left is removed"
            ));
        }
        operation.state = State::Undone;
        self.record(&operation).map_err(io::Error::other)?;
        Ok(format!(
            "{id} was interrupted on its way back; it is undone"
        ))
    }

    /// Removes what was made, transcript first; what a redo needs is kept. False if folders are left.
    fn take_back_created(&self, operation: &Operation) -> io::Result<bool> {
        for (n, path) in operation.created.iter().enumerate().rev() {
            if !disk::is_there(path)? {
                continue;
            }
            if operation.state != State::Prepared {
                keep_created(self, operation, n).map_err(io::Error::other)?;
            }
            disk::remove_file(path)?;
        }
        Ok(remove_folders(operation))
    }

    /// A file that somebody removed since is no longer part of what was made.
    fn forget_missing(&self, operation: &mut Operation) {
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

    /// Removes temp files that a run left beside what it was working on. False if some may be left.
    pub(crate) fn sweep(&self, operation: &Operation) -> bool {
        let own = self.folder(&operation.id);
        let replaced = operation.replaced.iter().map(|r| r.path.as_path());
        let files = operation.created.iter().map(std::path::PathBuf::as_path);
        let files = files.chain(replaced).chain([operation.target.as_path()]);
        let mut folders: Vec<&Path> = files.map(disk::folder_of).collect();
        folders.push(&own);
        folders.sort_unstable();
        folders.dedup();
        let swept: Vec<bool> = folders.into_iter().map(disk::sweep).collect();
        swept.into_iter().all(|clean| clean)
    }
}

/// Removes the folders that an operation made, and its session from the client's list. False if some are
/// left for another reason than that something is in them.
pub(crate) fn remove_folders(operation: &Operation) -> bool {
    let mut gone = true;
    for dir in operation.created_dirs.iter().rev() {
        // Only if empty: nothing of anybody else's goes.
        if let Err(e) = disk::remove_dir(dir) {
            gone &= e.kind() == io::ErrorKind::DirectoryNotEmpty || disk::is_missing(&e);
        }
    }
    if let Some(folder) = operation.target.parent()
        && !operation.created.is_empty()
    {
        // Clients take out by themselves what is gone; a list that cannot be written is no failure.
        let _ = remove_from_index(folder, &operation.target_id);
    }
    gone
}

/// Puts the old bytes of a replaced file in its place again, with what was appended since.
fn put_old(replaced: &Replaced, added: &[u8]) -> Result<(), SwapError> {
    let old = old_file(replaced, added).map_err(io::Error::other)?;
    let stamp = Stamp::of(&replaced.path)?;
    if stamp.len != after_of(replaced, added) {
        return Err(SwapError::Changed);
    }
    Swap::put(&replaced.path, stamp, old).map(drop)
}

/// Puts back from the journal what a failed run left in place, as far as it can.
pub(crate) fn put_all_old(operation: &Operation) {
    for replaced in &operation.replaced {
        if let Ok(Now::New(added)) = look_at(replaced) {
            let _ = put_old(replaced, &added);
        }
    }
}

/// Whether the files of an operation are as they are without it, or with it; what is neither is nobody's
/// concern.
pub(crate) fn is_as(operation: &Operation, done: bool) -> io::Result<bool> {
    for replaced in &operation.replaced {
        match look_at(replaced)? {
            Now::Old if done => return Ok(false),
            Now::New(_) if !done => return Ok(false),
            _ => {}
        }
    }
    for path in &operation.created {
        if disk::is_there(path)? != done {
            return Ok(false);
        }
    }
    Ok(true)
}

fn is_running(operation: &Operation) -> bool {
    process_start(operation.pid)
        .is_some_and(|s| operation.pid_start.as_deref().is_none_or(|p| p == s))
}

/// How long the new file is with what was appended to it.
fn after_of(replaced: &Replaced, added: &[u8]) -> u64 {
    replaced.after.as_ref().map_or(0, |a| a.len) + added.len() as u64
}

/// Tells the old file from the new one, by their bytes. Where one begins with the other, the longer counts.
fn look_at(replaced: &Replaced) -> io::Result<Now> {
    let Some(after) = &replaced.after else {
        // Its place was not yet taken when this was recorded.
        return Ok(Now::Old);
    };
    let bytes = match crate::document::Source::open(&replaced.path) {
        Ok(bytes) => bytes,
        Err(e) if e.kind() == io::ErrorKind::NotFound => return Ok(Now::Neither),
        Err(e) => return Err(e),
    };
    let bytes = bytes.bytes();
    let is = |state: &FileState| bytes.len() as u64 == state.len && begins_with(bytes, state);
    if is(&replaced.before) {
        return Ok(Now::Old);
    }
    if is(after) {
        return Ok(Now::New(Vec::new()));
    }
    let old = begins_with(bytes, &replaced.before);
    if begins_with(bytes, after) && (!old || after.len > replaced.before.len) {
        return Ok(Now::New(bytes[after.len as usize..].to_vec()));
    }
    Ok(if old { Now::Old } else { Now::Neither })
}

/// A temp file with the bytes of `from` and lines behind them.
pub(crate) fn with_lines(
    target: &Path,
    from: &Path,
    lines: &[u8],
) -> Result<Candidate, crate::store::fs::PublishError> {
    Candidate::write(target, |out, _| {
        use std::io::Write as _;
        let mut old = std::fs::File::open(from)?;
        io::copy(&mut old, out)?;
        if !crate::store::fs::swap::ends_a_line(&mut old)? {
            out.write_all(b"\n")?;
        }
        out.write_all(lines)
    })
}
