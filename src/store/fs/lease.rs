//! Keeps other programs from opening a file for writing for a moment.
//!
//! On Linux this is a lease: the system grants it only while nobody has the file open for writing, and a program that opens
//! the file for writing afterwards waits until the lease is released. So nothing can be written between the last look at a
//! file and the moment when another file has its name. On Windows the file is opened in a way that excludes writers: a
//! program that opens it for writing meanwhile is refused, and has to try again. On other systems, and on file systems
//! without leases, the file is only compared with what it was.

use std::fs::File;
use std::io;
use std::path::Path;
use std::time::Duration;

use super::stamp::Stamp;
use super::sys;

/// How long to wait for a program that has the file open for writing.
const PATIENCE: Duration = Duration::from_secs(2);

/// A file that is held, open for reading.
#[derive(Debug)]
pub(crate) struct WriteLease {
    file: File,
    leased: bool,
}

/// Why a lease was not granted.
#[derive(Debug)]
pub(crate) enum NotHeld {
    /// A program keeps the file open for writing.
    Busy,
    /// The file cannot be opened.
    Io(io::Error),
}

impl WriteLease {
    /// Takes a lease on the file at `path`, as soon as nobody has it open for writing.
    pub(crate) fn take(path: &Path) -> Result<Self, NotHeld> {
        let mut waited = Duration::ZERO;
        loop {
            match sys::open_to_hold(path) {
                Ok(file) => return Self::of(file, super::disk::folder_of(path)),
                Err(error) if !sys::is_in_use(&error) => return Err(NotHeld::Io(error)),
                Err(_) if waited < PATIENCE => waited += pause(),
                Err(_) => return Err(NotHeld::Busy),
            }
        }
    }

    /// Takes a lease on an open file that is, or was, in `folder`.
    pub(crate) fn of(file: File, folder: &Path) -> Result<Self, NotHeld> {
        let mut waited = Duration::ZERO;
        loop {
            match sys::hold(&file) {
                Ok(leased) => return Ok(Self { file, leased }),
                Err(_) if waited < PATIENCE => waited += pause(),
                // Some file systems report the same when they have no leases at all.
                Err(_) if sys::can_hold_in(folder) => return Err(NotHeld::Busy),
                Err(_) => {
                    return Ok(Self {
                        file,
                        leased: false,
                    });
                }
            }
        }
    }

    /// Returns the file.
    pub(crate) fn file(&self) -> &File {
        &self.file
    }

    /// Returns whether the file is still as it was, and nobody waits to write to it.
    pub(crate) fn is_still(&self, stamp: &Stamp) -> io::Result<bool> {
        Ok((!self.leased || sys::is_held(&self.file)) && Stamp::of_file(&self.file)? == *stamp)
    }
}

/// Waits for a moment, and returns how long.
fn pause() -> Duration {
    let pause = Duration::from_millis(1);
    std::thread::sleep(pause);
    pause
}
