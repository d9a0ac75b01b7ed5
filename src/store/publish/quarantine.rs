//! Keeps lines that could not be read and were removed from a transcript: nothing is ever thrown away.

use crate::store::fs::atomic::write_private;
use crate::store::journal::{Journal, JournalError};

/// Writes removed lines to an operation's folder, durably and private, before anything is published. If the operation
/// fails, they are removed with it.
pub(crate) fn quarantine(
    journal: &Journal,
    operation: &str,
    pieces: &[(u32, Vec<u8>)],
) -> Result<(), JournalError> {
    if pieces.is_empty() {
        return Ok(());
    }
    let path = journal.quarantine(operation);
    let mut bytes = Vec::new();
    for (line, piece) in pieces {
        bytes.extend_from_slice(format!("--- line {line}, {} bytes\n", piece.len()).as_bytes());
        bytes.extend_from_slice(piece);
        bytes.push(b'\n');
    }
    Ok(write_private(&path, &bytes)?)
}
