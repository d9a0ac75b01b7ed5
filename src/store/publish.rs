//! Carries results to the disk, so that a crash at any point leaves the old or the new, never a mixture.

use std::io::{self, Write};
use std::path::{Path, PathBuf};
use std::sync::mpsc::{SyncSender, sync_channel};

use twox_hash::XxHash3_128;

use crate::rewrite::{NotAsMeant, Renames, emit};
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
    for file in files {
        if disk::is_there(&file.target)? {
            let path = file.target.clone();
            return Err(PublishError::Exists { path }.into());
        }
    }
    operation.created = files.iter().map(|f| f.target.clone()).collect();
    operation.created_dirs = missing_folders(files)?;
    operation.pid = std::process::id();
    operation.pid_start = process_start(operation.pid);
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

/// Removes what a failed run made. What cannot be removed is left to the next run, and so is the record.
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
    // The largest part first, while nothing else has been made.
    let Some((transcript, sidecars)) = new.files.split_last() else {
        return Err(io::Error::other("a new session has a transcript").into());
    };
    let Make::Transcript(session) = &transcript.make else {
        return Err(io::Error::other("the last file of a new session is its transcript").into());
    };
    let (candidate, state) =
        write_transcript(&transcript.target, session, Some(new.renames), None)?;
    for file in sidecars {
        let outcome = match &file.make {
            Make::Transcript(session) => {
                write_transcript(&file.target, session, Some(new.renames), None)
                    .and_then(|(candidate, _)| Ok(candidate.create()?))
            }
            Make::Copy(from) => copy_private(from, &file.target).map_err(CommitError::from),
            Make::Link(from) => Ok(link_or_copy(from, &file.target).map(drop)?),
        };
        if !matches!(
            outcome,
            Err(CommitError::Publish(PublishError::Exists { .. }))
        ) {
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

/// Writes a transcript to a temp file, makes it durable, and reads it back while the disk is at it;
/// what it is, for the journal. It gets the mode of the file that it will replace, if any.
pub(super) fn write_transcript(
    target: &Path,
    session: &Session,
    renames: Option<&Renames>,
    replaced: Option<&Path>,
) -> Result<(Candidate, FileState), CommitError> {
    let mut sent = XxHash3_128::new();
    let written = Candidate::write(target, |out| {
        let file = out.get_ref().try_clone()?;
        std::thread::scope(|scope| {
            let (kick, kicked) = sync_channel(1);
            let flusher = scope.spawn(move || kicked.iter().try_for_each(|()| file.sync_data()));
            let hasher = &mut sent;
            let mut out = Sent {
                out,
                hasher,
                kick,
                waiting: 0,
            };
            let emitted = emit(session, renames, &mut out);
            drop(out);
            let flushed = flusher
                .join()
                .unwrap_or_else(|panic| std::panic::resume_unwind(panic));
            emitted.and(flushed)
        })
    });
    let not_as_meant = || CommitError::ReadBack {
        path: target.to_owned(),
    };
    let candidate = written.map_err(|error| match &error {
        PublishError::Write { source, .. }
            if source
                .get_ref()
                .and_then(|e| e.downcast_ref::<NotAsMeant>())
                .is_some() =>
        {
            not_as_meant()
        }
        _ => error.into(),
    })?;
    if let Some(replaced) = replaced {
        candidate.mode_of(replaced)?;
    }
    let (state, there) = std::thread::scope(|scope| {
        let synced = scope.spawn(|| candidate.sync());
        let state = FileState::read(candidate.path(), XxHash3_128::oneshot)?;
        synced
            .join()
            .unwrap_or_else(|panic| std::panic::resume_unwind(panic))?;
        Ok::<_, CommitError>(state)
    })?;
    if there == sent.finish_128() {
        Ok((candidate, state))
    } else {
        Err(not_as_meant())
    }
}

/// How many bytes are written before the disk is set to work on them, while more are made.
const FLUSH: usize = 8 << 20;

/// Writes on, sums up what went out, and has the disk begin early.
///
/// The sum is told apart by chance alone in one of 2^128 cases, and takes a quarter of the time of the journal's hash; it
/// is in the way of every byte.
struct Sent<'a, W> {
    out: W,
    hasher: &'a mut XxHash3_128,
    kick: SyncSender<()>,
    waiting: usize,
}

impl<W: Write> Write for Sent<'_, W> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        let written = self.out.write(bytes)?;
        self.hasher.write(&bytes[..written]);
        self.waiting += written;
        if self.waiting >= FLUSH {
            // Should the disk still be busy, it is told again later.
            self.waiting = 0;
            let _ = self.kick.try_send(());
        }
        Ok(written)
    }

    fn flush(&mut self) -> io::Result<()> {
        self.out.flush()
    }
}

/// Folders that have to be made, outermost first.
fn missing_folders(files: &[NewFile<'_>]) -> io::Result<Vec<PathBuf>> {
    let mut missing: Vec<PathBuf> = Vec::new();
    for file in files {
        let mut chain: Vec<PathBuf> = Vec::new();
        for dir in file.target.ancestors().skip(1) {
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

/// Writes a result to a file of the user's choice, which must not exist.
pub fn export(
    path: &Path,
    session: &Session,
    renames: Option<&Renames>,
) -> Result<(), CommitError> {
    // What a killed run left here.
    disk::sweep(disk::folder_of(path));
    let (candidate, _) = write_transcript(path, session, renames, None)?;
    Ok(candidate.create()?)
}
