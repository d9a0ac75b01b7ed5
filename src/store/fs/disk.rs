//! The steps that change the disk, one function each, so that a test can kill or fail a run at every one.

use std::fs::File;
use std::io;
use std::path::Path;
use std::time::Duration;

use tempfile::{NamedTempFile, TempPath};

use super::fault::point;
use super::regular::open_regular;
use super::sys;

/// Begins and ends the name of every temp file.
const PREFIX: &str = ".ccsurgery-";
const SUFFIX: &str = ".tmp";

/// How long to wait for a file that others have open, and how long between two looks.
const PATIENCE: Duration = Duration::from_secs(2);
const PAUSE: Duration = Duration::from_millis(5);

/// Creates a private temp file in a folder.
pub(crate) fn create_temp(folder: &Path) -> io::Result<NamedTempFile> {
    point("create-temp")?;
    let prefix = own_prefix();
    let mut builder = tempfile::Builder::new();
    builder.prefix(&prefix).suffix(SUFFIX);
    sys::prepare_temp(&mut builder);
    let temp = builder.tempfile_in(folder).map_err(without_path)?;
    sys::make_private(temp.path())?;
    Ok(temp)
}

/// Creates a private temp folder in a folder. It is removed with everything in it when it is dropped.
#[cfg(feature = "bundle")]
pub(crate) fn create_temp_folder(folder: &Path) -> io::Result<tempfile::TempDir> {
    point("create-temp-folder")?;
    let prefix = own_prefix();
    let mut builder = tempfile::Builder::new();
    builder.prefix(&prefix).suffix(SUFFIX);
    sys::prepare_temp_folder(&mut builder);
    let made = builder.tempdir_in(folder).map_err(without_path)?;
    sys::make_private(made.path())?;
    Ok(made)
}

/// Returns how many bytes the user can write in a folder.
#[cfg(feature = "bundle")]
pub(crate) fn free_space(folder: &Path) -> io::Result<u64> {
    sys::free_space(folder)
}

/// Begins the name of every temp file of this process, so that a later run can tell whose it is.
fn own_prefix() -> String {
    format!("{PREFIX}{}-", std::process::id())
}

/// Reserves disk space for a file that is about to be written. Other systems than Linux reserve nothing.
///
/// Writing then takes a quarter less time, and a full disk is reported before anything is written.
pub(crate) fn allocate(file: &File, len: u64) -> io::Result<()> {
    point("allocate")?;
    sys::allocate(file, len)
}

/// Gives a file a second, temporary name in a folder of the same file system.
pub(crate) fn link_to_temp(from: &Path, folder: &Path) -> io::Result<TempPath> {
    point("link")?;
    named_temp(folder, |name| fs_err::hard_link(from, name))
}

/// Renames a file to a temporary name in its folder.
pub(crate) fn rename_to_temp(from: &Path, folder: &Path) -> io::Result<TempPath> {
    point("rename")?;
    named_temp(folder, |name| {
        if is_there(name)? {
            return Err(io::ErrorKind::AlreadyExists.into());
        }
        fs_err::rename(from, name)
    })
}

/// Copies a file to a private temp file in a folder.
pub(crate) fn copy_to_temp(from: &Path, folder: &Path) -> io::Result<TempPath> {
    let mut source = open_regular(from)?;
    let (mut file, temp) = create_temp(folder)?.into_parts();
    point("write")?;
    io::copy(&mut source, &mut file)?;
    sync(&file)?;
    Ok(temp)
}

fn named_temp(folder: &Path, make: impl FnMut(&Path) -> io::Result<()>) -> io::Result<TempPath> {
    let prefix = own_prefix();
    let mut builder = tempfile::Builder::new();
    builder.prefix(&prefix).suffix(SUFFIX);
    let made = builder.make_in(folder, make).map_err(without_path)?;
    Ok(made.into_temp_path())
}

/// Returns whether anything has this name, including a link that leads nowhere.
pub(crate) fn is_there(path: &Path) -> io::Result<bool> {
    match fs_err::symlink_metadata(path) {
        Ok(_) => Ok(true),
        Err(e) if is_missing(&e) => Ok(false),
        Err(e) => Err(e),
    }
}

/// Returns whether an error means that the file does not exist, rather than that it cannot be reached.
pub(crate) fn is_missing(error: &io::Error) -> bool {
    use io::ErrorKind::{NotADirectory, NotFound};
    matches!(error.kind(), NotFound | NotADirectory)
}

/// Returns whether a file's name is one of our temp files'.
pub(crate) fn is_temp_name(name: &str) -> bool {
    name.starts_with(PREFIX) && name.ends_with(SUFFIX)
}

/// Returns whether removing the file at `path` frees its bytes.
pub(crate) fn has_one_name(path: &Path, metadata: &std::fs::Metadata) -> bool {
    sys::several_names(path, metadata).is_none()
}

/// Removes temp files of processes that have ended. Returns false if some may be left.
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
        if is_leftover(&name) {
            clean &= remove_file(&entry.path()).is_ok();
        }
    }
    clean
}

/// Removes temp folders of processes that have ended, with everything in them.
pub(crate) fn sweep_folders(folder: &Path) {
    for entry in std::fs::read_dir(folder).into_iter().flatten().flatten() {
        let is_folder = entry.file_type().is_ok_and(|kind| kind.is_dir());
        if is_folder && is_leftover(&entry.file_name().to_string_lossy()) {
            let _ = remove_dir_all(&entry.path());
        }
    }
}

/// Publishes a temp file under `to`, replacing the file that has that name.
pub(crate) fn persist(temp: TempPath, to: &Path) -> io::Result<()> {
    persist_over(temp, to, || ())
}

/// Publishes a temp file under `to` like [`persist`]. `close` closes that file, if the system cannot replace an open one.
pub(crate) fn persist_over(temp: TempPath, to: &Path, close: impl FnOnce()) -> io::Result<()> {
    point("rename")?;
    match sys::rename_over(temp, to) {
        Err((temp, error)) if sys::must_be_closed(&error) => {
            close();
            rename_when_free(temp, to)
        }
        outcome => outcome.map_err(|(_, error)| error),
    }
}

/// Publishes a temp file as soon as nobody has the file open that it replaces. Virus scanners open files for a moment.
fn rename_when_free(mut temp: TempPath, to: &Path) -> io::Result<()> {
    let mut waited = Duration::ZERO;
    loop {
        match sys::rename_over(temp, to) {
            Err((back, error)) if sys::must_be_closed(&error) && waited < PATIENCE => {
                temp = back;
                std::thread::sleep(PAUSE);
                waited += PAUSE;
            }
            outcome => return outcome.map_err(|(_, error)| error),
        }
    }
}

/// Publishes a temp file under `to`, which must not exist.
pub(crate) fn persist_new(temp: TempPath, to: &Path) -> io::Result<()> {
    point("rename-new")?;
    temp.persist_noclobber(to).map_err(|e| e.error)
}

/// Gives a file a second name.
pub(crate) fn link(from: &Path, to: &Path) -> io::Result<()> {
    point("link")?;
    fs_err::hard_link(from, to)
}

/// Removes a file.
pub(crate) fn remove_file(path: &Path) -> io::Result<()> {
    point("remove")?;
    fs_err::remove_file(path)
}

/// Overwrites a file with zeros, unless another name holds its bytes as well, and removes it.
///
/// What a file system or a disk keeps elsewhere is out of reach.
pub(crate) fn shred(path: &Path) -> io::Result<()> {
    use std::io::Write as _;
    point("shred")?;
    let metadata = fs_err::symlink_metadata(path)?;
    if metadata.is_file()
        && has_one_name(path, &metadata)
        && let Ok(mut file) = File::options().write(true).open(path)
    {
        let zeros = [0; 1 << 12];
        let mut left = metadata.len();
        while left > 0 {
            let len = left.min(zeros.len() as u64);
            file.write_all(&zeros[..len as usize])?;
            left -= len;
        }
        sync(&file)?;
    }
    remove_file(path)
}

/// Overwrites and removes temp files of processes that have ended.
pub(crate) fn shred_leftovers(folder: &Path) {
    for entry in std::fs::read_dir(folder).into_iter().flatten().flatten() {
        if is_leftover(&entry.file_name().to_string_lossy()) {
            let _ = shred(&entry.path());
        }
    }
}

/// Returns whether a name is that of a temp file whose process has ended, or is this one.
fn is_leftover(name: &str) -> bool {
    let rest = name.strip_prefix(PREFIX);
    let Some(rest) = rest.and_then(|n| n.strip_suffix(SUFFIX)) else {
        return false;
    };
    let owner = rest.split_once('-').and_then(|(pid, _)| pid.parse().ok());
    !owner.is_some_and(|pid: u32| pid != std::process::id() && sys::process_start(pid).is_some())
}

/// Removes an empty folder.
pub(crate) fn remove_dir(path: &Path) -> io::Result<()> {
    point("remove-folder")?;
    fs_err::remove_dir(path)
}

/// Removes a folder and everything in it.
pub(crate) fn remove_dir_all(path: &Path) -> io::Result<()> {
    point("remove-tree")?;
    fs_err::remove_dir_all(path)
}

/// Creates a private folder.
pub(crate) fn create_dir(path: &Path) -> io::Result<()> {
    point("create-folder")?;
    sys::create_private_dir(path)
}

/// Gives a regular file a time, unless it has a later one. Returns whether it changed.
pub(crate) fn set_time(path: &Path, time: std::time::SystemTime) -> io::Result<bool> {
    let file = open_regular(path)?;
    if file.metadata()?.modified()? >= time {
        return Ok(false);
    }
    point("time")?;
    sys::open_to_set_time(file, path)?.set_modified(time)?;
    Ok(true)
}

/// Makes a file's bytes durable.
pub(crate) fn sync(file: &File) -> io::Result<()> {
    point("sync")?;
    file.sync_all()
}

/// Makes the bytes of the file at `path` durable.
pub(crate) fn sync_path(path: &Path) -> io::Result<()> {
    point("sync")?;
    sys::sync_path(path)
}

/// Makes the names in a folder durable; on Windows, where the system allows it.
pub(crate) fn sync_folder(folder: &Path) -> io::Result<()> {
    point("sync-folder")?;
    sys::sync_folder(folder)
}

/// Returns the folder that a file is in; a bare name is in the working folder.
pub(crate) fn folder_of(target: &Path) -> &Path {
    let folder = target.parent().filter(|f| !f.as_os_str().is_empty());
    folder.unwrap_or(Path::new("."))
}

/// Removes the temp file's name from an error: it means nothing to a user.
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
    fn folder_of_a_bare_name_is_the_working_folder() {
        assert_eq!(folder_of(Path::new("x.jsonl")), Path::new("."));
        assert_eq!(folder_of(Path::new("a/x.jsonl")), Path::new("a"));
    }

    #[test]
    fn sweep_removes_temp_files_of_ended_processes_only() {
        let folder = tempfile::tempdir().unwrap();
        // Both run until their input ends.
        let program = if cfg!(windows) { "cmd" } else { "cat" };
        let running = std::process::Command::new(program)
            .stdin(std::process::Stdio::piped())
            .stdout(std::process::Stdio::null())
            .spawn();
        let mut running = running.unwrap();
        let names = [
            format!("{PREFIX}{}-abc{SUFFIX}", running.id()),
            format!("{PREFIX}4000000000-abc{SUFFIX}"),
            format!("{PREFIX}old{SUFFIX}"),
            "s.jsonl".to_owned(),
        ];
        for name in &names {
            fs_err::write(folder.path().join(name), b"x").unwrap();
        }
        sweep(folder.path());
        drop(running.stdin.take());
        running.wait().unwrap();
        let left = names.map(|n| folder.path().join(n).exists());
        assert_eq!(left, [true, false, false, true]);
    }
}
