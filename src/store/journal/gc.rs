//! Forgets operations and frees the space of their old bytes.

use std::io;

use crate::store::fs::disk;

use super::journal::{Journal, JournalError};
use super::record::Operation;

impl Journal {
    /// Forgets an operation, old bytes and all; how many bytes of disk that frees.
    pub fn forget(&self, operation: &Operation, dry_run: bool) -> Result<u64, JournalError> {
        let folder = self.folder(&operation.id);
        let failed = |source| JournalError::Io {
            folder: folder.clone(),
            source,
        };
        let mut freed = 0;
        for entry in fs_err::read_dir(&folder).map_err(failed)? {
            let metadata = entry.and_then(|e| e.metadata()).map_err(failed)?;
            // Bytes that another name still holds are not freed.
            #[cfg(unix)]
            let alone = std::os::unix::fs::MetadataExt::nlink(&metadata) == 1;
            #[cfg(not(unix))]
            let alone = true;
            freed += if alone { metadata.len() } else { 0 };
        }
        if !dry_run {
            let _lock = self.lock()?;
            self.discard(&operation.id)?;
        }
        Ok(freed)
    }

    /// Removes an operation's folder: the record first, for without it the rest is nobody's.
    pub(crate) fn discard(&self, id: &str) -> Result<(), JournalError> {
        let folder = self.folder(id);
        match disk::remove_file(&folder.join("op.json")) {
            Err(source) if source.kind() != io::ErrorKind::NotFound => {
                return Err(JournalError::Io { folder, source });
            }
            _ => {}
        }
        // Should anything be left, the next run removes it.
        let _ = disk::remove_dir_all(&folder);
        Ok(())
    }
}
