//! Publishes a new session, so that a crash at any point leaves all of it or nothing.

use std::io;
use std::path::{Path, PathBuf};

use crate::surgery::{FreshIds, Verified};

use super::quarantine::quarantine;
use crate::store::fs::FileState;
use crate::store::fs::atomic::{
    Candidate, PublishError, copy_one_of_many, create_private_dirs, sync_folders_of,
};
use crate::store::fs::disk;
use crate::store::journal::remove_folders;
use crate::store::journal::{Journal, Operation, State};
use crate::store::sessions::{CopyRule, Sidecar};

use super::error::CommitError;
use super::write::write_transcript;

/// How a file of a new session is made.
#[derive(Debug)]
pub(crate) enum Make<'a> {
    /// A transcript with fresh ids.
    Transcript(&'a Verified),
    /// A copy of a file.
    Copy(PathBuf),
    /// A file with these bytes.
    Bytes(&'a [u8]),
    /// A hard link if possible, else a copy: for files that nobody rewrites.
    Link(PathBuf),
}

/// A file of a new session.
#[derive(Debug)]
pub(crate) struct NewFile<'a> {
    /// Where it will be.
    pub target: PathBuf,
    /// How it is made.
    pub make: Make<'a>,
}

impl NewFile<'_> {
    /// A copy of a file that is not a transcript.
    pub(super) fn copy_of(sidecar: &Sidecar, target: &Path) -> Self {
        let from = sidecar.path.clone();
        Self {
            target: target.to_owned(),
            make: match sidecar.copy {
                CopyRule::Link => Make::Link(from),
                _ => Make::Copy(from),
            },
        }
    }
}

/// The parts of a new session.
#[derive(Debug)]
pub(crate) struct NewSession<'a> {
    /// Its files; the last one is its transcript.
    pub files: &'a [NewFile<'a>],
    /// The ids of its entries.
    pub ids: &'a FreshIds<'a>,
    /// Lines that could not be read, by their number. They are kept in the journal.
    pub quarantine: &'a [(u32, Vec<u8>)],
}

/// Publishes a new session. The transcript is last, because without it no client lists the session. `published` is called
/// when it is there, before the operation counts as done.
pub(crate) fn create(
    journal: &Journal,
    mut operation: Operation,
    new: &NewSession<'_>,
    published: impl FnOnce(),
) -> Result<Operation, CommitError> {
    let _lock = journal.lock()?;
    announce(&mut operation, new.files)?;
    operation.claim();
    let mut made = Vec::new();
    let outcome = make_all(journal, &mut operation, new, &mut made).and_then(|()| {
        published();
        operation.state = State::Committed;
        Ok(journal.record_done(&operation)?)
    });
    match outcome {
        Ok(()) => Ok(operation),
        Err(error) => {
            take_back(journal, &operation, &made);
            Err(error)
        }
    }
}

/// Records the files that an operation is about to make. None of them may be there.
pub(super) fn announce(
    operation: &mut Operation,
    files: &[NewFile<'_>],
) -> Result<(), CommitError> {
    for file in files {
        if disk::is_there(&file.target)? {
            let path = file.target.clone();
            return Err(PublishError::Exists { path }.into());
        }
    }
    operation.created = files.iter().map(|f| f.target.clone()).collect();
    operation.created_dirs = missing_folders(operation.created.iter())?;
    Ok(())
}

/// Removes what a failed run made. If something cannot be removed, the record stays and the next run tries again.
fn take_back(journal: &Journal, operation: &Operation, made: &[&Path]) {
    let mut gone = true;
    for path in made.iter().rev() {
        let removed = disk::remove_file(path);
        gone &= removed.is_ok() || matches!(disk::is_there(path), Ok(false));
    }
    gone &= remove_folders(operation);
    gone &= journal.sweep(operation);
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
    // The largest file first, because it is the most likely to fail.
    let Some((transcript, sidecars)) = new.files.split_last() else {
        return Err(io::Error::other("a new session has a transcript").into());
    };
    let Make::Transcript(session) = &transcript.make else {
        return Err(io::Error::other("the last file of a new session is its transcript").into());
    };
    let (candidate, state) = write_transcript(&transcript.target, session, Some(new.ids), None)?;
    let mut states = make_files(sidecars, Some(new.ids), made)?;
    states.push(state);
    operation.created_states = states;
    journal.record(operation)?;
    let outcome = candidate.create();
    if !matches!(outcome, Err(PublishError::Exists { .. })) {
        made.push(&transcript.target);
    }
    Ok(outcome?)
}

/// Makes files, and returns what they became: they and their names are durable. `made` gets those that may have to be
/// removed again.
pub(super) fn make_files<'a>(
    files: &'a [NewFile<'a>],
    ids: Option<&FreshIds<'_>>,
    made: &mut Vec<&'a Path>,
) -> Result<Vec<FileState>, CommitError> {
    for file in files {
        let outcome = match &file.make {
            Make::Transcript(session) => write_transcript(&file.target, session, ids, None)
                .and_then(|(candidate, _)| Ok(candidate.create_one_of_many()?)),
            Make::Copy(from) => copy_one_of_many(from, &file.target).map_err(CommitError::from),
            Make::Bytes(bytes) => write_new(&file.target, bytes),
            Make::Link(from) => disk::link(from, &file.target)
                .or_else(|_| copy_one_of_many(from, &file.target))
                .map_err(CommitError::from),
        };
        if !matches!(
            outcome,
            Err(CommitError::Publish(PublishError::Exists { .. }))
        ) {
            made.push(&file.target);
        }
        outcome?;
    }
    sync_folders_of(files.iter().map(|file| file.target.as_path()))?;
    let states = files.iter().map(|file| FileState::of(&file.target));
    Ok(states.collect::<io::Result<_>>()?)
}

fn write_new(target: &Path, bytes: &[u8]) -> Result<(), CommitError> {
    use std::io::Write as _;
    let candidate = Candidate::write(target, |out, _| out.write_all(bytes))?;
    Ok(candidate.create_one_of_many()?)
}

/// Returns the folders that have to be created, outermost first.
pub(super) fn missing_folders<'p>(
    files: impl Iterator<Item = &'p PathBuf>,
) -> io::Result<Vec<PathBuf>> {
    let mut missing: Vec<PathBuf> = Vec::new();
    let mut looked_at: Option<&Path> = None;
    for file in files {
        if looked_at == file.parent() {
            continue;
        }
        looked_at = file.parent();
        let mut chain: Vec<PathBuf> = Vec::new();
        for dir in file.ancestors().skip(1) {
            if dir.as_os_str().is_empty() || dir.try_exists()? {
                break;
            }
            chain.push(dir.to_owned());
        }
        chain.reverse();
        for dir in chain {
            if !missing.contains(&dir) {
                missing.push(dir);
            }
        }
    }
    Ok(missing)
}
