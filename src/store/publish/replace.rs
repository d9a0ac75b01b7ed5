//! Replaces transcripts in place, and keeps the old bytes.

use std::path::{Path, PathBuf};

use crate::document::Source;
use crate::store::fs::atomic::{create_private_dirs, link_or_copy, sync_folder};
use crate::store::fs::swap::{Swap, SwapError, Swaps};
use crate::store::fs::{FileState, Stamp, disk, real_path};
use crate::store::journal::{
    Journal, Operation, Replaced, State, before_name, is_as, remove_folders, remove_resume_cache,
};
use crate::surgery::Verified;

use super::change_set::{Removal, not_kept};
use super::create::{NewFile, announce, make_files};
use super::error::CommitError;
use super::quarantine::quarantine;
use super::write::write_transcript;

/// A transcript and what it becomes.
#[derive(Debug)]
pub(crate) struct Replacement<'a> {
    /// The file.
    pub path: &'a Path,
    /// What it was when it was read.
    pub stamp: Stamp,
    /// What it becomes.
    pub after: &'a Verified,
}

/// Replaces transcripts by results, as one operation, and makes and removes files beside them. `kept` are removed lines
/// that could not be read, by their number.
///
/// What a client appends meanwhile is not lost: if a file changes before its result has its name, all files are put back,
/// and nothing was done.
pub(crate) fn replace(
    journal: &Journal,
    mut operation: Operation,
    files: &[Replacement<'_>],
    beside: &[NewFile<'_>],
    removals: &[&Removal],
    kept: &[(u32, Vec<u8>)],
) -> Result<Operation, CommitError> {
    let _lock = journal.lock()?;
    announce(&mut operation, beside)?;
    for removal in removals {
        operation.removed.push(removal.state()?);
    }
    operation.claim();
    let mut swaps = Swaps::default();
    let mut made = Vec::new();
    let outcome = prepare(journal, &mut operation, files, kept)
        .and_then(|()| make_beside(&mut operation, beside, &mut made))
        .and_then(|()| replace_all(journal, &mut operation, files, removals, &mut swaps));
    match outcome {
        Ok(()) => {
            swaps.finish();
            Ok(operation)
        }
        Err(error) => {
            swaps.put_back();
            // Without a second name for the old file, its bytes are only in the journal.
            journal.put_all_old(&operation);
            for path in made.iter().rev() {
                let _ = disk::remove_file(path);
            }
            remove_folders(&operation);
            // If something cannot be put back or removed, the record stays and the next run tries again.
            if is_as(&operation, false).unwrap_or(false) && journal.sweep(&operation) {
                let _ = journal.discard(&operation.id);
            }
            Err(error)
        }
    }
}

/// Records what the files are now.
fn prepare(
    journal: &Journal,
    operation: &mut Operation,
    files: &[Replacement<'_>],
    kept: &[(u32, Vec<u8>)],
) -> Result<(), CommitError> {
    for (n, file) in files.iter().enumerate() {
        let path = real(file)?;
        let before = FileState::of(&path)?;
        operation.replaced.push(Replaced {
            path,
            backup: before_name(n).into(),
            before,
            after: None,
        });
    }
    journal.record(operation)?;
    quarantine(journal, &operation.id, kept)?;
    Ok(())
}

/// Makes the files beside the transcript. They are there before it names them.
fn make_beside<'a>(
    operation: &mut Operation,
    files: &'a [NewFile<'a>],
    made: &mut Vec<&'a Path>,
) -> Result<(), CommitError> {
    for dir in &operation.created_dirs {
        create_private_dirs(dir)?;
    }
    operation.created_states = make_files(files, None, made)?;
    Ok(())
}

fn replace_all(
    journal: &Journal,
    operation: &mut Operation,
    files: &[Replacement<'_>],
    removals: &[&Removal],
    swaps: &mut Swaps,
) -> Result<(), CommitError> {
    let folder = journal.folder(&operation.id);
    let mut candidates = Vec::new();
    for (n, (file, replaced)) in files.iter().zip(&mut operation.replaced).enumerate() {
        back_up(replaced, &folder.join(before_name(n)))?;
        let path = &replaced.path;
        let (candidate, written) = write_transcript(path, file.after, None, Some(path))?;
        replaced.after = Some(written);
        candidates.push(candidate.into_temp());
    }
    for n in 0..removals.len() {
        journal.keep_removed(operation, n).map_err(not_kept)?;
    }
    sync_folder(&folder)?;
    // From here on a crash is repaired from the record, which knows the old bytes and the new ones.
    journal.record(operation)?;
    for ((file, replaced), new) in files.iter().zip(&operation.replaced).zip(candidates) {
        remove_resume_cache(file.path);
        let swap = Swap::put(&replaced.path, file.stamp, new);
        swaps.push(swap.map_err(|e| at(&replaced.path, e))?);
    }
    for removal in removals.iter().rev() {
        let swap = Swap::take_away(&removal.path, removal.stamp);
        swaps.push(swap.map_err(|e| at(&removal.path, e))?);
    }
    if !removals.is_empty() {
        swaps.sync()?;
    }
    if let Some(path) = swaps.disturbed()? {
        return Err(at(path, SwapError::Changed));
    }
    operation.state = State::Committed;
    Ok(journal.record_done(operation)?)
}

/// Returns where a file really is, because a link to it stays a link. Fails if it is no longer what was read.
fn real(file: &Replacement<'_>) -> Result<PathBuf, CommitError> {
    let path = real_path(file.path)?;
    if Stamp::of(&path)? != file.stamp {
        return Err(at(&path, SwapError::Changed));
    }
    Ok(path)
}

/// Keeps the old file: as a second name for it if possible, else as a copy.
fn back_up(replaced: &Replaced, backup: &Path) -> Result<(), CommitError> {
    disk::sync_path(&replaced.path)?;
    if link_or_copy(&replaced.path, backup)?
        || replaced.before.sum.is_of(Source::open(backup)?.bytes())
    {
        return Ok(());
    }
    Err(at(&replaced.path, SwapError::Changed))
}

pub(super) fn at(path: &Path, error: SwapError) -> CommitError {
    let path = path.to_owned();
    match error {
        SwapError::Busy => CommitError::Busy { path },
        SwapError::Changed => CommitError::Changed { path },
        SwapError::Io(error) => error.into(),
    }
}
