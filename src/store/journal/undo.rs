//! Undoes an operation: replaced files get their old bytes, mode and time back, created files are removed.

use std::path::{Path, PathBuf};

use crate::document::{Document, Source};
use crate::session::Session;
use crate::store::fs::atomic::{create_private_dirs, sync_folders_of};
use crate::store::fs::disk::{self, folder_of};
use crate::store::fs::swap::{Swap, Swaps};
use crate::store::fs::{FileState, Stamp, is_regular};
use crate::store::sessions::resume_cache;

use super::error::UndoError;
use super::journal::Journal;
use super::kept::check_kept;
use super::now::Now;
use super::record::{Operation, State};
use super::recover::{is_as, remove_folders, remove_left_folders};
use super::shared_edit::{apply_all, revert_all};

/// What undo or redo does to one file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Step {
    /// Replaces the bytes of a file.
    Replace {
        /// The file.
        path: PathBuf,
        /// Its size now.
        from: u64,
        /// Its size afterwards.
        to: u64,
    },
    /// Creates a file that does not exist.
    Create {
        /// The file.
        path: PathBuf,
        /// Its size afterwards.
        len: u64,
    },
    /// Removes a file.
    Remove {
        /// The file.
        path: PathBuf,
        /// Its size now.
        len: u64,
    },
    /// Leaves a file alone, because it is already as wanted.
    Leave {
        /// The file.
        path: PathBuf,
    },
}

/// How each file of an operation is treated.
struct Way {
    /// For each replaced file; `None` if it is as it was before.
    replaced: Vec<Option<Old>>,
    /// For each created file; `None` if it does not exist.
    created: Vec<Option<Stamp>>,
    /// For each removed file: whether it has to be put back.
    removed: Vec<bool>,
}

/// How a replaced file gets its old bytes back.
enum Old {
    /// In place of the new ones, followed by what was added since.
    Swap(Stamp, Vec<u8>),
    /// As a new file: somebody deleted it.
    Recreate,
}

/// Returns what undo would do, or why it cannot. Writes nothing.
pub fn check_undo(
    journal: &Journal,
    operation: &Operation,
    onto_current: bool,
) -> Result<Vec<Step>, UndoError> {
    let way = Way::of(journal, operation, onto_current)?;
    let mut steps = Vec::new();
    for (file, old) in operation.replaced.iter().zip(way.replaced) {
        let path = file.path.clone();
        steps.push(match old {
            None => Step::Leave { path },
            Some(Old::Recreate) => Step::Create {
                path,
                len: file.before.len,
            },
            Some(Old::Swap(stamp, added)) => Step::Replace {
                path,
                from: stamp.len,
                to: file.before.len + added.len() as u64,
            },
        });
    }
    for (file, is_missing) in operation.removed.iter().zip(way.removed) {
        let path = file.path.clone();
        let len = file.before.len;
        steps.push(if is_missing {
            Step::Create { path, len }
        } else {
            Step::Leave { path }
        });
    }
    for (path, stamp) in operation.created.iter().zip(way.created).rev() {
        let path = path.clone();
        steps.push(match stamp {
            None => Step::Leave { path },
            Some(stamp) => Step::Remove {
                path,
                len: stamp.len,
            },
        });
    }
    Ok(steps)
}

impl Way {
    fn of(journal: &Journal, operation: &Operation, onto: bool) -> Result<Self, UndoError> {
        if operation.forgets {
            return Err(UndoError::Forgotten);
        }
        check_places(journal, operation)?;
        let mut replaced = Vec::new();
        for (n, file) in operation.replaced.iter().enumerate() {
            let stamp = stamp_of(&file.path)?;
            let path = file.path.clone();
            let old = match (Now::of(file)?, stamp) {
                (Now::Old(_), _) => None,
                (Now::Missing, _) => Some(Old::Recreate),
                (Now::New(added), Some(stamp)) if added.is_empty() || onto => {
                    Some(Old::Swap(stamp, added))
                }
                (Now::New(added), Some(_)) => {
                    let added = Some(added);
                    return Err(UndoError::Changed { path, added });
                }
                (Now::New(_), None) => return Err(UndoError::Disturbed { path }),
                (Now::Neither, _) => return Err(UndoError::Changed { path, added: None }),
                (Now::Special, _) => return Err(UndoError::Special { path }),
            };
            if let Some(old) = &old {
                let kept = journal.before(&operation.id, n);
                check_kept(&kept, &file.before)?;
                if let Old::Swap(_, added) = old {
                    check_parents(&kept, added)?;
                }
            }
            replaced.push(old);
        }
        let mut created = Vec::new();
        for (n, path) in operation.created.iter().enumerate() {
            if !disk::is_there(path)? {
                created.push(None);
                continue;
            }
            let state = operation.created_states.get(n);
            let state = state.ok_or(UndoError::Incomplete)?;
            created.push(Some(unchanged(path, state)?));
        }
        let mut removed = Vec::new();
        for (n, file) in operation.removed.iter().enumerate() {
            let is_missing = !disk::is_there(&file.path)?;
            if is_missing {
                check_kept(&journal.removed(&operation.id, n), &file.before)?;
            } else if !is_same(&file.path, &file.before)? {
                let path = file.path.clone();
                return Err(UndoError::Exists { path });
            }
            removed.push(is_missing);
        }
        Ok(Self {
            replaced,
            created,
            removed,
        })
    }
}

/// Returns the stamp of a file, if it exists. It is taken before the bytes are read, so that a later change is noticed.
pub(super) fn stamp_of(path: &Path) -> Result<Option<Stamp>, UndoError> {
    match Stamp::of(path) {
        Ok(stamp) => Ok(Some(stamp)),
        Err(e) if disk::is_missing(&e) => Ok(None),
        Err(e) => Err(e.into()),
    }
}

/// Fails if an operation created files where Claude Code keeps none, or replaced files that do not belong to its session:
/// those are never touched.
pub(super) fn check_places(journal: &Journal, operation: &Operation) -> Result<(), UndoError> {
    if !journal.is_ours(operation) {
        let config = journal.config().root().to_owned();
        return Err(UndoError::Foreign { config });
    }
    match journal.misplaced(operation) {
        Some(path) => Err(UndoError::Misplaced {
            path: path.to_owned(),
        }),
        None => Ok(()),
    }
}

/// Undoes an operation. With `onto_current`, lines that were appended to a replaced file since are kept.
pub fn undo(
    journal: &Journal,
    mut operation: Operation,
    onto_current: bool,
) -> Result<Operation, UndoError> {
    let _lock = journal.lock()?;
    let way = Way::of(journal, &operation, onto_current)?;
    let mut swaps = Swaps::default();
    let mut put = Vec::new();
    let outcome = begin(journal, &mut operation, State::Undoing)
        .and_then(|()| take_back(journal, &operation, &way, &mut swaps, &mut put))
        .and_then(|()| check_undisturbed(&swaps))
        .and_then(|()| Ok(revert_all(&operation.shared)?))
        .and_then(|()| settle(journal, &operation, State::Undone));
    match outcome {
        Ok(done) => {
            swaps.finish();
            remove_folders(&operation);
            Ok(done)
        }
        Err(error) => {
            for n in put {
                let _ = disk::remove_file(&operation.removed[n].path);
            }
            swaps.put_back();
            let _ = apply_all(&operation.shared);
            remove_left_folders(&operation);
            back_to(journal, operation, true, State::Committed);
            Err(error)
        }
    }
}

fn take_back(
    journal: &Journal,
    operation: &Operation,
    way: &Way,
    swaps: &mut Swaps,
    put: &mut Vec<usize>,
) -> Result<(), UndoError> {
    keep_for_redo(journal, operation, way)?;
    for (n, (file, old)) in operation.replaced.iter().zip(&way.replaced).enumerate() {
        match old {
            None => {}
            Some(Old::Swap(stamp, added)) => {
                remove_resume_cache(&file.path);
                let old = journal.old_file(operation, n, added)?;
                let swap = Swap::put(&file.path, *stamp, old);
                swaps.push(swap.map_err(|e| UndoError::at(&file.path, e))?);
            }
            Some(Old::Recreate) => {
                create_private_dirs(folder_of(&file.path))?;
                let old = journal.old_file(operation, n, &[])?;
                disk::persist_new(old, &file.path)?;
                disk::sync_folder(folder_of(&file.path))?;
            }
        }
    }
    for dir in &operation.removed_dirs {
        create_private_dirs(dir)?;
    }
    for (n, _) in way
        .removed
        .iter()
        .enumerate()
        .filter(|(_, missing)| **missing)
    {
        journal.put_removed(operation, n)?;
        put.push(n);
    }
    sync_folders_of(operation.removed.iter().map(|r| r.path.as_path()))?;
    // The transcript first: without it no client lists the rest.
    for (path, stamp) in operation.created.iter().zip(&way.created).rev() {
        if let Some(stamp) = stamp {
            let swap = Swap::take_away(path, *stamp);
            swaps.push(swap.map_err(|e| UndoError::at(path, e))?);
        }
    }
    Ok(swaps.sync()?)
}

/// Keeps everything that redo needs, before anything is changed.
fn keep_for_redo(journal: &Journal, operation: &Operation, way: &Way) -> Result<(), UndoError> {
    for (n, old) in way.replaced.iter().enumerate() {
        if let Some(Old::Swap(..)) = old {
            journal.keep_after(operation, n)?;
        }
    }
    for (n, stamp) in way.created.iter().enumerate().rev() {
        if stamp.is_some() {
            journal.keep_created(operation, n)?;
        }
    }
    Ok(disk::sync_folder(&journal.folder(&operation.id))?)
}

/// Returns whether a file is exactly what was recorded.
pub(super) fn is_same(path: &Path, expected: &FileState) -> Result<bool, UndoError> {
    Ok(is_regular(path)? && expected.is_of(Source::open(path)?.bytes()))
}

/// Removes the client's cache of a transcript, which holds positions in the bytes that are replaced. The client makes a
/// new one, so a failure does not matter.
pub(crate) fn remove_resume_cache(transcript: &Path) {
    if let Some(cache) = resume_cache(transcript) {
        let _ = disk::remove_file(&cache);
    }
}

/// Records that the way is begun, and by which process.
pub(super) fn begin(
    journal: &Journal,
    operation: &mut Operation,
    state: State,
) -> Result<(), UndoError> {
    operation.state = state;
    operation.claim();
    Ok(journal.record(operation)?)
}

/// Records that everything is done.
pub(super) fn settle(
    journal: &Journal,
    operation: &Operation,
    state: State,
) -> Result<Operation, UndoError> {
    let done = Operation {
        state,
        ..operation.clone()
    };
    journal.record_done(&done)?;
    Ok(done)
}

/// Fails if somebody wrote to a file that was replaced or removed.
pub(super) fn check_undisturbed(swaps: &Swaps) -> Result<(), UndoError> {
    match swaps.disturbed()? {
        Some(path) => Err(UndoError::Disturbed {
            path: path.to_owned(),
        }),
        None => Ok(()),
    }
}

/// Records that nothing was done, if that is so; else the next run puts the rest back.
pub(super) fn back_to(journal: &Journal, mut operation: Operation, tidy: bool, state: State) {
    let as_before = is_as(&operation, state == State::Committed).unwrap_or(false);
    if tidy && as_before && journal.sweep(&operation) {
        operation.state = state;
        let _ = journal.record(&operation);
    }
}

/// Fails unless a created file is exactly what was recorded. Returns its stamp.
fn unchanged(path: &Path, expected: &FileState) -> Result<Stamp, UndoError> {
    if !is_regular(path)? {
        let path = path.to_owned();
        return Err(UndoError::Special { path });
    }
    let stamp = Stamp::of(path)?;
    let source = Source::open(path)?;
    let bytes = source.bytes();
    if expected.is_of(bytes) {
        return Ok(stamp);
    }
    let added = expected
        .starts(bytes)
        .then(|| bytes[expected.len as usize..].to_vec());
    Err(UndoError::Changed {
        path: path.to_owned(),
        added,
    })
}

/// Fails unless added entries can follow the old transcript: their parents must be there.
fn check_parents(kept: &Path, added: &[u8]) -> Result<(), UndoError> {
    if added.is_empty() {
        return Ok(());
    }
    let old = Session::open(kept)?;
    let new = Session::new(Document::from_bytes(added));
    let mut chained = new
        .entries()
        .iter()
        .filter(|e| e.is_chained() && e.parent.is_some());
    match chained.find(|e| old.find(e.parent).is_none() && new.find(e.parent).is_none()) {
        None => Ok(()),
        Some(orphan) => {
            let uuid = new.string(orphan, &["parentUuid"]).unwrap_or_default();
            Err(UndoError::Orphans(format!(
                "the parent {uuid} is not in the old transcript"
            )))
        }
    }
}
