//! What differs between systems, behind the same functions on each.
//!
//! | | Linux | macOS | Windows |
//! |---|---|---|---|
//! | a file takes another's name | `rename` | `rename` | `MoveFileEx`, then a rename with POSIX semantics |
//! | a name is durable | `fsync` of the folder | `fsync` of the folder | a flush of the folder, where the system allows it |
//! | writers are held off | a lease: they wait | nothing: changes are noticed afterwards | a share mode: they are refused |
//! | private | mode 0600 or 0700 | mode 0600 or 0700 | an access list for the user and the system |
//! | when a process started | `/proc` | `proc_pidinfo` | `GetProcessTimes` |
//! | free space | `statvfs` | `statvfs` | `GetDiskFreeSpaceEx` |
//! | which file it is, and its names | inode, link count | inode, link count | file index, link count |
//!
//! No other file of the store names a system.

#[cfg(unix)]
mod unix;
#[cfg(unix)]
pub(crate) use unix::*;

#[cfg(target_os = "linux")]
mod linux;
#[cfg(target_os = "linux")]
pub(crate) use linux::*;

#[cfg(target_os = "macos")]
mod macos;
#[cfg(target_os = "macos")]
pub(crate) use macos::*;

#[cfg(all(unix, not(any(target_os = "linux", target_os = "macos"))))]
mod other_unix;
#[cfg(all(unix, not(any(target_os = "linux", target_os = "macos"))))]
pub(crate) use other_unix::*;

#[cfg(all(unix, not(target_os = "linux")))]
mod no_lease;
#[cfg(all(unix, not(target_os = "linux")))]
pub(crate) use no_lease::*;

#[cfg(windows)]
mod windows;
#[cfg(windows)]
mod windows_access;
#[cfg(windows)]
mod windows_calls;
#[cfg(windows)]
pub(crate) use windows::*;
#[cfg(windows)]
pub(crate) use windows_access::{copy_access, exposure, make_private};
#[cfg(all(windows, feature = "cli"))]
pub(crate) use windows_calls::ignore_interrupts;

#[cfg(test)]
mod tests;
