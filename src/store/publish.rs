//! Carries results to the disk, so that a crash at any point leaves the old or the new, never a mixture.

use std::io;
use std::path::{Path, PathBuf};

use crate::rewrite::{Renames, emit};
use crate::session::Session;

use super::atomic::{
    Candidate, PublishError, copy_private, create_private_dirs, link_or_copy, sync_folder,
};
use super::journal::{FileState, Journal, JournalError, Operation, State, process_start};

/// How a file of a new session comes about.
#[derive(Debug)]
pub enum Make<'a> {
    /// A transcript, renamed.
    Transcript(&'a Session),
    /// A copy of a file.
    Copy(PathBuf),
    /// A hard link where possible, else a copy: for files that nobody rewrites.
    Link(PathBuf),
}

/// A file of a new session.
#[derive(Debug)]
pub struct NewFile<'a> {
    /// Where it will be.
    pub target: PathBuf,
    /// How it comes about.
    pub make: Make<'a>,
}

/// Why a result was not published. Nothing was changed.
#[derive(Debug, thiserror::Error)]
#[allow(missing_docs)]
pub enum CommitError {
    #[error(transparent)]
    Publish(#[from] PublishError),
    #[error(transparent)]
    Journal(#[from] JournalError),
    #[error("`{}` changed while it was being worked on", path.display())]
    Changed { path: PathBuf },
    #[error("what was written to `{}` does not read back as planned; this is a bug in ccsurgery, and nothing was published", path.display())]
    ReadBack { path: PathBuf },
    #[error(transparent)]
    Io(#[from] io::Error),
}

/// Publishes the files of a new session, the last of them its transcript: that one last, so that
/// before it nothing is there that a client would list.
pub fn create(
    journal: &Journal,
    mut operation: Operation,
    files: &[NewFile<'_>],
    renames: &Renames,
) -> Result<Operation, CommitError> {
    let _lock = journal.lock()?;
    let Some((transcript, sidecars)) = files.split_last() else {
        return Ok(operation);
    };
    operation.created = files.iter().map(|f| f.target.clone()).collect();
    operation.created_dirs = missing_folders(files);
    operation.pid = std::process::id();
    operation.pid_start = process_start(operation.pid);
    journal.record(&operation)?;
    let outcome = make_all(transcript, sidecars, &operation, journal, renames);
    match outcome {
        Ok(states) => {
            operation.created_states = states;
            operation.state = State::Committed;
            journal.record(&operation)?;
            Ok(operation)
        }
        Err(error) => {
            take_back(journal, &operation, &error);
            Err(error)
        }
    }
}

/// Removes what a failed run made. A file that was there before is not ours to remove.
fn take_back(journal: &Journal, operation: &Operation, error: &CommitError) {
    let existing = match error {
        CommitError::Publish(PublishError::Exists { path }) => Some(path),
        _ => None,
    };
    for path in operation
        .created
        .iter()
        .rev()
        .filter(|p| Some(*p) != existing)
    {
        let _ = fs_err::remove_file(path);
    }
    for dir in operation.created_dirs.iter().rev() {
        let _ = fs_err::remove_dir(dir);
    }
    let _ = fs_err::remove_dir_all(journal.folder(&operation.id));
}

fn make_all(
    transcript: &NewFile<'_>,
    sidecars: &[NewFile<'_>],
    operation: &Operation,
    journal: &Journal,
    renames: &Renames,
) -> Result<Vec<FileState>, CommitError> {
    for dir in &operation.created_dirs {
        create_private_dirs(dir)?;
    }
    if let Some(existing) = sidecars
        .iter()
        .chain([transcript])
        .find(|f| f.target.symlink_metadata().is_ok())
    {
        return Err(PublishError::Exists {
            path: existing.target.clone(),
        }
        .into());
    }
    // The largest part first, while nothing else has been made.
    let Make::Transcript(session) = &transcript.make else {
        return Err(io::Error::other("the last file of a new session is its transcript").into());
    };
    let candidate = Candidate::write(&transcript.target, |out| emit(session, Some(renames), out))?;
    journal.record(&Operation {
        temporary: vec![candidate.path().to_owned()],
        ..operation.clone()
    })?;
    let state = settle(session, &candidate)?;
    for file in sidecars {
        match &file.make {
            Make::Transcript(session) => {
                Candidate::write(&file.target, |out| emit(session, Some(renames), out))?
                    .create()?;
            }
            Make::Copy(from) => copy_private(from, &file.target)?,
            Make::Link(from) => drop(link_or_copy(from, &file.target)?),
        }
    }
    let mut states = Vec::with_capacity(sidecars.len() + 1);
    for file in sidecars {
        states.push(FileState::of(&file.target)?);
    }
    states.push(state);
    for dir in &operation.created_dirs {
        sync_folder(dir)?;
    }
    candidate.create()?;
    Ok(states)
}

/// Makes a written transcript durable, and holds it against what was meant while the disk is at it;
/// what it is, for the journal.
pub(super) fn settle(meant: &Session, candidate: &Candidate) -> Result<FileState, CommitError> {
    std::thread::scope(|scope| {
        let synced = scope.spawn(|| candidate.sync());
        read_back(meant, candidate.path())?;
        let state = FileState::of(candidate.path())?;
        synced
            .join()
            .unwrap_or_else(|panic| std::panic::resume_unwind(panic))?;
        Ok(state)
    })
}

/// Folders that have to be made, outermost first.
fn missing_folders(files: &[NewFile<'_>]) -> Vec<PathBuf> {
    let mut missing: Vec<PathBuf> = Vec::new();
    for file in files {
        let mut chain: Vec<PathBuf> = file
            .target
            .ancestors()
            .skip(1)
            .take_while(|a| !a.as_os_str().is_empty() && !a.exists())
            .map(Path::to_owned)
            .collect();
        chain.reverse();
        for dir in chain {
            if !missing.contains(&dir) {
                missing.push(dir);
            }
        }
    }
    missing
}

/// Reads a written transcript again, and holds it against what was meant: the same records, kinds and parents.
fn read_back(meant: &Session, path: &Path) -> Result<(), CommitError> {
    let written = Session::open(path)?;
    let same = written.entries().len() == meant.entries().len()
        && written.lines().len() == meant.lines().len()
        && written
            .entries()
            .iter()
            .zip(meant.entries())
            .enumerate()
            .all(|(i, (a, b))| {
                a.kind == b.kind
                    && a.line == b.line
                    && a.blocks == b.blocks
                    && written.graph().parent(i) == meant.graph().parent(i)
                    && a.uuid.is_some() == b.uuid.is_some()
            })
        && written.graph().path() == meant.graph().path();
    if same {
        Ok(())
    } else {
        Err(CommitError::ReadBack {
            path: path.to_owned(),
        })
    }
}

/// Writes a result to a file of the user's choice, which must not exist.
pub fn export(
    path: &Path,
    session: &Session,
    renames: Option<&Renames>,
) -> Result<(), CommitError> {
    let candidate = Candidate::write(path, |out| emit(session, renames, out))?;
    read_back(session, candidate.path())?;
    Ok(candidate.create()?)
}
