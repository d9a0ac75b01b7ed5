//! Whether a folder is the user's own, and files that nobody else can read.

use std::fs::File;
use std::io;
use std::path::Path;

use super::sys;

/// Returns why other users could change what is in a folder; `None` if they could not, or if there is no such folder.
pub(crate) fn exposure(folder: &Path) -> Option<&'static str> {
    sys::exposure(folder)
}

/// Opens a private file for locking, and creates it if it is missing. A link is not followed.
pub(crate) fn open_lock(path: &Path) -> io::Result<File> {
    let mut options = File::options();
    options.create(true).truncate(false).write(true);
    sys::open_at_once(&mut options, path, false)
}
