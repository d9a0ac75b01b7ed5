//! Where the bytes of a document come from.

use std::fmt;
use std::fs::{FileType, Metadata};
use std::io;
use std::path::{Path, PathBuf};

use memmap2::Mmap;

/// Files from this size on are mapped instead of read, so that memory does not grow with them.
///
/// Windows does not let a mapped file be replaced, so files are always read there.
const MAP_FROM: u64 = if cfg!(windows) { u64::MAX } else { 1 << 20 };

/// Where a document's bytes are held.
#[derive(Debug)]
pub enum Source {
    /// In memory.
    Owned(Vec<u8>),
    /// In a mapping of the file.
    Mapped(Mmap),
}

/// A path leads to something other than a regular file.
///
/// [`Source::open`] returns it inside an [`io::Error`].
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("`{}` is a {kind}, not a regular file", path.display())]
pub struct NotAFile {
    /// The path.
    pub path: PathBuf,
    /// What it leads to.
    pub kind: FileKind,
}

/// What a path can lead to instead of a regular file.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[allow(missing_docs)]
pub enum FileKind {
    Directory,
    Pipe,
    Socket,
    Device,
}

impl FileKind {
    /// Returns what a file is, unless it is a regular file.
    fn of(kind: FileType) -> Option<Self> {
        if kind.is_file() {
            return None;
        }
        if kind.is_dir() {
            return Some(FileKind::Directory);
        }
        #[cfg(unix)]
        {
            use std::os::unix::fs::FileTypeExt as _;
            if kind.is_fifo() {
                return Some(FileKind::Pipe);
            }
            if kind.is_socket() {
                return Some(FileKind::Socket);
            }
        }
        Some(FileKind::Device)
    }
}

impl fmt::Display for FileKind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            FileKind::Directory => "directory",
            FileKind::Pipe => "pipe",
            FileKind::Socket => "socket",
            FileKind::Device => "device",
        })
    }
}

impl From<NotAFile> for io::Error {
    fn from(error: NotAFile) -> Self {
        let kind = match error.kind {
            FileKind::Directory => io::ErrorKind::IsADirectory,
            FileKind::Pipe | FileKind::Socket | FileKind::Device => io::ErrorKind::InvalidInput,
        };
        io::Error::new(kind, error)
    }
}

/// Fails unless `metadata`, that of `path`, is of a regular file.
fn require_file(path: &Path, metadata: &Metadata) -> Result<(), NotAFile> {
    match FileKind::of(metadata.file_type()) {
        None => Ok(()),
        Some(kind) => Err(NotAFile {
            path: path.to_owned(),
            kind,
        }),
    }
}

impl Source {
    /// Reads a regular file, by mapping it if it is large; refuses anything else with [`NotAFile`].
    ///
    /// The path is examined before it is opened: opening a pipe waits for a writer, and opening a device may do anything.
    pub fn open(path: &Path) -> io::Result<Self> {
        require_file(path, &fs_err::metadata(path)?)?;
        let file = fs_err::File::open(path)?;
        if file.metadata()?.len() < MAP_FROM {
            return fs_err::read(path).map(Self::Owned);
        }
        // SAFETY: the mapping is read-only and private. The client only ever appends, and we
        // replace files by renaming, never by truncating; should another program truncate the file
        // while it is mapped, this process ends with SIGBUS, before anything was published.
        #[allow(unsafe_code)]
        let map = unsafe { Mmap::map(file.file()) }?;
        Ok(Self::Mapped(map))
    }

    /// Does the same as [`Source::open`], but also reads a pipe to its end, which may wait for its writer.
    ///
    /// For paths that the user wrote, like `/dev/stdin`; never for files that were found in a folder.
    pub fn open_file_or_pipe(path: &Path) -> io::Result<Self> {
        let kind = FileKind::of(fs_err::metadata(path)?.file_type());
        if kind == Some(FileKind::Pipe) {
            return fs_err::read(path).map(Self::Owned);
        }
        Self::open(path)
    }

    /// Returns the bytes.
    pub fn bytes(&self) -> &[u8] {
        match self {
            Source::Owned(bytes) => bytes,
            Source::Mapped(map) => map,
        }
    }
}

#[cfg(all(test, unix))]
mod tests {
    use super::*;

    fn make_pipe(path: &Path) {
        let made = std::process::Command::new("mkfifo").arg(path).status();
        assert!(made.expect("mkfifo").success());
    }

    #[test]
    fn source_refuses_everything_but_regular_files() {
        let folder = tempfile::tempdir().expect("a folder");
        let pipe = folder.path().join("pipe");
        make_pipe(&pipe);
        let socket = folder.path().join("socket");
        let _listener = std::os::unix::net::UnixListener::bind(&socket).expect("a socket");
        for (path, kind) in [
            (folder.path(), FileKind::Directory),
            (&pipe, FileKind::Pipe),
            (&socket, FileKind::Socket),
            (Path::new("/dev/null"), FileKind::Device),
        ] {
            let error = Source::open(path).expect_err("not a file");
            let refused = error.get_ref().and_then(|e| e.downcast_ref::<NotAFile>());
            assert_eq!(refused.map(|e| e.kind), Some(kind), "{error}");
        }
    }

    #[test]
    fn source_reads_a_pipe_that_was_named_to_its_end() {
        let folder = tempfile::tempdir().expect("a folder");
        let pipe = folder.path().join("pipe");
        make_pipe(&pipe);
        let bytes = "a line\n".repeat(20_000);
        std::thread::scope(|scope| {
            scope.spawn(|| fs_err::write(&pipe, &bytes).expect("a reader"));
            let source = Source::open_file_or_pipe(&pipe).expect("a pipe");
            assert_eq!(source.bytes(), bytes.as_bytes());
        });
    }
}
