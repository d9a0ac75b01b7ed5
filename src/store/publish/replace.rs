//! Rewrites transcripts in place, and keeps the old bytes.

use std::path::{Path, PathBuf};

use crate::session::Session;

use super::error::CommitError;
use super::quarantine::quarantine;
use super::write::write_transcript;
use crate::store::fs::Stamp;
use crate::store::fs::atomic::{link_or_copy, sync_folder};
use crate::store::fs::disk;
use crate::store::fs::swap::{Swap, SwapError};
use crate::store::fs::{FileState, process_start};
use crate::store::journal::{Journal, Operation, Replaced, State};
use crate::store::journal::{is_as, put_all_old};

/// A transcript and what it becomes.
#[derive(Debug)]
pub struct Replacement<'a> {
    /// The file.
    pub path: &'a Path,
    /// What it was when it was read.
    pub stamp: Stamp,
    /// What it becomes.
    pub after: &'a Session,
}

/// Replaces transcripts by results as one operation; `kept` are bytes that leave them without being a
/// record, by line.
///
/// What a client appends meanwhile is not lost: where a file is not as it was read until the moment when
/// its result has its name, all files are put back, and nothing was done.
pub fn replace(
    journal: &Journal,
    mut operation: Operation,
    files: &[Replacement<'_>],
    kept: &[(u32, Vec<u8>)],
) -> Result<Operation, CommitError> {
    let _lock = journal.lock()?;
    operation.pid = std::process::id();
    operation.pid_start = process_start(operation.pid);
    let mut swaps = Vec::new();
    match replace_all(journal, &mut operation, files, kept, &mut swaps) {
        Ok(()) => {
            swaps.into_iter().for_each(Swap::finish);
            Ok(operation)
        }
        Err(error) => {
            for swap in swaps.into_iter().rev() {
                // What came of it is looked at.
                let _ = swap.put_back();
            }
            // Where there are no links, the old bytes are in the journal alone.
            put_all_old(&operation);
            // What cannot be put back or removed is left to the next run, and so is the record.
            if is_as(&operation, false).unwrap_or(false) && journal.sweep(&operation) {
                let _ = journal.discard(&operation.id);
            }
            Err(error)
        }
    }
}

fn replace_all(
    journal: &Journal,
    operation: &mut Operation,
    files: &[Replacement<'_>],
    kept: &[(u32, Vec<u8>)],
    swaps: &mut Vec<Swap>,
) -> Result<(), CommitError> {
    let folder = journal.folder(&operation.id);
    for (n, file) in files.iter().enumerate() {
        let path = real(file)?;
        let before = FileState::of(&path)?;
        operation.replaced.push(Replaced {
            path,
            backup: folder.join(format!("before-{n}.jsonl")),
            before,
            after: None,
        });
    }
    journal.record(operation)?;
    quarantine(journal, &operation.id, kept)?;
    let mut candidates = Vec::new();
    for (file, replaced) in files.iter().zip(&mut operation.replaced) {
        back_up(replaced)?;
        let path = &replaced.path;
        let (candidate, written) = write_transcript(path, file.after, None, Some(path))?;
        replaced.after = Some(written);
        candidates.push(candidate.into_temp());
    }
    sync_folder(&folder)?;
    // From here on a crash is mended from the record, which knows the old bytes and the new ones.
    journal.record(operation)?;
    for ((file, replaced), new) in files.iter().zip(&operation.replaced).zip(candidates) {
        let swap = Swap::put(&replaced.path, file.stamp, new);
        swaps.push(swap.map_err(|e| at(&replaced.path, e))?);
    }
    for swap in &*swaps {
        if !swap.is_still()? {
            return Err(at(swap.path(), SwapError::Changed));
        }
    }
    operation.state = State::Committed;
    Ok(journal.record_done(operation)?)
}

/// Where a file really is, for a link to it stays one; fails where it is no longer what was read.
fn real(file: &Replacement<'_>) -> Result<PathBuf, CommitError> {
    let path = fs_err::canonicalize(file.path)?;
    if Stamp::of(&path)? != file.stamp {
        return Err(at(&path, SwapError::Changed));
    }
    Ok(path)
}

/// Keeps the old file: the very one where it can have a second name, else a copy.
fn back_up(replaced: &Replaced) -> Result<(), CommitError> {
    disk::sync(&std::fs::File::open(&replaced.path)?)?;
    if link_or_copy(&replaced.path, &replaced.backup)?
        || replaced
            .before
            .sum
            .is_of(crate::document::Source::open(&replaced.backup)?.bytes())
    {
        return Ok(());
    }
    Err(at(&replaced.path, SwapError::Changed))
}

fn at(path: &Path, error: SwapError) -> CommitError {
    let path = path.to_owned();
    match error {
        SwapError::Busy => CommitError::Busy { path },
        SwapError::Changed => CommitError::Changed { path },
        SwapError::Io(error) => error.into(),
    }
}
