//! What a file was: enough to recognise it later, and to restore its mode and time.

use std::io;
use std::path::Path;
use std::time::{Duration, SystemTime};

use serde::{Deserialize, Serialize};

use crate::document::Source;

use super::sum::Sum;

/// What a file was.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct FileState {
    /// The sum of its bytes.
    #[serde(alias = "blake3")]
    pub sum: Sum,
    /// Its size.
    pub len: u64,
    /// When it was last written, in nanoseconds of the epoch.
    #[serde(default)]
    pub modified: Option<u64>,
    /// Its mode, where there are modes.
    #[serde(default)]
    pub mode: Option<u32>,
}

impl FileState {
    /// Reads a file's.
    pub fn of(path: &Path) -> io::Result<Self> {
        let metadata = fs_err::metadata(path)?;
        let source = Source::open(path)?;
        let bytes = source.bytes();
        Self::new(&metadata, Sum::of(bytes), bytes.len() as u64)
    }

    /// That of a file whose bytes are known.
    pub(crate) fn new(metadata: &std::fs::Metadata, sum: Sum, len: u64) -> io::Result<Self> {
        let modified = metadata
            .modified()?
            .duration_since(SystemTime::UNIX_EPOCH)
            .ok();
        #[cfg(unix)]
        let mode = Some(std::os::unix::fs::PermissionsExt::mode(&metadata.permissions()) & 0o7777);
        #[cfg(not(unix))]
        let mode = None;
        Ok(Self {
            sum,
            len,
            modified: modified.and_then(|d| u64::try_from(d.as_nanos()).ok()),
            mode,
        })
    }
}

impl FileState {
    /// Gives a file the mode and time that this one had.
    pub(crate) fn apply_to(&self, path: &Path) -> io::Result<()> {
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

/// Whether bytes begin with those of a file.
pub(crate) fn begins_with(bytes: &[u8], state: &FileState) -> bool {
    let head = usize::try_from(state.len).ok().and_then(|n| bytes.get(..n));
    head.is_some_and(|head| state.sum.is_of(head))
}
