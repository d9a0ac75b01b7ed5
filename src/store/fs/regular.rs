//! Opens regular files only: links, pipes, devices and sockets are never followed or opened.

use std::fs::{File, OpenOptions};
use std::io;
use std::path::Path;

use super::sys;

/// Opens a file for reading. Fails for a link and for anything that is not a regular file, without waiting.
///
/// Opening a pipe would wait for a writer, and opening a link would read a file somewhere else.
pub(crate) fn open_regular(path: &Path) -> io::Result<File> {
    open(path, false)
}

/// Opens a file for reading, or the file that a link leads to. Fails for anything that is not a regular file.
pub(crate) fn open_followed(path: &Path) -> io::Result<File> {
    open(path, true)
}

fn open(path: &Path, follow: bool) -> io::Result<File> {
    let named = |error: io::Error| {
        let message = format!("cannot read `{}`: {error}", path.display());
        io::Error::new(error.kind(), message)
    };
    // Some devices do something when they are opened, so the kind of file is looked at first.
    let metadata = if follow {
        std::fs::metadata(path)
    } else {
        std::fs::symlink_metadata(path)
    };
    if !metadata.map_err(named)?.is_file() {
        return Err(named(not_regular()));
    }
    // The file may have been replaced since.
    let file = sys::open_at_once(OpenOptions::new().read(true), path, follow).map_err(named)?;
    if !file.metadata().map_err(named)?.is_file() {
        return Err(named(not_regular()));
    }
    Ok(file)
}

/// Returns whether a path names a regular file itself, not a link to one.
pub(crate) fn is_regular(path: &Path) -> io::Result<bool> {
    Ok(std::fs::symlink_metadata(path)?.is_file())
}

/// Fails unless a path names a regular file itself.
pub(crate) fn require_regular(path: &Path) -> io::Result<()> {
    if is_regular(path)? {
        return Ok(());
    }
    let kind = kind_of_file(path);
    let message = format!("`{}` is {kind}, and only files are taken", path.display());
    Err(io::Error::new(io::ErrorKind::InvalidInput, message))
}

/// Returns what stands at a path, in a word for people.
pub fn kind_of_file(path: &Path) -> &'static str {
    let Ok(metadata) = std::fs::symlink_metadata(path) else {
        return "a file that cannot be looked at";
    };
    let kind = metadata.file_type();
    if let Some(word) = sys::special_kind(kind) {
        return word;
    }
    match kind {
        kind if kind.is_symlink() => "a link",
        kind if kind.is_dir() => "a folder",
        kind if kind.is_file() => "a file",
        _ => "not a regular file",
    }
}

/// Reads a file, or the file that a link leads to. Fails for anything that is not a regular file, without waiting.
pub fn read_followed(path: &Path) -> io::Result<Vec<u8>> {
    use std::io::Read as _;
    let mut bytes = Vec::new();
    open_followed(path)?.read_to_end(&mut bytes)?;
    Ok(bytes)
}

/// Returns why a file, or the file that a link leads to, cannot be read.
pub fn check_readable(path: &Path) -> io::Result<()> {
    open_followed(path).map(drop)
}

fn not_regular() -> io::Error {
    io::Error::new(io::ErrorKind::InvalidInput, "it is not a regular file")
}

#[cfg(all(test, unix))]
mod tests {
    use super::*;

    #[test]
    fn open_regular_refuses_links_pipes_folders_and_sockets() {
        let folder = tempfile::tempdir().unwrap();
        let at = |name: &str| folder.path().join(name);
        fs_err::write(at("file"), b"x").unwrap();
        std::os::unix::fs::symlink(at("file"), at("link")).unwrap();
        std::os::unix::fs::symlink(at("nowhere"), at("dangling")).unwrap();
        fs_err::create_dir(at("folder")).unwrap();
        let _socket = std::os::unix::net::UnixListener::bind(at("socket")).unwrap();
        let made = std::process::Command::new("mkfifo")
            .arg(at("pipe"))
            .status();
        assert!(made.unwrap().success());
        assert!(open_regular(&at("file")).is_ok());
        for name in ["link", "dangling", "folder", "socket", "pipe", "missing"] {
            assert!(open_regular(&at(name)).is_err(), "{name}");
        }
        assert!(open_regular(Path::new("/dev/null")).is_err());
    }
}
