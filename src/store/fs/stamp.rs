//! Tells whether a file is still the one that was read.

use std::path::Path;
use std::time::SystemTime;

/// What a file was when it was read, to tell whether it is still that.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Stamp {
    /// Its size.
    pub len: u64,
    /// When it was last written.
    pub modified: Option<SystemTime>,
    /// Which file it is, where the system tells.
    pub inode: u64,
}

impl Stamp {
    /// The stamp of the file at `path`.
    pub fn of(path: &Path) -> std::io::Result<Self> {
        Ok(Self::from_metadata(&fs_err::metadata(path)?))
    }

    /// The stamp of an open file.
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
