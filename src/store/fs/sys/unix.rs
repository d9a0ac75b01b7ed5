//! What Linux, macOS and other Unix systems do alike.

use std::ffi::OsString;
use std::fs::{DirBuilder, File, FileType, Metadata, OpenOptions, Permissions};
use std::io;
use std::os::unix::ffi::{OsStrExt as _, OsStringExt as _};
use std::os::unix::fs::{
    DirBuilderExt as _, FileTypeExt as _, MetadataExt as _, OpenOptionsExt as _,
    PermissionsExt as _,
};
use std::path::{Path, PathBuf};

use rustix::fs::OFlags;
use tempfile::TempPath;

/// Opens what a path names, without waiting for a pipe. A link is not followed unless `follow` is set.
pub(crate) fn open_at_once(
    options: &mut OpenOptions,
    path: &Path,
    follow: bool,
) -> io::Result<File> {
    let no_follow = if follow {
        OFlags::empty()
    } else {
        OFlags::NOFOLLOW
    };
    let flags = OFlags::NONBLOCK | no_follow;
    options
        .mode(0o600)
        .custom_flags(flags.bits().cast_signed())
        .open(path)
}

/// Returns a word for a kind of file that only this system has.
pub(crate) fn special_kind(kind: FileType) -> Option<&'static str> {
    if kind.is_fifo() {
        Some("a pipe")
    } else if kind.is_socket() {
        Some("a socket")
    } else if kind.is_block_device() || kind.is_char_device() {
        Some("a device")
    } else {
        None
    }
}

/// Gives the temp files of a builder the mode of private ones.
pub(crate) fn prepare_temp(builder: &mut tempfile::Builder<'_, '_>) {
    builder.permissions(Permissions::from_mode(0o600));
}

/// Gives the temp folders of a builder the mode of private ones.
#[cfg(feature = "bundle")]
pub(crate) fn prepare_temp_folder(builder: &mut tempfile::Builder<'_, '_>) {
    builder.permissions(Permissions::from_mode(0o700));
}

/// Returns how many bytes the user can write in a folder.
#[cfg(feature = "bundle")]
pub(crate) fn free_space(folder: &Path) -> io::Result<u64> {
    let space = rustix::fs::statvfs(folder)?;
    Ok(space.f_bavail.saturating_mul(space.f_frsize))
}

/// Returns the file as it is: its owner may set its time, however it was opened.
pub(crate) fn open_to_set_time(file: File, _: &Path) -> io::Result<File> {
    Ok(file)
}

/// Leaves a temp file as it is: it was private from the beginning.
pub(crate) fn make_private(_: &Path) -> io::Result<()> {
    Ok(())
}

/// Creates a private folder.
pub(crate) fn create_private_dir(path: &Path) -> io::Result<()> {
    DirBuilder::new().mode(0o700).create(path)
}

/// Returns why other users could change what is in a folder; `None` if they could not, or if there is no such folder.
pub(crate) fn exposure(folder: &Path) -> Option<&'static str> {
    let metadata = fs_err::metadata(folder).ok()?;
    let me = rustix::process::geteuid();
    if metadata.uid() != me.as_raw() && !me.is_root() {
        return Some("it belongs to another user");
    }
    (metadata.mode() & 0o022 != 0).then_some("other users may write to it")
}

/// Gives a file the owner of another one, if that is another user.
pub(crate) fn copy_access(file: &File, _: &Path, _: &Path, other: &Metadata) -> io::Result<()> {
    let own = file.metadata()?;
    if (own.uid(), own.gid()) != (other.uid(), other.gid()) {
        // Only the superuser may give files away; others keep what they create.
        let _ = std::os::unix::fs::fchown(file, Some(other.uid()), Some(other.gid()));
    }
    Ok(())
}

/// Returns a file's mode.
pub(crate) fn mode(metadata: &Metadata) -> Option<u32> {
    Some(metadata.permissions().mode() & 0o7777)
}

/// Sets a file's mode.
pub(crate) fn set_mode(file: &File, mode: u32) -> io::Result<()> {
    file.set_permissions(Permissions::from_mode(mode))
}

/// Returns the metadata of the file at `path`, and its number within the file system.
pub(crate) fn metadata_and_number(path: &Path) -> io::Result<(Metadata, u64)> {
    let metadata = fs_err::metadata(path)?;
    let number = metadata.ino();
    Ok((metadata, number))
}

/// Returns the metadata of an open file, and its number within the file system.
pub(crate) fn metadata_and_number_of(file: &File) -> io::Result<(Metadata, u64)> {
    let metadata = file.metadata()?;
    let number = metadata.ino();
    Ok((metadata, number))
}

/// Returns what identifies a file that has several names; `None` if it has one.
pub(crate) fn several_names(_: &Path, metadata: &Metadata) -> Option<(u64, u64)> {
    (metadata.nlink() > 1).then(|| (metadata.dev(), metadata.ino()))
}

/// Gives a temp file the name `to`, replacing the file that has it.
pub(crate) fn rename_over(temp: TempPath, to: &Path) -> Result<(), (TempPath, io::Error)> {
    temp.persist(to).map_err(|e| (e.path, e.error))
}

/// Returns whether a file must be closed before another one can take its name.
pub(crate) fn must_be_closed(_: &io::Error) -> bool {
    false
}

/// Returns false: any file can be opened to be held.
pub(crate) fn is_in_use(_: &io::Error) -> bool {
    false
}

/// Makes the bytes of the file at `path` durable.
pub(crate) fn sync_path(path: &Path) -> io::Result<()> {
    File::open(path)?.sync_all()
}

/// Makes the names in a folder durable.
pub(crate) fn sync_folder(folder: &Path) -> io::Result<()> {
    fs_err::File::open(folder)?.sync_all()
}

/// Returns a path as it is.
pub(crate) fn usual_path(path: PathBuf) -> PathBuf {
    path
}

/// Returns a path as bytes.
pub(crate) fn path_bytes(path: &Path) -> Vec<u8> {
    path.as_os_str().as_bytes().to_vec()
}

/// Returns the path that [`path_bytes`] made these bytes of.
pub(crate) fn path_of_bytes(bytes: Vec<u8>) -> Option<PathBuf> {
    Some(OsString::from_vec(bytes).into())
}

/// Returns whether the system lets a file have this name, and reads it as a plain name.
pub(crate) fn is_file_name(name: &str) -> bool {
    !name.contains(['/', '\0'])
}

/// Ends this process at once, as `kill -9` does.
#[cfg(feature = "fault-points")]
pub(crate) fn kill_self() -> ! {
    let _ = rustix::process::kill_process(rustix::process::getpid(), rustix::process::Signal::KILL);
    std::process::abort();
}

/// Halts this process until it is continued.
#[cfg(feature = "fault-points")]
pub(crate) fn stop_self() -> io::Result<()> {
    rustix::process::kill_process(rustix::process::getpid(), rustix::process::Signal::STOP)?;
    Ok(())
}
