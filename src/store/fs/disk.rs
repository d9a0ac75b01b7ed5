//! The steps that change the disk, one function each, so that a test can end or fail a run at every one.

use std::fs::File;
use std::io;
use std::path::{Path, PathBuf};

use tempfile::{NamedTempFile, TempPath};

use super::fault::point;

/// How the name of a file begins that is not yet, or no longer, part of anything.
const PREFIX: &str = ".ccsurgery-";
const SUFFIX: &str = ".tmp";

/// Makes a private temp file in a folder. Its name tells whose it is.
pub(crate) fn create_temp(folder: &Path) -> io::Result<NamedTempFile> {
    point("create-temp")?;
    let prefix = format!("{PREFIX}{}-", std::process::id());
    let mut builder = tempfile::Builder::new();
    builder.prefix(&prefix).suffix(SUFFIX);
    #[cfg(unix)]
    builder.permissions(std::os::unix::fs::PermissionsExt::from_mode(0o600));
    builder.tempfile_in(folder).map_err(without_path)
}

/// Asks for room for so many bytes at once, where the system can: they are written in three quarters of the time then, and
/// where there is no room that is known before any of them is.
pub(crate) fn allocate(file: &File, len: u64) -> io::Result<()> {
    point("allocate")?;
    #[cfg(target_os = "linux")]
    if len > 0 {
        use rustix::fs::{FallocateFlags, fallocate};
        use rustix::io::Errno;
        // Not every file system can.
        let asked = fallocate(file, FallocateFlags::KEEP_SIZE, 0, len);
        if let Err(full @ (Errno::NOSPC | Errno::DQUOT | Errno::FBIG)) = asked {
            return Err(full.into());
        }
    }
    #[cfg(not(target_os = "linux"))]
    let _ = (file, len);
    Ok(())
}

/// A name for a temp file in a folder, which nothing has.
pub(crate) fn temp_name(folder: &Path) -> PathBuf {
    let random = uuid::Uuid::new_v4().simple();
    folder.join(format!("{PREFIX}{}-{random}{SUFFIX}", std::process::id()))
}

/// Whether anything has this name, a link that leads nowhere included.
pub(crate) fn is_there(path: &Path) -> io::Result<bool> {
    match fs_err::symlink_metadata(path) {
        Ok(_) => Ok(true),
        Err(e) if is_missing(&e) => Ok(false),
        Err(e) => Err(e),
    }
}

/// Whether an error says that there is no such file, rather than that nobody can tell.
pub(crate) fn is_missing(error: &io::Error) -> bool {
    use io::ErrorKind::{NotADirectory, NotFound};
    matches!(error.kind(), NotFound | NotADirectory)
}

/// Removes the temp files of runs that are no more. False if some may be left.
pub(crate) fn sweep(folder: &Path) -> bool {
    let entries = match std::fs::read_dir(folder) {
        Ok(entries) => entries,
        Err(e) => return is_missing(&e),
    };
    let mut clean = true;
    for entry in entries {
        let Ok(entry) = entry else {
            return false;
        };
        let name = entry.file_name();
        let name = name.to_string_lossy();
        let Some(rest) = name
            .strip_prefix(PREFIX)
            .and_then(|n| n.strip_suffix(SUFFIX))
        else {
            continue;
        };
        let owner = rest.split_once('-').and_then(|(pid, _)| pid.parse().ok());
        let at_work = owner.is_some_and(|pid: u32| {
            pid != std::process::id() && super::process::process_start(pid).is_some()
        });
        if !at_work {
            clean &= remove_file(&entry.path()).is_ok();
        }
    }
    clean
}

/// Gives a file another name, in place of what has it.
pub(crate) fn rename(from: &Path, to: &Path) -> io::Result<()> {
    point("rename")?;
    fs_err::rename(from, to)
}

/// Publishes a temp file in place of what has its name.
pub(crate) fn persist(temp: TempPath, to: &Path) -> io::Result<()> {
    point("rename")?;
    temp.persist(to).map_err(|e| e.error)
}

/// Publishes a temp file under a name that must be free.
pub(crate) fn persist_new(temp: TempPath, to: &Path) -> io::Result<()> {
    point("rename-new")?;
    temp.persist_noclobber(to).map_err(|e| e.error)
}

/// Gives a file one more name.
pub(crate) fn link(from: &Path, to: &Path) -> io::Result<()> {
    point("link")?;
    fs_err::hard_link(from, to)
}

/// Removes a file.
pub(crate) fn remove_file(path: &Path) -> io::Result<()> {
    point("remove")?;
    fs_err::remove_file(path)
}

/// Removes an empty folder.
pub(crate) fn remove_dir(path: &Path) -> io::Result<()> {
    point("remove-folder")?;
    fs_err::remove_dir(path)
}

/// Removes a folder with all that is in it.
pub(crate) fn remove_dir_all(path: &Path) -> io::Result<()> {
    point("remove-tree")?;
    fs_err::remove_dir_all(path)
}

/// Makes a private folder.
pub(crate) fn create_dir(path: &Path) -> io::Result<()> {
    point("create-folder")?;
    let mut builder = std::fs::DirBuilder::new();
    #[cfg(unix)]
    std::os::unix::fs::DirBuilderExt::mode(&mut builder, 0o700);
    builder.create(path)
}

/// Makes a file's bytes durable.
pub(crate) fn sync(file: &File) -> io::Result<()> {
    point("sync")?;
    file.sync_all()
}

/// Makes the names in a folder durable, where the system can.
pub(crate) fn sync_folder(folder: &Path) -> io::Result<()> {
    point("sync-folder")?;
    #[cfg(unix)]
    fs_err::File::open(folder)?.sync_all()?;
    #[cfg(not(unix))]
    let _ = folder;
    Ok(())
}

/// The folder that a file is in; a bare name is in the working folder.
pub(crate) fn folder_of(target: &Path) -> &Path {
    let folder = target.parent().filter(|f| !f.as_os_str().is_empty());
    folder.unwrap_or(Path::new("."))
}

/// The system's own words: the name of a temp file tells nobody anything.
fn without_path(error: io::Error) -> io::Error {
    let words = error.to_string();
    match words.split_once(" at path ") {
        Some((words, _)) => io::Error::new(error.kind(), words),
        None => error,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_bare_name_is_in_the_working_folder() {
        assert_eq!(folder_of(Path::new("x.jsonl")), Path::new("."));
        assert_eq!(folder_of(Path::new("a/x.jsonl")), Path::new("a"));
    }

    #[test]
    fn only_what_the_dead_left_is_swept() {
        let folder = tempfile::tempdir().unwrap();
        let names = [
            format!("{PREFIX}1-abc{SUFFIX}"),
            format!("{PREFIX}4000000000-abc{SUFFIX}"),
            format!("{PREFIX}old{SUFFIX}"),
            "s.jsonl".to_owned(),
        ];
        for name in &names {
            fs_err::write(folder.path().join(name), b"x").unwrap();
        }
        sweep(folder.path());
        let left = names.map(|n| folder.path().join(n).exists());
        // The first process of the system always runs.
        assert_eq!(left, [cfg!(unix), !cfg!(unix), false, true]);
    }
}
