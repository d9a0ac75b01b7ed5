//! Leases, reserved space and start times, as Linux has them.

use std::fs::File;
use std::io;
use std::os::fd::AsRawFd as _;
use std::path::Path;

/// Chooses the signal that the system sends about a lease; `libc` has no name for it.
const F_SETSIG: libc::c_int = 10;

/// Returns when a process started, in the system's own units; `None` if it does not run.
pub(crate) fn process_start(pid: u32) -> Option<String> {
    let stat = fs_err::read_to_string(format!("/proc/{pid}/stat")).ok()?;
    // The second field is the name in parentheses, which may hold anything.
    let rest = &stat[stat.rfind(')')? + 1..];
    rest.split_ascii_whitespace().nth(19).map(str::to_owned)
}

/// Reserves disk space for a file that is about to be written.
pub(crate) fn allocate(file: &File, len: u64) -> io::Result<()> {
    use rustix::fs::{FallocateFlags, fallocate};
    use rustix::io::Errno;
    if len == 0 {
        return Ok(());
    }
    match fallocate(file, FallocateFlags::KEEP_SIZE, 0, len) {
        Err(full @ (Errno::NOSPC | Errno::DQUOT | Errno::FBIG)) => Err(full.into()),
        // File systems that cannot reserve space report another error.
        _ => Ok(()),
    }
}

/// Opens a file that is about to be held against writers.
pub(crate) fn open_to_hold(path: &Path) -> io::Result<File> {
    File::open(path)
}

/// Takes a lease. Returns false where there are none, and an error while a program has the file open for writing.
pub(crate) fn hold(file: &File) -> io::Result<bool> {
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
pub(crate) fn is_held(file: &File) -> bool {
    control(file, libc::F_GETLEASE, 0).is_ok_and(|kind| kind == libc::F_RDLCK)
}

/// Returns whether files in a folder can have leases, by trying it on a temp file.
pub(crate) fn can_hold_in(folder: &Path) -> bool {
    let try_it = || {
        let temp = crate::store::fs::disk::create_temp(folder)?.into_temp_path();
        hold(&File::open(&temp)?)
    };
    try_it().unwrap_or(false)
}

fn control(file: &File, command: libc::c_int, argument: libc::c_int) -> io::Result<libc::c_int> {
    // SAFETY: the descriptor is open for as long as `file` is borrowed, and these commands take
    // and return plain numbers.
    #[allow(unsafe_code)]
    let result = unsafe { libc::fcntl(file.as_raw_fd(), command, argument) };
    if result < 0 {
        return Err(io::Error::last_os_error());
    }
    Ok(result)
}
