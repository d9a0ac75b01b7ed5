//! What a file was: enough to recognise it later, and to restore its mode and time.

use std::fs::File;
use std::io;
use std::path::Path;
use std::time::{Duration, SystemTime};

use serde::{Deserialize, Serialize};

use crate::document::Source;

use super::sum::Sum;
use super::sys;

/// Returns the mode of the file at `path`, on systems that have modes.
pub fn file_mode(path: &Path) -> Option<u32> {
    sys::mode(&fs_err::metadata(path).ok()?)
}

/// The checksum, size, time and mode of a file.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct FileState {
    /// The checksum of its bytes.
    #[serde(alias = "blake3")]
    pub sum: Sum,
    /// Its size.
    pub len: u64,
    /// When it was last written, in nanoseconds since the epoch.
    #[serde(default)]
    pub modified: Option<u64>,
    /// Its mode, on systems that have modes.
    #[serde(default)]
    pub mode: Option<u32>,
}

impl FileState {
    /// Reads the state of the file at `path`.
    pub fn of(path: &Path) -> io::Result<Self> {
        let metadata = fs_err::metadata(path)?;
        let source = Source::open(path)?;
        let bytes = source.bytes();
        Self::new(&metadata, Sum::of(bytes), bytes.len() as u64)
    }

    /// Returns the state of a file whose checksum and size are known.
    pub(crate) fn new(metadata: &std::fs::Metadata, sum: Sum, len: u64) -> io::Result<Self> {
        let modified = metadata
            .modified()?
            .duration_since(SystemTime::UNIX_EPOCH)
            .ok();
        Ok(Self {
            sum,
            len,
            modified: modified.and_then(|d| u64::try_from(d.as_nanos()).ok()),
            mode: sys::mode(metadata),
        })
    }

    /// Returns whether `bytes` begin with the bytes of this file.
    pub(crate) fn starts(&self, bytes: &[u8]) -> bool {
        let head = usize::try_from(self.len).ok().and_then(|n| bytes.get(..n));
        head.is_some_and(|head| self.sum.is_of(head))
    }

    /// Returns whether `bytes` are exactly the bytes of this file.
    pub(crate) fn is_of(&self, bytes: &[u8]) -> bool {
        bytes.len() as u64 == self.len && self.sum.is_of(bytes)
    }

    /// Gives a file the time and mode that this one had. The mode comes last, because it may forbid writing.
    pub(crate) fn apply_to(&self, path: &Path) -> io::Result<()> {
        let file = File::options().write(true).open(path)?;
        if let Some(nanoseconds) = self.modified {
            file.set_modified(SystemTime::UNIX_EPOCH + Duration::from_nanos(nanoseconds))?;
        }
        if let Some(mode) = self.mode {
            sys::set_mode(&file, mode)?;
        }
        Ok(())
    }
}

#[cfg(all(test, unix))]
mod tests {
    use super::*;

    #[test]
    fn file_state_restores_time_and_a_read_only_mode() {
        let folder = tempfile::tempdir().unwrap();
        let (a, b) = (folder.path().join("a"), folder.path().join("b"));
        fs_err::write(&a, b"x").unwrap();
        let mut state = FileState::of(&a).unwrap();
        state.mode = Some(0o444);
        state.modified = Some(1_000_000_000);
        fs_err::write(&b, b"x").unwrap();
        state.apply_to(&b).unwrap();
        assert_eq!(FileState::of(&b).unwrap(), state);
    }
}
