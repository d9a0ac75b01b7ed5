//! Files and processes, as Windows has them.

use std::ffi::OsString;
use std::fs::{File, FileType, Metadata, OpenOptions};
use std::io;
use std::os::windows::ffi::{OsStrExt as _, OsStringExt as _};
use std::os::windows::fs::{MetadataExt as _, OpenOptionsExt as _};
use std::path::{Path, PathBuf};

use tempfile::TempPath;
use windows_sys::Win32::Foundation::{
    ERROR_ACCESS_DENIED, ERROR_SHARING_VIOLATION, ERROR_USER_MAPPED_FILE,
};
use windows_sys::Win32::Storage::FileSystem::{
    FILE_ATTRIBUTE_TEMPORARY, FILE_FLAG_BACKUP_SEMANTICS, FILE_FLAG_OPEN_REPARSE_POINT,
    FILE_SHARE_DELETE, FILE_SHARE_READ,
};

use super::windows_calls::{FileInformation, Process, file_information, process, set_attributes};

/// The longest path of a share that all programs can open without `\\?\`.
const LONGEST_PATH: usize = 240;

/// Names that lead to a device in every folder, whatever extension they have.
const DEVICES: [&str; 4] = ["CON", "PRN", "AUX", "NUL"];

/// Opens what a path names. A link is not followed unless `follow` is set.
pub(crate) fn open_at_once(
    options: &mut OpenOptions,
    path: &Path,
    follow: bool,
) -> io::Result<File> {
    if !follow {
        options.custom_flags(FILE_FLAG_OPEN_REPARSE_POINT);
    }
    options.open(path)
}

/// Returns `None`: files have no other kinds here.
pub(crate) fn special_kind(_: FileType) -> Option<&'static str> {
    None
}

/// Does nothing: a temp file is made private after it was created.
pub(crate) fn prepare_temp(_: &mut tempfile::Builder<'_, '_>) {}

/// Does nothing: a temp folder is made private after it was created.
#[cfg(feature = "bundle")]
pub(crate) fn prepare_temp_folder(_: &mut tempfile::Builder<'_, '_>) {}

/// Returns how many bytes the user can write in a folder.
#[cfg(feature = "bundle")]
pub(crate) fn free_space(folder: &Path) -> io::Result<u64> {
    super::windows_calls::free_space(folder)
}

/// Opens a file again, because its time can only be set if it is open for writing.
pub(crate) fn open_to_set_time(_: File, path: &Path) -> io::Result<File> {
    File::options().write(true).open(path)
}

/// Creates a private folder.
pub(crate) fn create_private_dir(path: &Path) -> io::Result<()> {
    std::fs::create_dir(path)?;
    super::make_private(path)
}

/// Returns `None`: files have no modes here.
pub(crate) fn mode(_: &Metadata) -> Option<u32> {
    None
}

/// Lets a file be written or not, as far as a mode of another system tells.
pub(crate) fn set_mode(file: &File, mode: u32) -> io::Result<()> {
    let mut permissions = file.metadata()?.permissions();
    permissions.set_readonly(mode & 0o200 == 0);
    file.set_permissions(permissions)
}

/// Returns the metadata of the file at `path`, and its number within the file system.
pub(crate) fn metadata_and_number(path: &Path) -> io::Result<(Metadata, u64)> {
    metadata_and_number_of(&open_to_look(path)?)
}

/// Returns the metadata of an open file, and its number within the file system.
pub(crate) fn metadata_and_number_of(file: &File) -> io::Result<(Metadata, u64)> {
    Ok((file.metadata()?, file_information(file)?.index))
}

/// Returns what identifies a file that has several names; `None` if it has one.
pub(crate) fn several_names(path: &Path, _: &Metadata) -> Option<(u64, u64)> {
    let file = open_to_look(path).ok()?;
    let FileInformation {
        volume,
        index,
        names,
    } = file_information(&file).ok()?;
    (names > 1).then_some((volume, index))
}

/// Opens a file or folder without any right to its contents, which nobody can refuse by a share mode.
fn open_to_look(path: &Path) -> io::Result<File> {
    let mut options = fs_err::OpenOptions::new();
    options.options_mut().access_mode(0);
    options
        .options_mut()
        .custom_flags(FILE_FLAG_BACKUP_SEMANTICS);
    Ok(options.open(path)?.into_file())
}

/// Gives a temp file the name `to`, replacing the file that has it.
///
/// The standard library asks for POSIX semantics where the plain way is refused: then a file that others have open, but
/// let be removed, can be replaced as well. Not all file systems have them.
pub(crate) fn rename_over(mut temp: TempPath, to: &Path) -> Result<(), (TempPath, io::Error)> {
    let renamed = clear_temporary(&temp).and_then(|()| std::fs::rename(&temp, to));
    match renamed {
        Ok(()) => {
            // Its name is gone, and nothing is to be removed.
            temp.disable_cleanup(true);
            Ok(())
        }
        Err(error) => Err((temp, error)),
    }
}

/// Removes the mark of a temp file, whose bytes the system would rather not write to the disk.
fn clear_temporary(path: &Path) -> io::Result<()> {
    let attributes = std::fs::metadata(path)?.file_attributes() & !FILE_ATTRIBUTE_TEMPORARY;
    set_attributes(path, attributes)
}

/// Returns whether a file must be closed before another one can take its name.
pub(crate) fn must_be_closed(error: &io::Error) -> bool {
    is_any_of(
        error,
        &[
            ERROR_ACCESS_DENIED,
            ERROR_SHARING_VIOLATION,
            ERROR_USER_MAPPED_FILE,
        ],
    )
}

/// Makes the bytes of the file at `path` durable. The system asks for the right to write, which a read-only file refuses;
/// its bytes were written long ago.
pub(crate) fn sync_path(path: &Path) -> io::Result<()> {
    match File::options().write(true).open(path) {
        Ok(file) => file.sync_all(),
        Err(e) if e.kind() == io::ErrorKind::PermissionDenied => Ok(()),
        Err(e) => Err(e),
    }
}

/// Makes the names in a folder durable, where the system allows it: some file systems flush no folders.
pub(crate) fn sync_folder(folder: &Path) -> io::Result<()> {
    let mut options = OpenOptions::new();
    options.write(true).custom_flags(FILE_FLAG_BACKUP_SEMANTICS);
    if let Ok(folder) = options.open(folder) {
        let _ = folder.sync_all();
    }
    Ok(())
}

/// Returns when a process started, in units of 100 nanoseconds since 1601, which is what Claude Code writes down; an empty
/// text if it may not be looked at, and `None` if it does not run.
pub(crate) fn process_start(pid: u32) -> Option<String> {
    match process(pid) {
        Process::Started(time) => Some(time.to_string()),
        Process::Unknown => Some(String::new()),
        Process::None => None,
    }
}

/// Reserves nothing.
pub(crate) fn allocate(_: &File, _: u64) -> io::Result<()> {
    Ok(())
}

/// Opens a file so that nobody can open it for writing until it is closed. Fails while somebody has it open for writing.
///
/// Others may read it, rename it and remove it.
pub(crate) fn open_to_hold(path: &Path) -> io::Result<File> {
    let shared = FILE_SHARE_READ | FILE_SHARE_DELETE;
    File::options().read(true).share_mode(shared).open(path)
}

/// Returns whether a file could not be opened to be held because somebody has it open.
pub(crate) fn is_in_use(error: &io::Error) -> bool {
    is_any_of(error, &[ERROR_SHARING_VIOLATION])
}

/// Returns false: there is nothing to ask of a file that is held by the way it was opened.
pub(crate) fn hold(_: &File) -> io::Result<bool> {
    Ok(false)
}

/// Never asked.
pub(crate) fn is_held(_: &File) -> bool {
    true
}

/// Never asked.
pub(crate) fn can_hold_in(_: &Path) -> bool {
    false
}

/// Returns a path without the `\\?\` that the system puts before a real path, unless it would mean something else then.
pub(crate) fn usual_path(path: PathBuf) -> PathBuf {
    let short = dunce::simplified(&path);
    if short != path {
        return short.to_owned();
    }
    let share = path.to_str().and_then(|p| p.strip_prefix(r"\\?\UNC\"));
    match share.filter(|rest| rest.len() < LONGEST_PATH) {
        Some(rest) => PathBuf::from(format!(r"\\{rest}")),
        None => path,
    }
}

/// Returns a path as bytes: its UTF-16 units, the low byte first.
pub(crate) fn path_bytes(path: &Path) -> Vec<u8> {
    let units = path.as_os_str().encode_wide();
    units.flat_map(u16::to_le_bytes).collect()
}

/// Returns the path that [`path_bytes`] made these bytes of.
pub(crate) fn path_of_bytes(bytes: Vec<u8>) -> Option<PathBuf> {
    let (units, []) = bytes.as_chunks::<2>() else {
        return None;
    };
    let units: Vec<u16> = units.iter().map(|&unit| u16::from_le_bytes(unit)).collect();
    Some(OsString::from_wide(&units).into())
}

/// Returns whether a file can have this name, and the system reads it as a plain name.
///
/// A colon would name a stream of another file, and dots and spaces at the end are dropped.
pub(crate) fn is_file_name(name: &str) -> bool {
    let bad = |c: char| c.is_control() || "<>:\"/\\|?*".contains(c);
    let stem = name.split('.').next().unwrap_or_default().trim_end();
    let port = |start: &str| {
        let rest = stem.get(..3).filter(|s| s.eq_ignore_ascii_case(start));
        rest.is_some() && stem.len() == 4 && stem.ends_with(|c: char| c.is_ascii_digit())
    };
    !name.contains(bad)
        && !name.ends_with(['.', ' '])
        && !DEVICES.iter().any(|d| stem.eq_ignore_ascii_case(d))
        && !port("COM")
        && !port("LPT")
}

fn is_any_of(error: &io::Error, codes: &[u32]) -> bool {
    let code = error.raw_os_error().map(i32::cast_unsigned);
    code.is_some_and(|code| codes.contains(&code))
}

/// Ends this process at once.
#[cfg(feature = "fault-points")]
pub(crate) fn kill_self() -> ! {
    super::windows_calls::terminate();
    std::process::abort();
}

/// Halts this process until the file that `CCSURGERY_FAULT_CONTINUE` names is there. A file beside it, whose name ends with
/// `.halted`, shows that it has halted.
#[cfg(feature = "fault-points")]
pub(crate) fn stop_self() -> io::Result<()> {
    let go = std::env::var_os("CCSURGERY_FAULT_CONTINUE");
    let go = PathBuf::from(go.ok_or(io::ErrorKind::InvalidInput)?);
    std::fs::write(go.with_extension("halted"), "")?;
    while !go.exists() {
        std::thread::sleep(std::time::Duration::from_millis(1));
    }
    Ok(())
}
