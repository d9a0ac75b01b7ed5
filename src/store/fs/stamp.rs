//! Tells whether a file is still the one that was read.

use std::path::Path;
use std::time::SystemTime;

/// The size, time and identity of a file when it was read.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Stamp {
    /// Its size.
    pub len: u64,
    /// When it was last written.
    pub modified: Option<SystemTime>,
    /// Its inode number; 0 on systems without one.
    pub inode: u64,
}

impl Stamp {
    /// Returns the stamp of the file at `path`.
    pub fn of(path: &Path) -> std::io::Result<Self> {
        Ok(Self::from_metadata(&fs_err::metadata(path)?))
    }

    /// Returns the stamp of an open file.
    pub fn of_file(file: &std::fs::File) -> std::io::Result<Self> {
        Ok(Self::from_metadata(&file.metadata()?))
    }

    fn from_metadata(metadata: &std::fs::Metadata) -> Self {
        #[cfg(unix)]
        let inode = std::os::unix::fs::MetadataExt::ino(metadata);
        #[cfg(not(unix))]
        let inode = 0;
        Self {
            len: metadata.len(),
            modified: metadata.modified().ok(),
            inode,
        }
    }
}
