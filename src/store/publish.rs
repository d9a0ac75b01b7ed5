//! Carries results to the disk, so that a crash at any point leaves the old or the new, never a mixture.

use std::io;
use std::path::{Path, PathBuf};

use crate::rewrite::{Renames, emit};
use crate::session::Session;

use super::atomic::{
    Candidate, PublishError, copy_private, create_private_dirs, link_or_copy, sync_folder,
};
use super::disk;
use super::journal::{FileState, Journal, JournalError, Operation, State, process_start};
use super::quarantine::quarantine;
use super::recover::remove_folders;

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
    #[error("another process has `{}` open for writing", path.display())]
    Busy { path: PathBuf },
    #[error("what was written to `{}` does not read back as planned; this is a bug in ccsurgery, and nothing was published", path.display())]
    ReadBack { path: PathBuf },
    #[error(transparent)]
    Io(#[from] io::Error),
}

/// What a new session is made of.
#[derive(Debug)]
pub struct NewSession<'a> {
    /// Its files, the last of them its transcript.
    pub files: &'a [NewFile<'a>],
    /// What is renamed in them.
    pub renames: &'a Renames,
    /// Bytes that are not part of it and are kept beside the journal, by line.
    pub quarantine: &'a [(u32, Vec<u8>)],
}

/// Publishes a new session, its transcript last, so that before it nothing is there that a client would
/// list. `published` is called when it is there, before it counts as done.
pub fn create(
    journal: &Journal,
    mut operation: Operation,
    new: &NewSession<'_>,
    published: impl FnOnce(),
) -> Result<Operation, CommitError> {
    let _lock = journal.lock()?;
    let files = new.files;
    if let Some(existing) = files.iter().find(|f| f.target.symlink_metadata().is_ok()) {
        let path = existing.target.clone();
        return Err(PublishError::Exists { path }.into());
    }
    operation.created = files.iter().map(|f| f.target.clone()).collect();
    operation.created_dirs = missing_folders(files);
    operation.pid = std::process::id();
    operation.pid_start = process_start(operation.pid);
    let mut made = Vec::new();
    let outcome = make_all(journal, &mut operation, new, &mut made).and_then(|()| {
        published();
        operation.state = State::Committed;
        Ok(journal.record(&operation)?)
    });
    match outcome {
        Ok(()) => Ok(operation),
        Err(error) => {
            take_back(journal, &operation, &made);
            Err(error)
        }
    }
}

/// Removes what a failed run made. What cannot be removed is left to the next run, and so is the record.
fn take_back(journal: &Journal, operation: &Operation, made: &[&Path]) {
    let mut gone = true;
    for path in made.iter().rev() {
        let removed = disk::remove_file(path);
        gone &= removed.is_ok() || path.symlink_metadata().is_err();
    }
    remove_folders(operation);
    if gone {
        let _ = journal.discard(&operation.id);
    }
}

fn make_all<'a>(
    journal: &Journal,
    operation: &mut Operation,
    new: &NewSession<'a>,
    made: &mut Vec<&'a Path>,
) -> Result<(), CommitError> {
    journal.record(operation)?;
    quarantine(journal, &operation.id, new.quarantine)?;
    for dir in &operation.created_dirs {
        create_private_dirs(dir)?;
    }
    // The largest part first, while nothing else has been made.
    let Some((transcript, sidecars)) = new.files.split_last() else {
        return Err(io::Error::other("a new session has a transcript").into());
    };
    let Make::Transcript(session) = &transcript.make else {
        return Err(io::Error::other("the last file of a new session is its transcript").into());
    };
    let renamed = |target: &Path, session: &Session| {
        Candidate::write(target, |out| emit(session, Some(new.renames), out))
    };
    let candidate = renamed(&transcript.target, session)?;
    let state = settle(session, &candidate)?;
    for file in sidecars {
        let outcome = match &file.make {
            Make::Transcript(session) => renamed(&file.target, session).and_then(Candidate::create),
            Make::Copy(from) => copy_private(from, &file.target),
            Make::Link(from) => link_or_copy(from, &file.target).map(drop),
        };
        if !matches!(outcome, Err(PublishError::Exists { .. })) {
            made.push(&file.target);
        }
        outcome?;
    }
    let mut states = Vec::with_capacity(new.files.len());
    for file in sidecars {
        states.push(FileState::of(&file.target)?);
    }
    states.push(state);
    for dir in &operation.created_dirs {
        sync_folder(dir)?;
    }
    operation.created_states = states;
    journal.record(operation)?;
    let outcome = candidate.create();
    if !matches!(outcome, Err(PublishError::Exists { .. })) {
        made.push(&transcript.target);
    }
    Ok(outcome?)
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
    // What a killed run left here.
    disk::sweep(disk::folder_of(path));
    let candidate = Candidate::write(path, |out| emit(session, renames, out))?;
    read_back(session, candidate.path())?;
    Ok(candidate.create()?)
}
