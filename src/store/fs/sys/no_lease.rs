//! Unix without leases: a file cannot be held against writers, and no space is reserved.
//!
//! A change is noticed by comparing the file with what it was, before and after another one takes its name.

use std::fs::File;
use std::io;
use std::path::Path;

/// Reserves nothing.
pub(crate) fn allocate(_: &File, _: u64) -> io::Result<()> {
    Ok(())
}

/// Opens a file that would be held against writers.
pub(crate) fn open_to_hold(path: &Path) -> io::Result<File> {
    File::open(path)
}

/// Returns that the file is not held.
pub(crate) fn hold(_: &File) -> io::Result<bool> {
    Ok(false)
}

/// Never asked, because no file is held.
pub(crate) fn is_held(_: &File) -> bool {
    true
}

/// Returns that no folder has files that can be held.
pub(crate) fn can_hold_in(_: &Path) -> bool {
    false
}
