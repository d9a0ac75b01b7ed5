//! A private folder with the layout of a config folder, in which a bundle is unpacked before anything of it is used.

use std::io;
use std::path::{Path, PathBuf};

use crate::store::fs::atomic::create_private_dirs;
use crate::store::fs::disk;
use crate::store::sessions::Config;

use super::error::BundleError;

/// An unpacked bundle. It is removed when it is no longer needed; after a kill, the next run removes it.
#[derive(Debug)]
pub struct Staging {
    /// `None` once it is removed.
    folder: Option<tempfile::TempDir>,
    /// Folders that were made for it, outermost first.
    made: Vec<PathBuf>,
}

impl Staging {
    /// Makes an empty one in the state folder.
    pub fn new(state: &Path) -> Result<Self, BundleError> {
        let mut staging = Self {
            folder: None,
            made: create_private_dirs(state)?,
        };
        staging.folder = Some(disk::create_temp_folder(state)?);
        Ok(staging)
    }

    /// Returns the unpacked files as a config folder.
    pub fn config(&self) -> Config {
        Config::new(self.path())
    }

    /// Returns how many bytes can be written there.
    pub(super) fn free(&self) -> io::Result<u64> {
        disk::free_space(self.path())
    }

    fn path(&self) -> &Path {
        let folder = self.folder.as_ref();
        folder.map_or(Path::new(""), tempfile::TempDir::path)
    }
}

impl Drop for Staging {
    fn drop(&mut self) {
        drop(self.folder.take());
        for folder in self.made.iter().rev() {
            // Only if nothing else is in it.
            let _ = std::fs::remove_dir(folder);
        }
    }
}
