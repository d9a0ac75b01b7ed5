//! The journal's records that hold secrets: the old bytes that they keep for undo, and the command lines.

use std::path::PathBuf;

use crate::secrets::{Form, Ledger, Scanner};
use crate::store::fs::atomic::write_private;
use crate::store::fs::disk;
use crate::store::journal::{Journal, JournalError, Operation};

use super::search::count;
use super::targets::walk;

/// A record of the journal that holds secrets.
#[derive(Debug)]
pub struct HeldRecord {
    /// The record.
    pub operation: Operation,
    /// Whether kept bytes hold them; otherwise only its command line does.
    pub in_kept_bytes: bool,
}

/// Returns the records that hold secrets, oldest first.
pub fn held_records(journal: &Journal, scanner: &Scanner) -> Result<Vec<HeldRecord>, JournalError> {
    let mut out = Vec::new();
    for operation in journal.records()?.operations {
        let held = |path: &PathBuf| count(path, scanner) > 0;
        let (record, kept) = files_of(journal, &operation);
        let in_kept_bytes = kept.iter().any(held);
        if in_kept_bytes || held(&record) {
            out.push(HeldRecord {
                operation,
                in_kept_bytes,
            });
        }
    }
    Ok(out)
}

/// Removes secrets from records. A record whose kept bytes hold one is forgotten: its operation can no longer be undone.
pub fn clean_records(
    journal: &Journal,
    held: &[HeldRecord],
    scanner: &Scanner,
    ledger: &Ledger,
) -> Result<(), JournalError> {
    let _lock = journal.lock()?;
    for record in held {
        let (path, kept) = files_of(journal, &record.operation);
        let failed = |source| JournalError::Io {
            folder: journal.folder(&record.operation.id),
            source,
        };
        if record.in_kept_bytes {
            for file in kept {
                disk::shred(&file).map_err(failed)?;
            }
            journal.discard(&record.operation.id)?;
        } else {
            let bytes = fs_err::read(&path).map_err(failed)?;
            let found = scanner.scan_file(Form::Json, &bytes);
            write_private(&path, &ledger.replaced(&bytes, &found))?;
        }
    }
    Ok(())
}

/// Returns the record of an operation, and the files that it keeps.
fn files_of(journal: &Journal, operation: &Operation) -> (PathBuf, Vec<PathBuf>) {
    let folder = journal.folder(&operation.id);
    let record = folder.join("op.json");
    let mut files = Vec::new();
    let _ = walk(&folder, &mut files);
    let kept = files.into_iter().map(|(path, _)| path);
    let kept = kept.filter(|path| *path != record).collect();
    (record, kept)
}
