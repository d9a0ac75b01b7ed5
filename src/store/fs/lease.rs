//! Keeps others from beginning to write to a file for a moment.
//!
//! On Linux this is a lease: it is given only while nobody has the file open for writing, and whoever
//! opens it for writing afterwards waits until it is released. So between the last look at a file and
//! the moment when another has taken its name, nothing can be written to it. Elsewhere, and on file systems
//! that have no leases, there is only looking.

use std::fs::File;
use std::io;
use std::path::Path;
use std::time::Duration;

use super::stamp::Stamp;

/// How long somebody who is writing is waited for.
const PATIENCE: Duration = Duration::from_secs(2);

/// A file that is looked after, open for reading.
#[derive(Debug)]
pub(crate) struct WriteLease {
    file: File,
    leased: bool,
}

/// Why a file cannot be held.
#[derive(Debug)]
pub(crate) enum NotHeld {
    /// Somebody has it open for writing, and goes on having it.
    Busy,
    /// It cannot be opened.
    Io(io::Error),
}

impl WriteLease {
    /// Holds the file at `path`, as soon as whoever writes to it has closed it.
    pub(crate) fn take(path: &Path) -> Result<Self, NotHeld> {
        let file = File::open(path).map_err(NotHeld::Io)?;
        Self::of(file, super::disk::folder_of(path))
    }

    /// Holds an open file that is, or was, in `folder`.
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
                // Some file systems say the same when they have no leases at all.
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

    /// The file.
    pub(crate) fn file(&self) -> &File {
        &self.file
    }

    /// Whether the file is still as it was, and nobody waits to change it.
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

    /// Chooses the signal that tells of the file; `libc` has no name for it.
    const F_SETSIG: libc::c_int = 10;

    /// Takes the lease. False where there are none, an error where somebody has the file open for writing.
    pub(crate) fn take(file: &File) -> io::Result<bool> {
        // Whoever wants to write makes the system send a signal, by default one that would end this
        // process. This one is ignored unless asked for; the lease itself is asked instead.
        let told = control(file, F_SETSIG, libc::SIGURG);
        match told.and_then(|_| control(file, libc::F_SETLEASE, libc::F_RDLCK)) {
            Ok(_) => Ok(true),
            Err(error) if error.kind() == io::ErrorKind::WouldBlock => Err(error),
            Err(_) => Ok(false),
        }
    }

    /// Whether the lease is still held, and nobody waits for it to end.
    pub(crate) fn is_whole(file: &File) -> bool {
        control(file, libc::F_GETLEASE, 0).is_ok_and(|kind| kind == libc::F_RDLCK)
    }

    /// Whether files in a folder can have leases, tried on one that nobody knows of.
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
