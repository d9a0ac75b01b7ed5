//! The folder in which archived sessions are kept: one bundle for each.

use std::io;
use std::path::{Path, PathBuf};

use crate::store::fs::disk;
use crate::store::fs::open_regular;

use super::error::BundleError;
use super::manifest::{BundledSession, Manifest};
use super::read::read_manifest;

/// The ending of a bundle's name.
const ENDING: &str = "ccbundle";

/// A folder of archived sessions.
#[derive(Debug, Clone)]
pub struct Archives {
    folder: PathBuf,
}

/// An archived session.
#[derive(Debug)]
pub struct Archived {
    /// Its bundle.
    pub path: PathBuf,
    /// The size of the bundle.
    pub len: u64,
    /// What is in it.
    pub manifest: Manifest,
}

/// What is in a folder of archives.
#[derive(Debug, Default)]
pub struct ArchiveList {
    /// The archives, newest first.
    pub archives: Vec<Archived>,
    /// Files that are called like one and cannot be read, with the reason.
    pub unreadable: Vec<(PathBuf, BundleError)>,
}

impl Archived {
    /// Returns the name by which it is called: that of its file without the ending.
    pub fn name(&self) -> String {
        let name = self.path.file_stem().unwrap_or_default();
        name.to_string_lossy().into_owned()
    }

    /// Returns the session; a bundle of several is described by its first.
    pub fn session(&self) -> Option<&BundledSession> {
        self.manifest.sessions.first()
    }
}

impl Archives {
    /// The archives in a folder.
    pub fn in_folder(folder: impl Into<PathBuf>) -> Self {
        Self {
            folder: folder.into(),
        }
    }

    /// Returns the folder.
    pub fn folder(&self) -> &Path {
        &self.folder
    }

    /// Returns a name for the bundle of a session that no other has.
    pub fn free_name(&self, id: &str) -> io::Result<PathBuf> {
        let mut path = self.folder.join(format!("{id}.{ENDING}"));
        let mut number = 2;
        while disk::is_there(&path)? {
            path = self.folder.join(format!("{id}-{number}.{ENDING}"));
            number += 1;
        }
        Ok(path)
    }

    /// Returns all archives, newest first.
    pub fn list(&self) -> io::Result<ArchiveList> {
        let mut list = ArchiveList::default();
        let entries = match std::fs::read_dir(&self.folder) {
            Ok(entries) => entries,
            Err(e) if disk::is_missing(&e) => return Ok(list),
            Err(e) => return Err(e),
        };
        for entry in entries {
            let path = entry?.path();
            if path.extension().is_none_or(|x| x != ENDING) {
                continue;
            }
            match read(&path) {
                Ok(archived) => list.archives.push(archived),
                Err(error) => list.unreadable.push((path, error)),
            }
        }
        list.archives.sort_by(|a, b| {
            let key = |x: &Archived| (x.manifest.created, x.path.clone());
            key(b).cmp(&key(a))
        });
        list.unreadable.sort_by(|a, b| a.0.cmp(&b.0));
        Ok(list)
    }
}

fn read(path: &Path) -> Result<Archived, BundleError> {
    let file = open_regular(path)?;
    let len = file.metadata()?.len();
    Ok(Archived {
        path: path.to_owned(),
        len,
        manifest: read_manifest(file, || None)?,
    })
}
