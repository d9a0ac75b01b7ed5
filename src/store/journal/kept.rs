//! The files that an operation keeps in its folder: old bytes for undo, new bytes for redo.

use std::io;
use std::path::{Path, PathBuf};

use tempfile::TempPath;

use crate::document::Source;
use crate::store::fs::atomic::{Candidate, PublishError, create_private_dirs, link_or_copy};
use crate::store::fs::disk::{self, folder_of};
use crate::store::fs::{FileState, open_regular, swap};

use super::error::UndoError;
use super::journal::Journal;
use super::record::Operation;

impl Journal {
    /// Returns where the old bytes of the `n`th replaced file are kept.
    pub fn before(&self, id: &str, n: usize) -> PathBuf {
        self.folder(id).join(before_name(n))
    }

    /// Returns where the new bytes of the `n`th replaced file are kept while the operation is undone.
    pub(crate) fn after(&self, id: &str, n: usize) -> PathBuf {
        self.folder(id).join(format!("after-{n}.jsonl"))
    }

    /// Returns where the `n`th created file is kept while the operation is undone.
    pub(crate) fn created(&self, id: &str, n: usize) -> PathBuf {
        self.folder(id).join(format!("created-{n}"))
    }

    /// Returns where the `n`th removed file is kept.
    pub fn removed(&self, id: &str, n: usize) -> PathBuf {
        self.folder(id).join(format!("removed-{n}"))
    }

    /// Keeps the `n`th removed file. The journal's folder is not yet synced.
    pub(crate) fn keep_removed(&self, operation: &Operation, n: usize) -> Result<(), UndoError> {
        let file = &operation.removed[n];
        let kept = self.removed(&operation.id, n);
        keep(&file.path, &kept)?;
        check_kept(&kept, &file.before)
    }

    /// Puts the `n`th removed file back.
    pub(crate) fn put_removed(&self, operation: &Operation, n: usize) -> Result<(), UndoError> {
        let file = &operation.removed[n];
        create_private_dirs(folder_of(&file.path))?;
        let kept = self.removed(&operation.id, n);
        let temp = beside(&file.path, &kept, &file.before)?;
        Ok(disk::persist_new(temp, &file.path)?)
    }

    /// Keeps the `n`th created file for redo.
    pub(crate) fn keep_created(&self, operation: &Operation, n: usize) -> Result<(), UndoError> {
        keep(&operation.created[n], &self.created(&operation.id, n))
    }

    /// Keeps the `n`th replaced file as it is now, for redo.
    pub(crate) fn keep_after(&self, operation: &Operation, n: usize) -> Result<(), UndoError> {
        keep(&operation.replaced[n].path, &self.after(&operation.id, n))
    }

    /// Returns the old bytes of the `n`th replaced file as a temp file beside its place, followed by `added` lines.
    pub(crate) fn old_file(
        &self,
        operation: &Operation,
        n: usize,
        added: &[u8],
    ) -> Result<TempPath, UndoError> {
        let replaced = &operation.replaced[n];
        let kept = self.before(&operation.id, n);
        if added.is_empty() {
            return beside(&replaced.path, &kept, &replaced.before);
        }
        let candidate = with_lines(&replaced.path, &kept, added)?;
        candidate.mode_of(&replaced.path)?;
        candidate.sync()?;
        Ok(candidate.into_temp())
    }
}

/// Returns the name under which the old bytes of the `n`th replaced file are kept.
pub(crate) fn before_name(n: usize) -> String {
    format!("before-{n}.jsonl")
}

/// Returns whether a file in an operation's folder is one that this program puts there.
pub(crate) fn is_kept_name(name: &str) -> bool {
    let numbered = |prefix: &str, suffix: &str| {
        name.strip_prefix(prefix)
            .and_then(|rest| rest.strip_suffix(suffix))
            .is_some_and(|n| !n.is_empty() && n.bytes().all(|b| b.is_ascii_digit()))
    };
    name == "quarantine"
        || numbered("before-", ".jsonl")
        || numbered("after-", ".jsonl")
        || numbered("created-", "")
        || numbered("removed-", "")
        || disk::is_temp_name(name)
}

/// Fails unless a kept file begins with the recorded bytes.
///
/// A client that still had the old file open may have appended to it; those lines are restored as well.
pub(crate) fn check_kept(kept: &Path, state: &FileState) -> Result<(), UndoError> {
    let path = kept.to_owned();
    if !disk::is_there(kept)? {
        return Err(UndoError::NotKept { path });
    }
    open_regular(kept)?;
    if state.starts(Source::open(kept)?.bytes()) {
        return Ok(());
    }
    Err(UndoError::Spoilt { path })
}

/// Links or copies a file into the journal. The journal's folder is not yet synced.
fn keep(path: &Path, at: &Path) -> Result<(), UndoError> {
    match disk::remove_file(at) {
        Err(e) if e.kind() != io::ErrorKind::NotFound => return Err(e.into()),
        _ => {}
    }
    if !link_or_copy(path, at)? {
        FileState::of(path)?.apply_to(at)?;
    }
    Ok(())
}

/// Returns kept bytes as a temp file beside their place: a link to the kept file where possible, which has its mode and
/// time, else a copy that is given them. The bytes are checked against the record.
pub(crate) fn beside(path: &Path, kept: &Path, state: &FileState) -> Result<TempPath, UndoError> {
    check_kept(kept, state)?;
    let folder = folder_of(path);
    if let Ok(temp) = disk::link_to_temp(kept, folder) {
        return Ok(temp);
    }
    let temp = disk::copy_to_temp(kept, folder).map_err(|source| PublishError::Write {
        path: path.to_owned(),
        source,
    })?;
    check_kept(&temp, state)?;
    state.apply_to(&temp)?;
    Ok(temp)
}

/// Returns a temp file with the bytes of `from` followed by `lines`.
fn with_lines(target: &Path, from: &Path, lines: &[u8]) -> Result<Candidate, PublishError> {
    Candidate::write(target, |out, _| {
        use std::io::Write as _;
        let mut old = open_regular(from)?;
        io::copy(&mut old, out)?;
        if !swap::ends_a_line(&mut old)? {
            out.write_all(b"\n")?;
        }
        out.write_all(lines)
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn kept_names_are_recognised() {
        let own = [
            "quarantine",
            "before-0.jsonl",
            "after-12.jsonl",
            "created-3",
            "removed-0",
        ];
        let others = [
            "notes.txt",
            "before-.jsonl",
            "before-x.jsonl",
            "created-",
            "op.json",
        ];
        assert!(own.iter().all(|n| is_kept_name(n)));
        assert!(!others.iter().any(|n| is_kept_name(n)));
    }
}
