//! Keeps other programs from opening a file for writing for a moment.
//!
//! On Linux this is a lease: the system grants it only while nobody has the file open for writing, and a program that opens
//! the file for writing afterwards waits until the lease is released. So nothing can be written between the last look at a
//! file and the moment when another file has its name. On other systems, and on file systems without leases, the file is
//! only compared with what it was.

use std::fs::File;
use std::io;
use std::path::Path;
use std::time::Duration;

use super::stamp::Stamp;

/// How long to wait for a program that has the file open for writing.
const PATIENCE: Duration = Duration::from_secs(2);

/// A file under a lease, open for reading.
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
        let file = File::open(path).map_err(NotHeld::Io)?;
        Self::of(file, super::disk::folder_of(path))
    }

    /// Takes a lease on an open file that is, or was, in `folder`.
    pub(crate) fn of(file: File, folder: &Path) -> Result<Self, NotHeld> {
        let mut waited = Duration::ZERO;
        loop {
            match sys::take(&file) {
                Ok(leased) => return Ok(Self { file, leased }),
                Err(_) if waited < PATIENCE => {
                    let pause = Duration::from_millis(1);
                    std::thread::sleep(pause);
                    waited += pause;
                }
                // Some file systems report the same when they have no leases at all.
                Err(_) if sys::works_in(folder) => return Err(NotHeld::Busy),
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
        Ok((!self.leased || sys::is_whole(&self.file)) && Stamp::of_file(&self.file)? == *stamp)
    }
}

#[cfg(target_os = "linux")]
mod sys {
    use std::fs::File;
    use std::io;
    use std::os::fd::AsRawFd as _;
    use std::path::Path;

    /// Chooses the signal that the system sends about a lease; `libc` has no name for it.
    const F_SETSIG: libc::c_int = 10;

    /// Takes the lease. Returns false where there are none, and an error while a program has the file open for writing.
    pub(crate) fn take(file: &File) -> io::Result<bool> {
        // When a program wants to write, the system sends a signal, by default one that would end this process. This one is
        // ignored by default; the state of the lease is asked for instead.
        let told = control(file, F_SETSIG, libc::SIGURG);
        match told.and_then(|_| control(file, libc::F_SETLEASE, libc::F_RDLCK)) {
            Ok(_) => Ok(true),
            Err(error) if error.kind() == io::ErrorKind::WouldBlock => Err(error),
            Err(_) => Ok(false),
        }
    }

    /// Returns whether the lease is still held, and nobody waits for it to end.
    pub(crate) fn is_whole(file: &File) -> bool {
        control(file, libc::F_GETLEASE, 0).is_ok_and(|kind| kind == libc::F_RDLCK)
    }

    /// Returns whether files in a folder can have leases, by trying it on a temp file.
    pub(crate) fn works_in(folder: &Path) -> bool {
        let try_it = || {
            let temp = crate::store::fs::disk::create_temp(folder)?.into_temp_path();
            take(&File::open(&temp)?)
        };
        try_it().unwrap_or(false)
    }

    fn control(
        file: &File,
        command: libc::c_int,
        argument: libc::c_int,
    ) -> io::Result<libc::c_int> {
        // SAFETY: the descriptor is open for as long as `file` is borrowed, and these commands take
        // and return plain numbers.
        #[allow(unsafe_code)]
        let result = unsafe { libc::fcntl(file.as_raw_fd(), command, argument) };
        if result < 0 {
            return Err(io::Error::last_os_error());
        }
        Ok(result)
    }
}

#[cfg(not(target_os = "linux"))]
mod sys {
    use std::fs::File;
    use std::io;
    use std::path::Path;

    pub(crate) fn take(_: &File) -> io::Result<bool> {
        Ok(false)
    }

    pub(crate) fn is_whole(_: &File) -> bool {
        true
    }

    pub(crate) fn works_in(_: &Path) -> bool {
        false
    }
}
