//! Tells whether a file is still the one that was read.

use std::fs::Metadata;
use std::path::Path;
use std::time::SystemTime;

use super::sys;

/// The size, time and identity of a file when it was read.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Stamp {
    /// Its size.
    pub len: u64,
    /// When it was last written.
    pub modified: Option<SystemTime>,
    /// Its number within the file system: the inode, or the file index on Windows.
    pub inode: u64,
}

impl Stamp {
    /// Returns the stamp of the file at `path`.
    pub fn of(path: &Path) -> std::io::Result<Self> {
        sys::metadata_and_number(path).map(Self::new)
    }

    /// Returns the stamp of an open file.
    pub fn of_file(file: &std::fs::File) -> std::io::Result<Self> {
        sys::metadata_and_number_of(file).map(Self::new)
    }

    fn new((metadata, inode): (Metadata, u64)) -> Self {
        Self {
            len: metadata.len(),
            modified: metadata.modified().ok(),
            inode,
        }
    }
}
