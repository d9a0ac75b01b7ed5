//! Redoes an operation that was undone, from the bytes that undo kept.

use std::path::Path;

use crate::session::Session;
use crate::store::fs::atomic::{create_private_dirs, sync_folders_of};
use crate::store::fs::disk::{self, folder_of};
use crate::store::fs::swap::{Swap, Swaps};
use crate::store::fs::{FileState, Stamp};
use crate::store::sessions::{IndexEntry, add_to_index, index_file};
use crate::view::Overview;

use super::error::UndoError;
use super::journal::Journal;
use super::kept::{beside, check_kept};
use super::now::Now;
use super::record::{Operation, State};
use super::recover::{remove_folders, remove_left_folders};
use super::shared_edit::{apply_all, revert_all};
use super::undo::{
    Step, back_to, begin, check_places, check_undisturbed, is_same, remove_resume_cache, settle,
    stamp_of,
};

/// Returns what redo would do, or why it cannot. Writes nothing.
pub fn check_redo(journal: &Journal, operation: &Operation) -> Result<Vec<Step>, UndoError> {
    let stamps = stamps(journal, operation)?;
    let mut steps = Vec::new();
    for (file, stamp) in operation.replaced.iter().zip(stamps) {
        let path = file.path.clone();
        steps.push(match (stamp, &file.after) {
            (Some(stamp), Some(after)) => Step::Replace {
                path,
                from: stamp.len,
                to: after.len,
            },
            _ => Step::Leave { path },
        });
    }
    let created = operation.created.iter().zip(&operation.created_states);
    steps.extend(created.rev().map(|(path, state)| Step::Create {
        path: path.clone(),
        len: state.len,
    }));
    for (file, stamp) in operation.removed.iter().zip(removed_stamps(operation)?) {
        let path = file.path.clone();
        steps.push(match stamp {
            Some(stamp) => Step::Remove {
                path,
                len: stamp.len,
            },
            None => Step::Leave { path },
        });
    }
    Ok(steps)
}

/// Returns the stamp of each file that was removed and put back; `None` if it is not there.
fn removed_stamps(operation: &Operation) -> Result<Vec<Option<Stamp>>, UndoError> {
    let mut stamps = Vec::new();
    for file in &operation.removed {
        let stamp = stamp_of(&file.path)?;
        if stamp.is_some() && !is_same(&file.path, &file.before)? {
            let path = file.path.clone();
            return Err(UndoError::Changed { path, added: None });
        }
        stamps.push(stamp);
    }
    Ok(stamps)
}

/// Checks that everything is as it was before the operation. Returns the stamp of each replaced file; `None` if it has
/// the new bytes already.
fn stamps(journal: &Journal, operation: &Operation) -> Result<Vec<Option<Stamp>>, UndoError> {
    check_places(journal, operation)?;
    let mut stamps = Vec::new();
    for (n, file) in operation.replaced.iter().enumerate() {
        let stamp = stamp_of(&file.path)?;
        let path = file.path.clone();
        stamps.push(match Now::of(file)? {
            Now::New(_) => None,
            Now::Old(added) if added.is_empty() => {
                let after = file.after.as_ref().ok_or(UndoError::Incomplete)?;
                check_kept(&journal.after(&operation.id, n), after)?;
                stamp
            }
            Now::Old(added) => {
                let added = Some(added);
                return Err(UndoError::Changed { path, added });
            }
            Now::Neither => return Err(UndoError::Changed { path, added: None }),
            Now::Missing => return Err(UndoError::Gone { path }),
            Now::Special => return Err(UndoError::Special { path }),
        });
    }
    for (n, path) in operation.created.iter().enumerate() {
        if disk::is_there(path)? {
            return Err(UndoError::Exists { path: path.clone() });
        }
        check_kept(&journal.created(&operation.id, n), state_of(operation, n)?)?;
    }
    Ok(stamps)
}

fn state_of(operation: &Operation, n: usize) -> Result<&FileState, UndoError> {
    operation.created_states.get(n).ok_or(UndoError::Incomplete)
}

/// Redoes an operation that was undone.
pub fn redo(journal: &Journal, mut operation: Operation) -> Result<Operation, UndoError> {
    let _lock = journal.lock()?;
    let stamps = stamps(journal, &operation)?;
    let removed = removed_stamps(&operation)?;
    let mut swaps = Swaps::default();
    let outcome = begin(journal, &mut operation, State::Redoing)
        .and_then(|()| do_again(journal, &operation, &stamps, &mut swaps))
        .and_then(|()| remove_again(journal, &operation, &removed, &mut swaps))
        .and_then(|()| check_undisturbed(&swaps))
        .and_then(|()| {
            apply_all(&operation.shared)?;
            enter_in_index(&operation);
            settle(journal, &operation, State::Committed)
        });
    match outcome {
        Ok(done) => {
            swaps.finish();
            remove_left_folders(&operation);
            Ok(done)
        }
        Err(error) => {
            // None of the created files existed before.
            for path in operation.created.iter().rev() {
                let _ = disk::remove_file(path);
            }
            let tidy = remove_folders(&operation);
            swaps.put_back();
            let _ = revert_all(&operation.shared);
            back_to(journal, operation, tidy, State::Undone);
            Err(error)
        }
    }
}

fn do_again(
    journal: &Journal,
    operation: &Operation,
    stamps: &[Option<Stamp>],
    swaps: &mut Swaps,
) -> Result<(), UndoError> {
    for (n, (file, stamp)) in operation.replaced.iter().zip(stamps).enumerate() {
        let (Some(stamp), Some(after)) = (stamp, &file.after) else {
            continue;
        };
        remove_resume_cache(&file.path);
        let new = beside(&file.path, &journal.after(&operation.id, n), after)?;
        let swap = Swap::put(&file.path, *stamp, new);
        swaps.push(swap.map_err(|e| UndoError::at(&file.path, e))?);
    }
    for dir in &operation.created_dirs {
        create_private_dirs(dir)?;
    }
    let Some((transcript, others)) = operation.created.split_last() else {
        return Ok(());
    };
    for (n, path) in others.iter().enumerate() {
        create_again(journal, operation, n, path)?;
    }
    sync_folders_of(others.iter().map(std::path::PathBuf::as_path))?;
    // The transcript last: before it, no client lists the session.
    create_again(journal, operation, others.len(), transcript)?;
    Ok(disk::sync_folder(folder_of(transcript))?)
}

/// Removes files again that undo put back. Their bytes are still kept.
fn remove_again(
    journal: &Journal,
    operation: &Operation,
    stamps: &[Option<Stamp>],
    swaps: &mut Swaps,
) -> Result<(), UndoError> {
    for (n, file) in operation.removed.iter().enumerate() {
        check_kept(&journal.removed(&operation.id, n), &file.before)?;
    }
    for (file, stamp) in operation.removed.iter().zip(stamps).rev() {
        if let Some(stamp) = stamp {
            let swap = Swap::take_away(&file.path, *stamp);
            swaps.push(swap.map_err(|e| UndoError::at(&file.path, e))?);
        }
    }
    Ok(swaps.sync()?)
}

fn create_again(
    journal: &Journal,
    operation: &Operation,
    n: usize,
    path: &Path,
) -> Result<(), UndoError> {
    let kept = journal.created(&operation.id, n);
    let new = beside(path, &kept, state_of(operation, n)?)?;
    Ok(disk::persist_new(new, path)?)
}

/// Enters a session in the client's list again. A client that keeps such a list also finds the session by itself, so a
/// failure does not matter.
fn enter_in_index(operation: &Operation) {
    let (true, Some(folder)) = (operation.makes_session(), operation.target.parent()) else {
        return;
    };
    if index_file(folder).is_none() {
        return;
    }
    let Ok(session) = Session::open(&operation.target) else {
        return;
    };
    let project = Overview::of(&session).cwd.unwrap_or_default();
    if let Ok(entry) = IndexEntry::new(&session, &operation.target, Path::new(&project)) {
        let _ = add_to_index(folder, &entry);
    }
}
