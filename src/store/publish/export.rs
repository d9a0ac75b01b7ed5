//! Writes a transcript to a file of the user's choice.

use std::path::Path;

use crate::store::fs::disk;
use crate::surgery::{FreshIds, Verified};

use super::error::CommitError;
use super::write::write_transcript;

/// Writes a result to a file of the user's choice, which must not exist.
pub(crate) fn export(
    path: &Path,
    verified: &Verified,
    ids: Option<&FreshIds<'_>>,
) -> Result<(), CommitError> {
    // A run that was killed may have left a temp file here.
    disk::sweep(disk::folder_of(path));
    let (candidate, _) = write_transcript(path, verified, ids, None)?;
    Ok(candidate.create()?)
}
