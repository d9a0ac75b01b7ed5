//! The way back, and forth again.

use std::io;
use std::path::{Path, PathBuf};
use std::time::SystemTime;

use tempfile::TempPath;

use super::journal::{Journal, JournalError};
use super::record::{Operation, Replaced, State};
use super::recover::{is_as, remove_folders, with_lines};
use crate::store::fs::Stamp;
use crate::store::fs::atomic::{PublishError, copy_private, create_private_dirs, link_or_copy};
use crate::store::fs::begins_with;
use crate::store::fs::disk::{self, folder_of};
use crate::store::fs::swap::{Swap, SwapError};
use crate::store::fs::{FileState, process_start};

/// Why an operation cannot be taken back, or done again.
#[derive(Debug, thiserror::Error)]
#[allow(missing_docs)]
pub enum UndoError {
    #[error("`{}` has changed since", path.display())]
    Changed {
        path: PathBuf,
        added: Option<Vec<u8>>,
    },
    #[error("`{}` was written to in this very moment", path.display())]
    Disturbed { path: PathBuf },
    #[error("another process has `{}` open for writing", path.display())]
    Busy { path: PathBuf },
    #[error("the old bytes in `{}` are no longer what they were", path.display())]
    Spoilt { path: PathBuf },
    #[error("`{}` is gone", path.display())]
    Gone { path: PathBuf },
    #[error("`{}` exists already", path.display())]
    Exists { path: PathBuf },
    #[error("entries that were added since hang on what the operation made: {0}")]
    Orphans(String),
    #[error(transparent)]
    Publish(#[from] PublishError),
    #[error(transparent)]
    Journal(#[from] JournalError),
    #[error(transparent)]
    Io(#[from] io::Error),
}

/// Whether an operation can be taken back as things are.
pub fn check_undo(operation: &Operation) -> Result<(), UndoError> {
    for replaced in &operation.replaced {
        unchanged(&replaced.path, replaced.after.as_ref())?;
    }
    for (path, state) in operation.created.iter().zip(&operation.created_states) {
        unchanged(path, Some(state))?;
    }
    Ok(())
}

/// Takes an operation back: replaced files get their old bytes, mode and time, created ones go.
///
/// With `onto_current`, what was appended to a replaced file since is appended again.
pub fn undo(
    journal: &Journal,
    mut operation: Operation,
    onto_current: bool,
) -> Result<Operation, UndoError> {
    let _lock = journal.lock()?;
    let mut replaced = Vec::new();
    for file in &operation.replaced {
        let stamp = stamp_of(&file.path)?;
        let added = match unchanged(&file.path, file.after.as_ref()) {
            Ok(()) => Vec::new(),
            Err(UndoError::Changed {
                added: Some(added), ..
            }) if onto_current => {
                fits(&file.backup, &added)?;
                added
            }
            Err(error) => return Err(error),
        };
        whole(&file.backup, &file.before)?;
        replaced.push((stamp, added));
    }
    let mut created = Vec::new();
    for (path, state) in operation.created.iter().zip(&operation.created_states) {
        let stamp = stamp_of(path)?;
        unchanged(path, Some(state))?;
        created.push(stamp);
    }
    let mut swaps = Vec::new();
    let outcome = under_way(journal, &mut operation, State::Undoing)
        .and_then(|()| take_back(journal, &operation, &replaced, &created, &mut swaps))
        .and_then(|()| look_again(&swaps))
        .and_then(|()| settled(journal, &operation, State::Undone));
    match outcome {
        Ok(done) => {
            swaps.into_iter().for_each(Swap::finish);
            remove_folders(&operation);
            Ok(done)
        }
        Err(error) => {
            let state = State::Committed;
            Err(put_back(journal, operation, swaps, true, state, error))
        }
    }
}

fn take_back(
    journal: &Journal,
    operation: &Operation,
    replaced: &[(Stamp, Vec<u8>)],
    created: &[Stamp],
    swaps: &mut Vec<Swap>,
) -> Result<(), UndoError> {
    let folder = journal.folder(&operation.id);
    // All that doing it again needs, before anything is changed.
    for (n, file) in operation.replaced.iter().enumerate() {
        keep(&file.path, &folder.join(format!("after-{n}.jsonl")))?;
    }
    for (file, (stamp, added)) in operation.replaced.iter().zip(replaced) {
        let old = old_file(file, added)?;
        swaps.push(Swap::put(&file.path, *stamp, old).map_err(|e| at(&file.path, e))?);
    }
    // The transcript first: without it no client lists the rest.
    for (n, path) in operation.created.iter().enumerate().rev() {
        keep_created(journal, operation, n)?;
        swaps.push(Swap::take_away(path, created[n]).map_err(|e| at(path, e))?);
    }
    Ok(())
}

/// Does an operation again that was taken back.
pub fn redo(journal: &Journal, mut operation: Operation) -> Result<Operation, UndoError> {
    let _lock = journal.lock()?;
    let mut stamps = Vec::new();
    for replaced in &operation.replaced {
        stamps.push(stamp_of(&replaced.path)?);
        unchanged(&replaced.path, Some(&replaced.before))?;
    }
    for path in &operation.created {
        if disk::is_there(path)? {
            return Err(UndoError::Exists { path: path.clone() });
        }
    }
    let mut swaps = Vec::new();
    let outcome = under_way(journal, &mut operation, State::Redoing)
        .and_then(|()| do_again(journal, &operation, &stamps, &mut swaps))
        .and_then(|()| look_again(&swaps))
        .and_then(|()| settled(journal, &operation, State::Committed));
    match outcome {
        Ok(done) => {
            swaps.into_iter().for_each(Swap::finish);
            Ok(done)
        }
        Err(error) => {
            // None of them was there before.
            for path in operation.created.iter().rev() {
                let _ = disk::remove_file(path);
            }
            let gone = remove_folders(&operation);
            Err(put_back(
                journal,
                operation,
                swaps,
                gone,
                State::Undone,
                error,
            ))
        }
    }
}

fn do_again(
    journal: &Journal,
    operation: &Operation,
    stamps: &[Stamp],
    swaps: &mut Vec<Swap>,
) -> Result<(), UndoError> {
    let folder = journal.folder(&operation.id);
    for (n, replaced) in operation.replaced.iter().enumerate() {
        let after = folder.join(format!("after-{n}.jsonl"));
        let new = beside(&replaced.path, &after, &FileState::of(&after)?)?;
        let swap = Swap::put(&replaced.path, stamps[n], new);
        swaps.push(swap.map_err(|e| at(&replaced.path, e))?);
    }
    for dir in &operation.created_dirs {
        create_private_dirs(dir)?;
    }
    for (n, path) in operation.created.iter().enumerate() {
        let kept = folder.join(format!("created-{n}"));
        let new = beside(path, &kept, &FileState::of(&kept)?)?;
        disk::persist_new(new, path)?;
        disk::sync_folder(folder_of(path))?;
    }
    Ok(())
}

/// Notes that the way is begun, and by whom.
fn under_way(journal: &Journal, operation: &mut Operation, state: State) -> Result<(), UndoError> {
    operation.state = state;
    operation.pid = std::process::id();
    operation.pid_start = process_start(operation.pid);
    Ok(journal.record(operation)?)
}

/// Notes that all is done.
fn settled(journal: &Journal, operation: &Operation, state: State) -> Result<Operation, UndoError> {
    let done = Operation {
        state,
        ..operation.clone()
    };
    journal.record_done(&done)?;
    Ok(done)
}

/// Looks a last time whether anybody wrote to what was in place.
fn look_again(swaps: &[Swap]) -> Result<(), UndoError> {
    for swap in swaps {
        if !swap.is_still()? {
            return Err(at(swap.path(), SwapError::Changed));
        }
    }
    Ok(())
}

/// Puts everything back after a failure, and notes that nothing was done; where not all can be put back,
/// that is left to the next run.
fn put_back(
    journal: &Journal,
    mut operation: Operation,
    swaps: Vec<Swap>,
    gone: bool,
    state: State,
    error: UndoError,
) -> UndoError {
    for swap in swaps.into_iter().rev() {
        // What came of it is looked at.
        let _ = swap.put_back();
    }
    let as_before = is_as(&operation, state == State::Committed).unwrap_or(false);
    if gone && as_before && journal.sweep(&operation) {
        operation.state = state;
        let _ = journal.record(&operation);
    }
    error
}

fn at(path: &Path, error: SwapError) -> UndoError {
    let path = path.to_owned();
    match error {
        SwapError::Busy => UndoError::Busy { path },
        SwapError::Changed => UndoError::Disturbed { path },
        SwapError::Io(error) => error.into(),
    }
}

fn stamp_of(path: &Path) -> Result<Stamp, UndoError> {
    match Stamp::of(path) {
        Err(e) if e.kind() == io::ErrorKind::NotFound => Err(UndoError::Gone {
            path: path.to_owned(),
        }),
        other => Ok(other?),
    }
}

/// Fails unless kept bytes are what they were. What a client with the old file still open appended to
/// it since may follow: that comes back with them.
fn whole(backup: &Path, before: &FileState) -> Result<(), UndoError> {
    let stamp = Stamp::of(backup)?;
    let modified = stamp
        .modified
        .and_then(|t| t.duration_since(SystemTime::UNIX_EPOCH).ok())
        .and_then(|d| u64::try_from(d.as_nanos()).ok());
    if stamp.len == before.len && modified.is_some() && modified == before.modified {
        return Ok(());
    }
    if begins_with(crate::document::Source::open(backup)?.bytes(), before) {
        return Ok(());
    }
    Err(UndoError::Spoilt {
        path: backup.to_owned(),
    })
}

/// Fails unless a file is what it was; tells what was appended, if that is all that happened.
fn unchanged(path: &Path, expected: Option<&FileState>) -> Result<(), UndoError> {
    let Some(expected) = expected else {
        return Ok(());
    };
    let source = match crate::document::Source::open(path) {
        Ok(source) => source,
        Err(e) if e.kind() == io::ErrorKind::NotFound => {
            return Err(UndoError::Gone {
                path: path.to_owned(),
            });
        }
        Err(e) => return Err(e.into()),
    };
    let bytes = source.bytes();
    let begins = begins_with(bytes, expected);
    if begins && bytes.len() as u64 == expected.len {
        return Ok(());
    }
    let added = begins.then(|| bytes[expected.len as usize..].to_vec());
    Err(UndoError::Changed {
        path: path.to_owned(),
        added,
    })
}

/// Whether entries that were added can follow the old bytes: their parents must be there.
fn fits(backup: &Path, added: &[u8]) -> Result<(), UndoError> {
    let old = crate::session::Session::open(backup)?;
    let new = crate::session::Session::new(crate::document::Document::from_bytes(added));
    for e in new
        .entries()
        .iter()
        .filter(|e| e.is_chained() && e.parent.is_some())
    {
        if old.find(e.parent).is_none() && new.find(e.parent).is_none() {
            let uuid = new.string(e, &["parentUuid"]).unwrap_or_default();
            return Err(UndoError::Orphans(format!(
                "the parent {uuid} was not in the old transcript"
            )));
        }
    }
    Ok(())
}

/// Keeps a file's bytes in the journal.
fn keep(path: &Path, at: &Path) -> Result<(), UndoError> {
    match disk::remove_file(at) {
        Err(e) if e.kind() != io::ErrorKind::NotFound => return Err(e.into()),
        _ => {}
    }
    if !link_or_copy(path, at)? {
        FileState::of(path)?.apply_to(at)?;
    }
    disk::sync_folder(folder_of(at))?;
    Ok(())
}

/// Keeps the `n`th file that an operation made, for doing it again.
pub(crate) fn keep_created(
    journal: &Journal,
    operation: &Operation,
    n: usize,
) -> Result<(), UndoError> {
    let at = journal.folder(&operation.id).join(format!("created-{n}"));
    keep(&operation.created[n], &at)
}

/// The old file as a temp file beside its place, with lines behind its own.
pub(crate) fn old_file(replaced: &Replaced, added: &[u8]) -> Result<TempPath, UndoError> {
    if added.is_empty() {
        return beside(&replaced.path, &replaced.backup, &replaced.before);
    }
    let candidate = with_lines(&replaced.path, &replaced.backup, added)?;
    candidate.mode_of(&replaced.path)?;
    candidate.sync()?;
    Ok(candidate.into_temp())
}

/// Kept bytes as a temp file beside their place: a link of the very file where that can be had, with its
/// mode and time, else a copy that is given them.
fn beside(path: &Path, kept: &Path, state: &FileState) -> Result<TempPath, UndoError> {
    let temp = disk::temp_name(folder_of(path));
    if disk::link(kept, &temp).is_err() {
        copy_private(kept, &temp)?;
        let temp = TempPath::try_from_path(temp)?;
        state.apply_to(&temp)?;
        return Ok(temp);
    }
    Ok(TempPath::try_from_path(temp)?)
}
