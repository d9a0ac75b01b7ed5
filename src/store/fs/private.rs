//! Whether a folder is the user's own, and files that nobody else can read.

use std::fs::File;
use std::io;
use std::path::Path;

/// Returns why other users could change what is in a folder; `None` if they could not, or if there is no such folder.
///
/// Only Unix has owners and modes; on other systems every folder counts as private.
pub(crate) fn exposure(folder: &Path) -> Option<&'static str> {
    #[cfg(unix)]
    {
        use std::os::unix::fs::MetadataExt as _;
        let metadata = fs_err::metadata(folder).ok()?;
        let me = rustix::process::geteuid();
        if metadata.uid() != me.as_raw() && !me.is_root() {
            return Some("it belongs to another user");
        }
        if metadata.mode() & 0o022 != 0 {
            return Some("other users may write to it");
        }
    }
    #[cfg(not(unix))]
    let _ = folder;
    None
}

/// Opens a private file for locking, and creates it if it is missing. A link is not followed.
pub(crate) fn open_lock(path: &Path) -> io::Result<File> {
    let mut options = File::options();
    options.create(true).truncate(false).write(true);
    #[cfg(unix)]
    {
        use std::os::unix::fs::OpenOptionsExt as _;
        let flags = rustix::fs::OFlags::NOFOLLOW | rustix::fs::OFlags::NONBLOCK;
        options.mode(0o600).custom_flags(flags.bits().cast_signed());
    }
    options.open(path)
}
