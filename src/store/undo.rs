//! The way back, and forth again.

use std::io;
use std::path::{Path, PathBuf};
use std::time::{Duration, SystemTime};

use super::atomic::{PublishError, copy_private, create_private_dirs, sync_folder};
use super::index_file::remove_from_index;
use super::journal::{FileState, Journal, JournalError, Operation, State};

/// Why an operation cannot be taken back, or done again.
#[derive(Debug, thiserror::Error)]
#[allow(missing_docs)]
pub enum UndoError {
    #[error("`{}` has changed since", path.display())]
    Changed {
        path: PathBuf,
        added: Option<Vec<u8>>,
    },
    #[error("`{}` is gone", path.display())]
    Gone { path: PathBuf },
    #[error("`{}` exists already", path.display())]
    Exists { path: PathBuf },
    #[error("entries that were added since hang on what the operation made: {0}")]
    Orphans(String),
    #[error(transparent)]
    Publish(#[from] PublishError),
    #[error(transparent)]
    Journal(#[from] JournalError),
    #[error(transparent)]
    Io(#[from] io::Error),
}

/// Whether an operation can be taken back as things are.
pub fn check_undo(operation: &Operation) -> Result<(), UndoError> {
    for replaced in &operation.replaced {
        unchanged(&replaced.path, replaced.after.as_ref())?;
    }
    for (path, state) in operation.created.iter().zip(&operation.created_states) {
        unchanged(path, Some(state))?;
    }
    Ok(())
}

/// Takes an operation back: replaced files get their old bytes, mode and time, created ones go.
///
/// With `onto_current`, what was appended to a replaced file since is appended again.
pub fn undo(
    journal: &Journal,
    mut operation: Operation,
    onto_current: bool,
) -> Result<Operation, UndoError> {
    let _lock = journal.lock()?;
    let mut appended: Vec<Vec<u8>> = Vec::new();
    for replaced in &operation.replaced {
        match unchanged(&replaced.path, replaced.after.as_ref()) {
            Ok(()) => appended.push(Vec::new()),
            Err(UndoError::Changed {
                added: Some(added), ..
            }) if onto_current => {
                fits(&replaced.backup, &added)?;
                appended.push(added);
            }
            Err(error) => return Err(error),
        }
    }
    for (path, state) in operation.created.iter().zip(&operation.created_states) {
        unchanged(path, Some(state))?;
    }
    let folder = journal.folder(&operation.id);
    for (n, replaced) in operation.replaced.iter().enumerate() {
        keep(&replaced.path, &folder.join(format!("after-{n}.jsonl")))?;
        if appended[n].is_empty() {
            restore(&replaced.path, &replaced.backup, &replaced.before)?;
        } else {
            let mut bytes = fs_err::read(&replaced.backup)?;
            if !bytes.ends_with(b"\n") {
                bytes.push(b'\n');
            }
            bytes.extend_from_slice(&appended[n]);
            super::atomic::write_private(&replaced.path, &bytes)?;
        }
    }
    // The transcript first: without it no client lists the rest.
    for (n, path) in operation.created.iter().enumerate().rev() {
        keep(path, &folder.join(format!("created-{n}")))?;
        fs_err::remove_file(path)?;
    }
    for dir in operation.created_dirs.iter().rev() {
        // A folder into which something else was put stays.
        let _ = fs_err::remove_dir(dir);
    }
    if let Some(folder) = operation.target.parent()
        && !operation.created.is_empty()
    {
        // Clients take out by themselves what is gone; a list that cannot be written is no failure.
        let _ = remove_from_index(folder, &operation.target_id);
    }
    operation.state = State::Undone;
    journal.record(&operation)?;
    Ok(operation)
}

/// Does an operation again that was taken back.
pub fn redo(journal: &Journal, mut operation: Operation) -> Result<Operation, UndoError> {
    let _lock = journal.lock()?;
    let folder = journal.folder(&operation.id);
    for replaced in &operation.replaced {
        unchanged(&replaced.path, Some(&replaced.before))?;
    }
    if let Some(path) = operation
        .created
        .iter()
        .find(|p| p.symlink_metadata().is_ok())
    {
        return Err(UndoError::Exists { path: path.clone() });
    }
    for (n, replaced) in operation.replaced.iter().enumerate() {
        let after = folder.join(format!("after-{n}.jsonl"));
        let state = FileState::of(&after)?;
        restore(&replaced.path, &after, &state)?;
    }
    for dir in &operation.created_dirs {
        create_private_dirs(dir)?;
    }
    for (n, path) in operation.created.iter().enumerate() {
        let kept = folder.join(format!("created-{n}"));
        restore(path, &kept, &FileState::of(&kept)?)?;
    }
    operation.state = State::Committed;
    journal.record(&operation)?;
    Ok(operation)
}

/// Fails unless a file is what it was; tells what was appended, if that is all that happened.
fn unchanged(path: &Path, expected: Option<&FileState>) -> Result<(), UndoError> {
    let Some(expected) = expected else {
        return Ok(());
    };
    let now = match FileState::of(path) {
        Ok(now) => now,
        Err(e) if e.kind() == io::ErrorKind::NotFound => {
            return Err(UndoError::Gone {
                path: path.to_owned(),
            });
        }
        Err(e) => return Err(e.into()),
    };
    if now.blake3 == expected.blake3 {
        return Ok(());
    }
    let bytes = fs_err::read(path)?;
    let added = bytes
        .get(..expected.len as usize)
        .filter(|head| blake3::hash(head).to_hex().as_str() == expected.blake3)
        .map(|head| bytes[head.len()..].to_vec());
    Err(UndoError::Changed {
        path: path.to_owned(),
        added,
    })
}

/// Whether entries that were added can follow the old bytes: their parents must be there.
fn fits(backup: &Path, added: &[u8]) -> Result<(), UndoError> {
    let old = crate::session::Session::open(backup)?;
    let new = crate::session::Session::new(crate::jsonl::Document::from_bytes(added));
    for e in new
        .entries()
        .iter()
        .filter(|e| e.is_chained() && e.parent.is_some())
    {
        if old.graph().find(e.parent).is_none() && new.graph().find(e.parent).is_none() {
            let uuid = new.string(e, &["parentUuid"]).unwrap_or_default();
            return Err(UndoError::Orphans(format!(
                "the parent {uuid} was not in the old transcript"
            )));
        }
    }
    Ok(())
}

/// Keeps a file's bytes in the journal.
fn keep(path: &Path, at: &Path) -> Result<(), UndoError> {
    let _ = fs_err::remove_file(at);
    super::atomic::link_or_copy(path, at)?;
    Ok(())
}

/// Puts kept bytes back in place: by a link of the very file where that can be had, with its mode
/// and time, else by a copy that is given them.
pub(super) fn restore(path: &Path, kept: &Path, state: &FileState) -> Result<(), UndoError> {
    let folder = path.parent().unwrap_or(Path::new("."));
    let temp = folder.join(format!(".ccsurgery-{}.tmp", uuid::Uuid::new_v4().simple()));
    if fs_err::hard_link(kept, &temp).is_err() {
        copy_private(kept, &temp)?;
        state.apply_to(&temp)?;
    }
    if let Err(error) = fs_err::rename(&temp, path) {
        let _ = fs_err::remove_file(&temp);
        return Err(error.into());
    }
    // Where the two were one file already, the system leaves both names.
    let _ = fs_err::remove_file(&temp);
    sync_folder(folder)?;
    Ok(())
}

impl FileState {
    /// Gives a file the mode and time that this one had.
    fn apply_to(&self, path: &Path) -> io::Result<()> {
        #[cfg(unix)]
        if let Some(mode) = self.mode {
            fs_err::set_permissions(path, std::os::unix::fs::PermissionsExt::from_mode(mode))?;
        }
        if let Some(nanoseconds) = self.modified {
            let time = SystemTime::UNIX_EPOCH + Duration::from_nanos(nanoseconds);
            std::fs::OpenOptions::new()
                .write(true)
                .open(path)?
                .set_modified(time)?;
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn restoring_what_is_still_in_place_leaves_no_litter() {
        let folder = tempfile::tempdir().unwrap();
        let (path, kept) = (folder.path().join("s.jsonl"), folder.path().join("kept"));
        super::super::atomic::write_private(&path, b"{}\n").unwrap();
        fs_err::hard_link(&path, &kept).unwrap();
        restore(&path, &kept, &FileState::of(&kept).unwrap()).unwrap();
        let names = fs_err::read_dir(folder.path()).unwrap();
        let mut names: Vec<_> = names.map(|e| e.unwrap().file_name()).collect();
        names.sort();
        assert_eq!(names, ["kept", "s.jsonl"]);
    }
}
