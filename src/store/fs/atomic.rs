//! Files appear whole or not at all.

use std::cell::Cell;
use std::io::{self, Write};
use std::path::{Path, PathBuf};

use tempfile::TempPath;

use super::disk::{self, folder_of};
use super::fault::point;
use super::regular::open_regular;
use super::sys;

/// A file that could not be published. The old one, if any, is untouched.
#[derive(Debug, thiserror::Error)]
#[allow(missing_docs)]
#[non_exhaustive]
pub enum PublishError {
    #[error("`{}` exists already", path.display())]
    Exists { path: PathBuf },
    #[error("cannot write in `{}`: {source}", folder.display())]
    Folder { folder: PathBuf, source: io::Error },
    #[error("cannot write `{}`: {source}", path.display())]
    Write { path: PathBuf, source: io::Error },
}

/// Keeps the kind of the cause, which decides on the advice.
impl From<PublishError> for io::Error {
    fn from(error: PublishError) -> Self {
        let kind = match &error {
            PublishError::Exists { .. } => io::ErrorKind::AlreadyExists,
            PublishError::Folder { source, .. } | PublishError::Write { source, .. } => {
                source.kind()
            }
        };
        Self::new(kind, error)
    }
}

/// A file that is written but not yet published: a temp file in the folder where it will be.
#[derive(Debug)]
pub struct Candidate {
    file: std::fs::File,
    temp: TempPath,
    target: PathBuf,
    /// Whether nothing changed since the file was made durable. Flushing it again takes the disk as long as the first time.
    is_durable: Cell<bool>,
}

impl Candidate {
    /// Writes a private temp file beside `target`, which no client lists. `fill` gets the file and its path.
    pub fn write(
        target: &Path,
        fill: impl FnOnce(&mut std::fs::File, &Path) -> io::Result<()>,
    ) -> Result<Self, PublishError> {
        let folder = folder_of(target);
        let failed = |source| PublishError::Write {
            path: target.to_owned(),
            source,
        };
        let temp = disk::create_temp(folder).map_err(|source| PublishError::Folder {
            folder: folder.to_owned(),
            source,
        })?;
        let (mut file, temp) = temp.into_parts();
        point("write")
            .and_then(|()| fill(&mut file, &temp))
            .map_err(failed)?;
        Ok(Self {
            file,
            temp,
            target: target.to_owned(),
            is_durable: Cell::new(false),
        })
    }

    /// Returns where the file is until it is published.
    pub fn path(&self) -> &Path {
        &self.temp
    }

    /// Gives the file the mode of another one, and its owner if that is another user; on Windows, its list of access.
    pub fn mode_of(&self, other: &Path) -> Result<(), PublishError> {
        let set = || {
            let metadata = fs_err::metadata(other)?;
            sys::copy_access(&self.file, &self.temp, other, &metadata)?;
            point("mode")?;
            self.is_durable.set(false);
            self.file.set_permissions(metadata.permissions())
        };
        set().map_err(|source| self.failed(source))
    }

    /// Makes the file's bytes durable.
    pub fn sync(&self) -> Result<(), PublishError> {
        if !self.is_durable.get() {
            disk::sync(&self.file).map_err(|source| self.failed(source))?;
            self.is_durable.set(true);
        }
        Ok(())
    }

    /// Returns the temp file, to be published in another way.
    pub(crate) fn into_temp(self) -> TempPath {
        self.temp
    }

    /// Publishes the file under a name that must not exist.
    pub fn create(self) -> Result<(), PublishError> {
        let target = self.target.clone();
        self.create_one_of_many()?;
        // The file was created just now, and nobody knows of it yet.
        sync_parent(&target).inspect_err(|_| drop(disk::remove_file(&target)))
    }

    /// Publishes the file like [`Self::create`], but its name is durable only when its folder is synced: see
    /// [`sync_folders_of`].
    pub(crate) fn create_one_of_many(self) -> Result<(), PublishError> {
        self.sync()?;
        let path = self.target;
        disk::persist_new(self.temp, &path).map_err(|source| match source.kind() {
            io::ErrorKind::AlreadyExists => PublishError::Exists { path },
            _ => PublishError::Write { path, source },
        })
    }

    /// Publishes the file, replacing the one that has its name.
    pub fn replace(self) -> Result<(), PublishError> {
        let target = self.target.clone();
        self.put()?;
        sync_parent(&target)
    }

    /// Publishes the file like [`Self::replace`], but after a crash the old file may have the name again.
    pub(crate) fn put(self) -> Result<(), PublishError> {
        self.sync()?;
        let target = self.target;
        disk::persist(self.temp, &target).map_err(|source| PublishError::Write {
            path: target,
            source,
        })
    }

    fn failed(&self, source: io::Error) -> PublishError {
        PublishError::Write {
            path: self.target.clone(),
            source,
        }
    }
}

/// Writes a small private file, replacing an existing one.
pub fn write_private(target: &Path, bytes: &[u8]) -> Result<(), PublishError> {
    Candidate::write(target, |out, _| out.write_all(bytes))?.replace()
}

/// Copies a file to a new, private one.
pub fn copy_private(from: &Path, to: &Path) -> Result<(), PublishError> {
    private_copy(from, to)?.create()
}

/// Copies a file like [`copy_private`], but its name is durable only when its folder is synced.
pub(crate) fn copy_one_of_many(from: &Path, to: &Path) -> Result<(), PublishError> {
    private_copy(from, to)?.create_one_of_many()
}

fn private_copy(from: &Path, to: &Path) -> Result<Candidate, PublishError> {
    let mut source = open_regular(from).map_err(|source| PublishError::Write {
        path: to.to_owned(),
        source,
    })?;
    Candidate::write(to, |out, _| io::copy(&mut source, out).map(drop))
}

/// Links a file under a new name, or copies it where links are not possible. Returns whether it is a link.
pub fn link_or_copy(from: &Path, to: &Path) -> Result<bool, PublishError> {
    if disk::link(from, to).is_ok() {
        return Ok(true);
    }
    copy_private(from, to).map(|()| false)
}

/// Creates a private folder and those above it. Returns the ones that did not exist, outermost first.
pub fn create_private_dirs(folder: &Path) -> Result<Vec<PathBuf>, PublishError> {
    let missing: Vec<PathBuf> = folder
        .ancestors()
        .take_while(|a| !a.as_os_str().is_empty() && !a.exists())
        .map(Path::to_owned)
        .collect();
    let mut made = Vec::new();
    for dir in missing.into_iter().rev() {
        // A folder is durable once the folder above it is synced.
        let outcome = disk::create_dir(&dir).and_then(|()| sync_folder(folder_of(&dir)));
        match outcome {
            Ok(()) => made.push(dir),
            Err(e) if e.kind() == io::ErrorKind::AlreadyExists => {}
            Err(source) => {
                return Err(PublishError::Folder {
                    folder: dir,
                    source,
                });
            }
        }
    }
    Ok(made)
}

/// Makes the names in a folder durable; on Windows, where the system allows it.
pub fn sync_folder(folder: &Path) -> io::Result<()> {
    disk::sync_folder(folder)
}

/// Makes the names of files durable, one folder at a time.
pub(crate) fn sync_folders_of<'p>(files: impl Iterator<Item = &'p Path>) -> io::Result<()> {
    let mut folders: Vec<&Path> = files.map(folder_of).collect();
    folders.sort_unstable();
    folders.dedup();
    folders.into_iter().try_for_each(disk::sync_folder)
}

fn sync_parent(target: &Path) -> Result<(), PublishError> {
    let folder = folder_of(target);
    sync_folder(folder).map_err(|source| PublishError::Folder {
        folder: folder.to_owned(),
        source,
    })
}
