//! Files appear whole or not at all.

use std::io::{self, BufWriter, Write};
use std::path::{Path, PathBuf};

use tempfile::{NamedTempFile, TempPath};

/// A file that could not be published. The old one, if any, is untouched.
#[derive(Debug, thiserror::Error)]
#[allow(missing_docs)]
pub enum PublishError {
    #[error("`{}` exists already", path.display())]
    Exists { path: PathBuf },
    #[error("cannot write in `{}`: {source}", folder.display())]
    Folder { folder: PathBuf, source: io::Error },
    #[error("cannot write `{}`: {source}", path.display())]
    Write { path: PathBuf, source: io::Error },
}

/// A file that is written but not yet published: a temp file in the folder where it will be.
#[derive(Debug)]
pub struct Candidate {
    file: std::fs::File,
    temp: TempPath,
    target: PathBuf,
}

impl Candidate {
    /// Writes a temp file beside `target`. No client lists it, and it is private.
    pub fn write(
        target: &Path,
        fill: impl FnOnce(&mut BufWriter<&mut std::fs::File>) -> io::Result<()>,
    ) -> Result<Self, PublishError> {
        let folder = folder_of(target);
        let failed = |source| PublishError::Write {
            path: target.to_owned(),
            source,
        };
        let mut temp = create_temp(folder).map_err(|source| PublishError::Folder {
            folder: folder.to_owned(),
            source,
        })?;
        let mut writer = BufWriter::with_capacity(1 << 20, temp.as_file_mut());
        fill(&mut writer)
            .and_then(|()| writer.flush())
            .map_err(failed)?;
        drop(writer);
        let (file, temp) = temp.into_parts();
        Ok(Self {
            file,
            temp,
            target: target.to_owned(),
        })
    }

    /// Where it is until it is published.
    pub fn path(&self) -> &Path {
        &self.temp
    }

    /// Gives it the mode of another file.
    pub fn mode_of(&self, other: &Path) -> Result<(), PublishError> {
        let failed = |source| PublishError::Write {
            path: self.target.clone(),
            source,
        };
        let permissions = fs_err::metadata(other).map_err(failed)?.permissions();
        self.file.set_permissions(permissions).map_err(failed)
    }

    /// Makes its bytes durable.
    pub fn sync(&self) -> Result<(), PublishError> {
        self.file.sync_all().map_err(|source| PublishError::Write {
            path: self.target.clone(),
            source,
        })
    }

    /// Publishes it under a name that is not in use.
    pub fn create(self) -> Result<(), PublishError> {
        self.sync()?;
        let target = self.target;
        self.temp
            .persist_noclobber(&target)
            .map_err(|e| match e.error.kind() {
                io::ErrorKind::AlreadyExists => PublishError::Exists {
                    path: target.clone(),
                },
                _ => PublishError::Write {
                    path: target.clone(),
                    source: e.error,
                },
            })?;
        sync_parent(&target)
    }

    /// Publishes it in place of the file that has its name.
    pub fn replace(self) -> Result<(), PublishError> {
        self.sync()?;
        let target = self.target;
        self.temp
            .persist(&target)
            .map_err(|e| PublishError::Write {
                path: target.clone(),
                source: e.error,
            })?;
        sync_parent(&target)
    }
}

fn create_temp(folder: &Path) -> io::Result<NamedTempFile> {
    let mut builder = tempfile::Builder::new();
    builder.prefix(".ccsurgery-").suffix(".tmp");
    #[cfg(unix)]
    builder.permissions(std::os::unix::fs::PermissionsExt::from_mode(0o600));
    builder.tempfile_in(folder).map_err(without_path)
}

/// The system's own words: the name of a temp file tells nobody anything.
fn without_path(error: io::Error) -> io::Error {
    let words = error.to_string();
    match words.split_once(" at path ") {
        Some((words, _)) => io::Error::new(error.kind(), words),
        None => error,
    }
}

/// Writes a small private file whole.
pub fn write_private(target: &Path, bytes: &[u8]) -> Result<(), PublishError> {
    Candidate::write(target, |out| out.write_all(bytes))?.replace()
}

/// Copies a file to a new, private one.
pub fn copy_private(from: &Path, to: &Path) -> Result<(), PublishError> {
    let mut source = fs_err::File::open(from).map_err(|source| PublishError::Write {
        path: to.to_owned(),
        source,
    })?;
    // Into the file itself, so that the system can copy without passing bytes through us.
    let candidate = Candidate::write(to, |out| io::copy(&mut source, out.get_mut()).map(drop))?;
    candidate.create()
}

/// Links a file under a new name, or copies it where links cannot be had. True if it was a link.
pub fn link_or_copy(from: &Path, to: &Path) -> Result<bool, PublishError> {
    if fs_err::hard_link(from, to).is_ok() {
        return Ok(true);
    }
    copy_private(from, to).map(|()| false)
}

/// Makes a folder and those above it, private; the ones that were made, outermost first.
pub fn create_private_dirs(folder: &Path) -> Result<Vec<PathBuf>, PublishError> {
    let missing: Vec<PathBuf> = folder
        .ancestors()
        .take_while(|a| !a.as_os_str().is_empty() && !a.exists())
        .map(Path::to_owned)
        .collect();
    let mut made = Vec::new();
    for dir in missing.into_iter().rev() {
        let mut builder = std::fs::DirBuilder::new();
        #[cfg(unix)]
        std::os::unix::fs::DirBuilderExt::mode(&mut builder, 0o700);
        match builder.create(&dir) {
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

/// Makes the names in a folder durable, where the system can.
pub fn sync_folder(folder: &Path) -> io::Result<()> {
    #[cfg(unix)]
    fs_err::File::open(folder)?.sync_all()?;
    #[cfg(not(unix))]
    let _ = folder;
    Ok(())
}

/// The folder that a file is in; a bare name is in the working folder.
fn folder_of(target: &Path) -> &Path {
    let folder = target.parent().filter(|f| !f.as_os_str().is_empty());
    folder.unwrap_or(Path::new("."))
}

fn sync_parent(target: &Path) -> Result<(), PublishError> {
    let folder = folder_of(target);
    sync_folder(folder).map_err(|source| PublishError::Folder {
        folder: folder.to_owned(),
        source,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_bare_name_is_in_the_working_folder() {
        assert_eq!(folder_of(Path::new("x.jsonl")), Path::new("."));
        assert_eq!(folder_of(Path::new("a/x.jsonl")), Path::new("a"));
    }
}
