//! Bytes that leave a transcript without being a record: kept beside the journal, never thrown away.

use std::path::PathBuf;

use super::atomic::{create_private_dirs, write_private};
use super::journal::{Journal, JournalError};

/// Writes the bytes into an operation's folder, durably and private, before anything is published.
/// They go with the operation if it fails.
pub fn quarantine(
    journal: &Journal,
    operation: &str,
    pieces: &[(u32, Vec<u8>)],
) -> Result<Option<PathBuf>, JournalError> {
    if pieces.is_empty() {
        return Ok(None);
    }
    let folder = journal.folder(operation);
    create_private_dirs(&folder)?;
    let path = folder.join("quarantine");
    let mut bytes = Vec::new();
    for (line, piece) in pieces {
        bytes.extend_from_slice(format!("--- line {line}, {} bytes\n", piece.len()).as_bytes());
        bytes.extend_from_slice(piece);
        bytes.push(b'\n');
    }
    write_private(&path, &bytes)?;
    Ok(Some(path))
}
