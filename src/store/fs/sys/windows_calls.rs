//! The calls to Windows that the standard library has no safe function for. Nothing else here is `unsafe` on Windows.
#![allow(unsafe_code)]

use std::ffi::OsStr;
use std::fs::File;
use std::io;
use std::os::windows::ffi::OsStrExt as _;
use std::os::windows::io::{AsRawHandle as _, FromRawHandle as _, OwnedHandle};
use std::path::Path;
use std::ptr::null_mut;

use windows_sys::Win32::Foundation::{
    ERROR_ACCESS_DENIED, ERROR_INSUFFICIENT_BUFFER, FILETIME, HANDLE, LocalFree, WAIT_TIMEOUT,
};
use windows_sys::Win32::Security::Authorization::{
    ConvertSecurityDescriptorToStringSecurityDescriptorW, ConvertSidToStringSidW,
    ConvertStringSecurityDescriptorToSecurityDescriptorW, SDDL_REVISION_1,
};
use windows_sys::Win32::Security::{
    DACL_SECURITY_INFORMATION, GetFileSecurityW, GetTokenInformation, PSECURITY_DESCRIPTOR,
    SetFileSecurityW, TOKEN_QUERY, TOKEN_USER, TokenUser,
};
use windows_sys::Win32::Storage::FileSystem::{
    BY_HANDLE_FILE_INFORMATION, GetFileInformationByHandle, SetFileAttributesW,
};
use windows_sys::Win32::System::Threading::{
    GetCurrentProcess, GetProcessTimes, OpenProcess, OpenProcessToken,
    PROCESS_QUERY_LIMITED_INFORMATION, PROCESS_SYNCHRONIZE, WaitForSingleObject,
};

/// Whether a process runs.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Process {
    /// It started at this time, in units of 100 nanoseconds since 1601.
    Started(u64),
    /// It runs, but may not be looked at.
    Unknown,
    /// It does not run.
    None,
}

/// Returns whether a process runs, and since when.
pub(super) fn process(pid: u32) -> Process {
    // SAFETY: the call takes plain numbers and returns a handle or null.
    let raw = unsafe {
        OpenProcess(
            PROCESS_QUERY_LIMITED_INFORMATION | PROCESS_SYNCHRONIZE,
            0,
            pid,
        )
    };
    if raw.is_null() {
        let denied = io::Error::last_os_error().raw_os_error();
        return if denied == Some(ERROR_ACCESS_DENIED.cast_signed()) {
            Process::Unknown
        } else {
            Process::None
        };
    }
    // SAFETY: the handle was opened just now, and nobody else closes it.
    let process = unsafe { OwnedHandle::from_raw_handle(raw) };
    // A process that has ended can be opened as long as somebody else has a handle.
    // SAFETY: the handle is open.
    if unsafe { WaitForSingleObject(process.as_raw_handle(), 0) } != WAIT_TIMEOUT {
        return Process::None;
    }
    let mut times = [FILETIME::default(); 4];
    let [started, ended, kernel, user] = &mut times;
    // SAFETY: the handle is open, and the four places are writable.
    let known =
        unsafe { GetProcessTimes(process.as_raw_handle(), started, ended, kernel, user) } != 0;
    if !known {
        return Process::Unknown;
    }
    let started = times[0];
    Process::Started(join(started.dwHighDateTime, started.dwLowDateTime))
}

/// What Windows knows of an open file beyond its metadata.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct FileInformation {
    /// The number of its volume.
    pub(super) volume: u64,
    /// Its number within the volume.
    pub(super) index: u64,
    /// How many names it has.
    pub(super) names: u32,
}

/// Returns what identifies an open file.
pub(super) fn file_information(file: &File) -> io::Result<FileInformation> {
    let mut found = BY_HANDLE_FILE_INFORMATION::default();
    // SAFETY: the handle is open for as long as `file` is borrowed, and `found` is writable.
    checked(unsafe { GetFileInformationByHandle(file.as_raw_handle(), &raw mut found) })?;
    Ok(FileInformation {
        volume: found.dwVolumeSerialNumber.into(),
        index: join(found.nFileIndexHigh, found.nFileIndexLow),
        names: found.nNumberOfLinks,
    })
}

/// Returns the identifier of the user who runs this process, as text.
pub(super) fn user_sid() -> io::Result<String> {
    let mut token: HANDLE = null_mut();
    // SAFETY: the handle of the own process needs no closing, and `token` is writable.
    checked(unsafe { OpenProcessToken(GetCurrentProcess(), TOKEN_QUERY, &raw mut token) })?;
    // SAFETY: the handle was opened just now, and nobody else closes it.
    let token = unsafe { OwnedHandle::from_raw_handle(token) };
    // Words, because the structure at the beginning holds a pointer and must be aligned for it.
    let mut room = [0u64; 32];
    let mut used = 0;
    let size = u32::try_from(size_of_val(&room)).unwrap_or(0);
    // SAFETY: the system writes at most `size` bytes to `room`, which is as large.
    checked(unsafe {
        GetTokenInformation(
            token.as_raw_handle(),
            TokenUser,
            room.as_mut_ptr().cast(),
            size,
            &raw mut used,
        )
    })?;
    let mut text = null_mut();
    // SAFETY: `room` now begins with a `TOKEN_USER`, whose pointer leads into `room`.
    checked(unsafe {
        let user = &*room.as_ptr().cast::<TOKEN_USER>();
        ConvertSidToStringSidW(user.User.Sid, &raw mut text)
    })?;
    // SAFETY: the system returned a text that ends with 0, which is freed here and nowhere else.
    Ok(unsafe { taken_text(text) })
}

/// Returns who may do what with a file or folder, as text in Windows' own notation.
pub(super) fn access_of(path: &Path) -> io::Result<String> {
    let name = wide_path(path)?;
    let mut size = 0;
    // SAFETY: the name ends with 0, and the system writes nothing but the size it needs.
    let asked = unsafe {
        GetFileSecurityW(
            name.as_ptr(),
            DACL_SECURITY_INFORMATION,
            null_mut(),
            0,
            &raw mut size,
        )
    };
    if asked == 0 {
        let error = io::Error::last_os_error();
        if error.raw_os_error() != Some(ERROR_INSUFFICIENT_BUFFER.cast_signed()) {
            return Err(error);
        }
    }
    let mut room = vec![0u64; (size as usize).div_ceil(8)];
    let descriptor: PSECURITY_DESCRIPTOR = room.as_mut_ptr().cast();
    let mut used = 0;
    // SAFETY: the name ends with 0, and `room` has at least `size` bytes.
    checked(unsafe {
        GetFileSecurityW(
            name.as_ptr(),
            DACL_SECURITY_INFORMATION,
            descriptor,
            size,
            &raw mut used,
        )
    })?;
    let mut text = null_mut();
    // SAFETY: `room` holds a descriptor now.
    checked(unsafe {
        ConvertSecurityDescriptorToStringSecurityDescriptorW(
            descriptor,
            SDDL_REVISION_1,
            DACL_SECURITY_INFORMATION,
            &raw mut text,
            null_mut(),
        )
    })?;
    // SAFETY: the system returned a text that ends with 0, which is freed here and nowhere else.
    Ok(unsafe { taken_text(text) })
}

/// Sets who may do what with a file or folder.
pub(super) fn set_access(path: &Path, access: &str) -> io::Result<()> {
    let name = wide_path(path)?;
    let access = wide(OsStr::new(access));
    let mut descriptor: PSECURITY_DESCRIPTOR = null_mut();
    // SAFETY: the text ends with 0, and `descriptor` is writable.
    checked(unsafe {
        ConvertStringSecurityDescriptorToSecurityDescriptorW(
            access.as_ptr(),
            SDDL_REVISION_1,
            &raw mut descriptor,
            null_mut(),
        )
    })?;
    // SAFETY: the name ends with 0, and the descriptor was made by the system.
    let set =
        checked(unsafe { SetFileSecurityW(name.as_ptr(), DACL_SECURITY_INFORMATION, descriptor) });
    // SAFETY: the descriptor was allocated by the system, and is freed here and nowhere else.
    unsafe { LocalFree(descriptor) };
    set
}

/// Sets the attributes of a file.
pub(super) fn set_attributes(path: &Path, attributes: u32) -> io::Result<()> {
    let name = wide_path(path)?;
    // SAFETY: the name ends with 0.
    checked(unsafe { SetFileAttributesW(name.as_ptr(), attributes) })
}

/// Returns how many bytes the user can write in a folder.
#[cfg(feature = "bundle")]
pub(super) fn free_space(folder: &Path) -> io::Result<u64> {
    use windows_sys::Win32::Storage::FileSystem::GetDiskFreeSpaceExW;
    let name = wide_path(folder)?;
    let mut free = 0;
    // SAFETY: the name ends with 0, and `free` is writable; what is not wanted is null.
    checked(unsafe { GetDiskFreeSpaceExW(name.as_ptr(), &raw mut free, null_mut(), null_mut()) })?;
    Ok(free)
}

/// Ignores Ctrl-C from now on.
#[cfg(feature = "cli")]
pub(crate) fn ignore_interrupts() {
    use windows_sys::Win32::System::Console::SetConsoleCtrlHandler;
    // SAFETY: without a function, the call only sets a flag of this process.
    unsafe { SetConsoleCtrlHandler(None, 1) };
}

/// Ends this process at once: nothing is cleaned up.
#[cfg(feature = "fault-points")]
pub(super) fn terminate() {
    use windows_sys::Win32::System::Threading::TerminateProcess;
    // SAFETY: ending the own process needs no rights, and leaves nothing behind that could be used wrongly.
    unsafe { TerminateProcess(GetCurrentProcess(), 137) };
}

fn checked(result: i32) -> io::Result<()> {
    if result == 0 {
        return Err(io::Error::last_os_error());
    }
    Ok(())
}

fn join(high: u32, low: u32) -> u64 {
    u64::from(high) << 32 | u64::from(low)
}

/// Returns a path as Windows takes it. A long one is only taken literally, as the standard library does it as well.
fn wide_path(path: &Path) -> io::Result<Vec<u16>> {
    const LONG: usize = 240;
    let path = std::path::absolute(path)?;
    let name = wide(path.as_os_str());
    let begins = |text: &str| name.starts_with(&text.encode_utf16().collect::<Vec<_>>());
    if name.len() < LONG || begins(r"\\?\") || begins(r"\\.\") {
        return Ok(name);
    }
    let (literal, rest) = if begins(r"\\") {
        (r"\\?\UNC\", &name[2..])
    } else {
        (r"\\?\", &name[..])
    };
    Ok(literal.encode_utf16().chain(rest.iter().copied()).collect())
}

/// Returns a text as Windows takes it: in UTF-16, with a 0 at the end.
fn wide(text: &OsStr) -> Vec<u16> {
    text.encode_wide().chain([0]).collect()
}

/// Returns a text of the system's, and frees it.
///
/// # Safety
/// The text must end with 0, and must have been allocated by a call that asks for `LocalFree`.
unsafe fn taken_text(text: *mut u16) -> String {
    // SAFETY: the caller promises a text that ends with 0.
    let units = unsafe {
        let len = (0..).take_while(|&n| *text.add(n) != 0).count();
        std::slice::from_raw_parts(text, len)
    };
    let out = String::from_utf16_lossy(units);
    // SAFETY: the caller promises that it is to be freed like this; `units` is not used any more.
    unsafe { LocalFree(text.cast()) };
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn wide_path_that_is_long_is_taken_literally() {
        let taken = |path: &str| {
            let name = wide_path(Path::new(path)).expect("a path");
            String::from_utf16(&name[..name.len() - 1]).expect("text")
        };
        let long = "a".repeat(250);
        assert_eq!(taken(r"C:\x\y"), r"C:\x\y");
        assert_eq!(taken(&format!("C:/x/{long}")), format!(r"\\?\C:\x\{long}"));
        assert_eq!(
            taken(&format!(r"\\server\share\{long}")),
            format!(r"\\?\UNC\server\share\{long}")
        );
        let literal = format!(r"\\?\C:\x\{long}");
        assert_eq!(taken(&literal), literal);
    }
}
