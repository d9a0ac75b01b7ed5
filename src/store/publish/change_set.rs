//! One change of many files: some are created, some are removed, and shared files are edited. All of it happens, or nothing.

use std::io;
use std::path::{Path, PathBuf};
use std::time::SystemTime;

use crate::store::fs::atomic::{
    PublishError, copy_private, create_private_dirs, link_or_copy, write_private,
};
use crate::store::fs::swap::{Swap, Swaps};
use crate::store::fs::{FileState, Stamp, disk, is_regular};
use crate::store::journal::{
    Journal, Operation, Removed, SharedEdit, State, UndoError, apply_all, is_as, remove_folders,
    remove_left_folders, revert_all,
};
use crate::surgery::Verified;

use super::create::missing_folders;
use super::error::CommitError;
use super::replace::at;
use super::write::write_transcript;

/// Makes a verified transcript when it is needed, so that only one of many is held in memory at a time.
pub type MakeTranscript<'a> = Box<dyn Fn() -> Result<Verified, CommitError> + 'a>;

/// What is in a file that is created.
pub enum Content<'a> {
    /// A transcript.
    Transcript(MakeTranscript<'a>),
    /// These bytes.
    Bytes(Vec<u8>),
    /// The bytes of a file, which becomes known under a second name if possible: for files that are removed, or that
    /// nobody rewrites.
    Link(PathBuf),
    /// The bytes of a file.
    Copy(PathBuf),
}

/// A file that is created.
pub struct Creation<'a> {
    /// Where it will be. Nothing has this name yet.
    pub target: PathBuf,
    /// What is in it.
    pub content: Content<'a>,
    /// The time that it gets; the present time if `None`. A link keeps the time of its file.
    pub modified: Option<SystemTime>,
}

/// A file that is removed.
#[derive(Debug, Clone)]
pub struct Removal {
    /// The file.
    pub path: PathBuf,
    /// Its state when it was looked at.
    pub stamp: Stamp,
}

impl Removal {
    /// Looks at a file that will be removed.
    pub fn of(path: PathBuf) -> io::Result<Self> {
        let stamp = Stamp::of(&path)?;
        Ok(Self { path, stamp })
    }

    /// Returns what the journal records of the file. Fails if it is no longer what was looked at.
    pub(super) fn state(&self) -> Result<Removed, CommitError> {
        let path = self.path.clone();
        if !is_regular(&path)? || Stamp::of(&path)? != self.stamp {
            return Err(CommitError::Changed { path });
        }
        let before = FileState::of(&path)?;
        Ok(Removed { path, before })
    }
}

/// A change of many files.
#[derive(Default)]
pub struct ChangeSet<'a> {
    /// Files that are created, in this order: transcripts last, because without them no client lists the rest.
    pub create: Vec<Creation<'a>>,
    /// Files that are removed, in the reverse of this order.
    pub remove: Vec<Removal>,
    /// Folders that are removed if nothing is left in them, outermost first.
    pub remove_dirs: Vec<PathBuf>,
    /// Changes of files that sessions share.
    pub shared: Vec<SharedEdit>,
}

impl ChangeSet<'_> {
    /// Makes the change, as one operation that can be undone.
    pub(crate) fn publish(
        &self,
        journal: &Journal,
        mut operation: Operation,
    ) -> Result<Operation, CommitError> {
        let _lock = journal.lock()?;
        for file in &self.create {
            if disk::is_there(&file.target)? {
                let path = file.target.clone();
                return Err(PublishError::Exists { path }.into());
            }
        }
        operation.created = self.create.iter().map(|f| f.target.clone()).collect();
        operation.created_dirs = missing_folders(operation.created.iter())?;
        operation.removed_dirs.clone_from(&self.remove_dirs);
        operation.shared.clone_from(&self.shared);
        for file in &self.remove {
            operation.removed.push(file.state()?);
        }
        operation.claim();
        let mut swaps = Swaps::default();
        let mut made = Vec::new();
        match self.make(journal, &mut operation, &mut made, &mut swaps) {
            Ok(()) => {
                swaps.finish();
                remove_left_folders(&operation);
                Ok(operation)
            }
            Err(error) => {
                swaps.put_back();
                take_back(journal, &operation, &made);
                Err(error)
            }
        }
    }

    fn make<'s>(
        &'s self,
        journal: &Journal,
        operation: &mut Operation,
        made: &mut Vec<&'s Path>,
        swaps: &mut Swaps,
    ) -> Result<(), CommitError> {
        journal.record(operation)?;
        for n in 0..self.remove.len() {
            journal.keep_removed(operation, n).map_err(not_kept)?;
        }
        disk::sync_folder(&journal.folder(&operation.id))?;
        for dir in &operation.created_dirs {
            create_private_dirs(dir)?;
        }
        for file in &self.create {
            let created = file.create();
            if !matches!(
                created,
                Err(CommitError::Publish(PublishError::Exists { .. }))
            ) {
                made.push(&file.target);
            }
            created?;
            operation.created_states.push(FileState::of(&file.target)?);
        }
        // From here on a crash is repaired from the record, which knows everything that was created.
        journal.record(operation)?;
        for file in self.remove.iter().rev() {
            let swap = Swap::take_away(&file.path, file.stamp);
            swaps.push(swap.map_err(|e| at(&file.path, e))?);
        }
        swaps.sync()?;
        if let Some(path) = swaps.disturbed()? {
            let path = path.to_owned();
            return Err(CommitError::Changed { path });
        }
        apply_all(&operation.shared)?;
        operation.state = State::Committed;
        Ok(journal.record_done(operation)?)
    }
}

impl Creation<'_> {
    fn create(&self) -> Result<(), CommitError> {
        match &self.content {
            Content::Transcript(make) => {
                let (candidate, _) = write_transcript(&self.target, &make()?, None, None)?;
                candidate.create()?;
            }
            Content::Bytes(bytes) => {
                if disk::is_there(&self.target)? {
                    let path = self.target.clone();
                    return Err(PublishError::Exists { path }.into());
                }
                write_private(&self.target, bytes)?;
            }
            Content::Link(from) => {
                link_or_copy(from, &self.target)?;
                return Ok(());
            }
            Content::Copy(from) => copy_private(from, &self.target)?,
        }
        if let Some(time) = self.modified {
            let file = std::fs::File::options().write(true).open(&self.target)?;
            file.set_modified(time)?;
        }
        Ok(())
    }
}

/// Undoes what a failed run did. If something cannot be undone, the record stays and the next run tries again.
fn take_back(journal: &Journal, operation: &Operation, made: &[&Path]) {
    let mut gone = revert_all(&operation.shared).is_ok();
    for path in made.iter().rev() {
        let removed = disk::remove_file(path);
        gone &= removed.is_ok() || matches!(disk::is_there(path), Ok(false));
    }
    gone &= remove_folders(operation);
    gone &= journal.sweep(operation);
    gone &= is_as(operation, false).unwrap_or(false);
    if gone {
        let _ = journal.discard(&operation.id);
    }
}

pub(super) fn not_kept(error: UndoError) -> CommitError {
    match error {
        UndoError::Publish(error) => error.into(),
        UndoError::Io(error) => error.into(),
        UndoError::Spoilt { path } => CommitError::Changed { path },
        other => io::Error::other(other).into(),
    }
}
