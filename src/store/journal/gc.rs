//! Forgets operations and frees the space of their old bytes.

use std::io;

use crate::store::fs::disk;

use super::journal::{Journal, JournalError};
use super::record::Operation;

impl Journal {
    /// Returns how many bytes of disk space forgetting an operation frees.
    pub fn size(&self, operation: &Operation) -> Result<u64, JournalError> {
        let folder = self.folder(&operation.id);
        let failed = |source| JournalError::Io {
            folder: folder.clone(),
            source,
        };
        let mut freed = 0;
        for entry in fs_err::read_dir(&folder).map_err(failed)? {
            let entry = entry.map_err(failed)?;
            let metadata = entry.metadata().map_err(failed)?;
            // Bytes that another name still holds are not freed.
            freed += if disk::has_one_name(&entry.path(), &metadata) {
                metadata.len()
            } else {
                0
            };
        }
        Ok(freed)
    }

    /// Forgets an operation with its old bytes. It can no longer be undone.
    pub fn forget(&self, operation: &Operation) -> Result<(), JournalError> {
        let _lock = self.lock()?;
        self.discard(&operation.id)
    }

    /// Removes an operation's folder: the record first, because without it the rest is a leftover.
    pub(crate) fn discard(&self, id: &str) -> Result<(), JournalError> {
        let folder = self.folder(id);
        match disk::remove_file(&folder.join("op.json")) {
            Err(source) if source.kind() != io::ErrorKind::NotFound => {
                return Err(JournalError::Io { folder, source });
            }
            _ => {}
        }
        // If anything is left, the next run removes it.
        let _ = disk::remove_dir_all(&folder);
        Ok(())
    }
}
