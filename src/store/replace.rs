//! Rewrites transcripts in place, and keeps the old bytes.

use std::fs::File;
use std::io::{self, Read, Seek, SeekFrom, Write};
use std::path::Path;

use crate::rewrite::emit;
use crate::session::Session;

use super::atomic::{Candidate, create_private_dirs, link_or_copy, sync_folder};
use super::guard::Stamp;
use super::journal::{FileState, Journal, JournalError, Operation, Replaced, State, process_start};
use super::publish::{CommitError, settle};

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

/// Replaces transcripts by results as one operation.
///
/// What a client appends meanwhile is not lost: a file must be as it was read until the moment of
/// its rename, and whatever reached the old file after that is appended to the new one.
pub fn replace(
    journal: &Journal,
    mut operation: Operation,
    files: &[Replacement<'_>],
) -> Result<Operation, CommitError> {
    let _lock = journal.lock()?;
    let folder = journal.folder(&operation.id);
    create_private_dirs(&folder).map_err(JournalError::from)?;
    operation.pid = std::process::id();
    operation.pid_start = process_start(operation.pid);
    journal.record(&operation)?;
    match replace_all(journal, &mut operation, files, &folder) {
        Ok(()) => {
            operation.state = State::Committed;
            operation.temporary.clear();
            journal.record(&operation)?;
            Ok(operation)
        }
        Err(error) => {
            // What was replaced before the failure goes back to what it was.
            for replaced in &operation.replaced {
                let _ = super::undo::restore(&replaced.path, &replaced.backup, &replaced.before);
            }
            let _ = fs_err::remove_dir_all(&folder);
            Err(error)
        }
    }
}

fn replace_all(
    journal: &Journal,
    operation: &mut Operation,
    files: &[Replacement<'_>],
    folder: &Path,
) -> Result<(), CommitError> {
    let mut candidates = Vec::new();
    let mut backups = Vec::new();
    for (n, file) in files.iter().enumerate() {
        let backup = folder.join(format!("before-{n}.jsonl"));
        let old = File::open(file.path)?;
        let before = FileState::of(file.path)?;
        link_or_copy(file.path, &backup)?;
        backups.push(Replaced {
            path: file.path.to_owned(),
            backup,
            before,
            after: None,
        });
        let candidate = Candidate::write(file.path, |out| emit(file.after, None, out))?;
        operation.temporary.push(candidate.path().to_owned());
        candidates.push((old, candidate));
    }
    sync_folder(folder)?;
    // From here on a crash is mended from the record, which knows every old byte.
    journal.record(&Operation {
        replaced: backups.clone(),
        ..operation.clone()
    })?;
    for ((file, (mut old, candidate)), mut replaced) in files.iter().zip(candidates).zip(backups) {
        candidate.mode_of(file.path)?;
        replaced.after = Some(settle(file.after, &candidate)?);
        if Stamp::of(file.path)? != file.stamp {
            return Err(CommitError::Changed {
                path: file.path.to_owned(),
            });
        }
        operation.replaced.push(replaced);
        candidate.replace()?;
        if carry_over(&mut old, file.stamp.len, file.path)?
            && let Some(last) = operation.replaced.last_mut()
        {
            last.after = Some(FileState::of(file.path)?);
        }
    }
    Ok(())
}

/// Appends to the new file what reached the old one after it was last looked at; true if anything did.
fn carry_over(old: &mut File, known: u64, path: &Path) -> io::Result<bool> {
    if old.metadata()?.len() <= known {
        return Ok(false);
    }
    let mut late = Vec::new();
    old.seek(SeekFrom::Start(known))?;
    old.read_to_end(&mut late)?;
    let mut new = std::fs::OpenOptions::new().append(true).open(path)?;
    new.write_all(&late)?;
    new.sync_all()?;
    Ok(true)
}
