//! Replaces or removes a file without losing what somebody appends to it at that moment.
//!
//! The old file is held against writers (see `lease`) from the last look at it until the whole operation is done, and
//! keeps a second name, so that it can be put back. A program that waited to append then appends to it as if nothing had
//! happened. Bytes that reached the new file meanwhile are appended to the old one.
//!
//! Some systems cannot replace a file that is open, not even by this process. There it is closed for the moment of the
//! renaming, and held again by its second name, which shows whether somebody wrote to it or has it open.

use std::fs::File;
use std::io::{self, Read as _, Seek as _, SeekFrom, Write as _};
use std::path::{Path, PathBuf};

use tempfile::TempPath;

use super::disk::{self, folder_of};
use super::fault::point;
use super::lease::{NotHeld, WriteLease};
use super::stamp::Stamp;

/// How many replaced files are kept open at once; systems allow a process as few as 256.
const MOST_OPEN: usize = 64;

/// Why a file was left as it is.
#[derive(Debug, thiserror::Error)]
pub(crate) enum SwapError {
    #[error("another process has it open for writing")]
    Busy,
    #[error("it changed")]
    Changed,
    #[error(transparent)]
    Io(#[from] io::Error),
}

impl From<NotHeld> for SwapError {
    fn from(error: NotHeld) -> Self {
        match error {
            NotHeld::Busy => Self::Busy,
            NotHeld::Io(error) => Self::Io(error),
        }
    }
}

/// A file that was replaced or removed, and can be put back.
#[derive(Debug)]
pub(crate) struct Swap {
    path: PathBuf,
    /// What the old file was.
    stamp: Stamp,
    /// The old file, unless it was closed because too many were open.
    lease: Option<WriteLease>,
    /// The old file's second name, where the file system allows one.
    aside: Option<TempPath>,
    /// The size of the file that replaced it, if one did.
    new: Option<u64>,
}

impl Swap {
    /// Replaces the file at `path` by a temp file of the same folder, if `path` is still what `stamp` describes.
    pub(crate) fn put(path: &Path, stamp: Stamp, incoming: TempPath) -> Result<Self, SwapError> {
        let len = fs_err::metadata(&incoming)?.len();
        let swap = Self::change(path, stamp, Some(len), |swap| {
            swap.aside = disk::link_to_temp(path, folder_of(path)).ok();
            point("swap:looked")?;
            disk::persist_over(incoming, path, || swap.lease = None)
        })?;
        swap.synced()
    }

    /// Removes the file at `path`, if it is still what `stamp` describes. The folder is not yet synced.
    pub(crate) fn take_away(path: &Path, stamp: Stamp) -> Result<Self, SwapError> {
        Self::change(path, stamp, None, |swap| {
            point("swap:looked")?;
            swap.aside = Some(disk::rename_to_temp(path, folder_of(path))?);
            Ok(())
        })
    }

    fn change(
        path: &Path,
        stamp: Stamp,
        new: Option<u64>,
        step: impl FnOnce(&mut Self) -> io::Result<()>,
    ) -> Result<Self, SwapError> {
        let lease = WriteLease::take(path)?;
        if !lease.is_still(&stamp)? {
            return Err(SwapError::Changed);
        }
        let mut swap = Self {
            path: path.to_owned(),
            stamp,
            lease: Some(lease),
            aside: None,
            new,
        };
        step(&mut swap)?;
        let looked = swap.hold_again().and_then(|()| {
            point("swap:renamed")?;
            if swap.is_still()? {
                Ok(())
            } else {
                Err(SwapError::Changed)
            }
        });
        match looked {
            Ok(()) => Ok(swap),
            Err(error) => {
                swap.put_back()?;
                Err(error)
            }
        }
    }

    /// Holds the old file by its second name, if it had to be closed.
    fn hold_again(&mut self) -> Result<(), SwapError> {
        if let (None, Some(aside)) = (&self.lease, &self.aside) {
            self.lease = Some(WriteLease::take(aside)?);
        }
        Ok(())
    }

    fn synced(self) -> Result<Self, SwapError> {
        if let Err(error) = disk::sync_folder(folder_of(&self.path)) {
            self.put_back()?;
            return Err(error.into());
        }
        Ok(self)
    }

    /// Returns the name that was replaced or removed.
    pub(crate) fn path(&self) -> &Path {
        &self.path
    }

    /// Returns whether nobody wrote to the old file, or waits to.
    pub(crate) fn is_still(&self) -> io::Result<bool> {
        match (&self.lease, &self.aside) {
            (Some(lease), _) => lease.is_still(&self.stamp),
            (None, Some(aside)) => Ok(Stamp::of(aside)? == self.stamp),
            (None, None) => Ok(true),
        }
    }

    /// Closes the old file. Nobody can open it any more by its name, and its second name still shows whether it changed.
    fn close(&mut self) {
        if self.aside.is_some() {
            self.lease = None;
        }
    }

    /// Removes the old file's second name. If that fails, the next run removes it.
    pub(crate) fn finish(self) {
        if let Some(aside) = self.aside
            && point("swap:finish").is_ok()
        {
            let _ = aside.close();
        }
    }

    /// Overwrites the old file, unless it has yet another name, and removes its second name.
    pub(crate) fn finish_shredded(mut self) -> io::Result<()> {
        self.lease = None;
        match self.aside.take() {
            Some(aside) => disk::shred(&aside.keep().map_err(|e| e.error)?),
            None => Ok(()),
        }
    }

    /// Puts the old file back, followed by what was appended to the file that replaced it.
    pub(crate) fn put_back(mut self) -> io::Result<()> {
        let Some(aside) = self.aside.take() else {
            // There is no second name: what reached the old file is appended to the new one.
            return match &self.lease {
                Some(lease) => append_rest(lease.file(), self.stamp.len, &self.path),
                None => Ok(()),
            };
        };
        let Some(len) = self.new else {
            disk::persist_new(aside, &self.path)?;
            drop(self.lease);
            return disk::sync_folder(folder_of(&self.path));
        };
        let mut new = File::open(&self.path).ok();
        let mut second_name = None;
        disk::persist_over(aside, &self.path, || {
            second_name = disk::link_to_temp(&self.path, folder_of(&self.path)).ok();
            new = None;
        })?;
        // Whoever waited continues, with the old file.
        drop(self.lease);
        if let Some(name) = &second_name {
            new = File::open(name).ok();
        }
        if let Some(new) = new {
            // Whoever opened the new file has a moment to finish.
            let _lease = WriteLease::of(new.try_clone()?, folder_of(&self.path));
            append_rest(&new, len, &self.path)?;
        }
        disk::sync_folder(folder_of(&self.path))
    }
}

/// The swaps of one operation, of which only some keep their files open.
#[derive(Debug, Default)]
pub(crate) struct Swaps(Vec<Swap>);

impl Swaps {
    /// Adds a swap, and closes an earlier one if too many are open.
    pub(crate) fn push(&mut self, swap: Swap) {
        self.0.push(swap);
        if let Some(earlier) = self.0.len().checked_sub(MOST_OPEN + 1) {
            self.0[earlier].close();
        }
    }

    /// Makes removals durable, one folder at a time.
    pub(crate) fn sync(&self) -> io::Result<()> {
        let mut folders: Vec<&Path> = self.0.iter().map(|s| folder_of(&s.path)).collect();
        folders.sort_unstable();
        folders.dedup();
        folders.into_iter().try_for_each(disk::sync_folder)
    }

    /// Returns the first file that somebody wrote to, or waits to.
    pub(crate) fn disturbed(&self) -> io::Result<Option<&Path>> {
        for swap in &self.0 {
            if !swap.is_still()? {
                return Ok(Some(swap.path()));
            }
        }
        Ok(None)
    }

    /// Lets go of all old files.
    pub(crate) fn finish(self) {
        self.0.into_iter().for_each(Swap::finish);
    }

    /// Puts all old files back, as far as possible. The caller checks what came of it.
    pub(crate) fn put_back(self) {
        for swap in self.0.into_iter().rev() {
            let _ = swap.put_back();
        }
    }
}

/// Appends to the file at `path` what another has after its first `known` bytes.
fn append_rest(mut other: &File, known: u64, path: &Path) -> io::Result<()> {
    if other.metadata()?.len() <= known {
        return Ok(());
    }
    let mut late = Vec::new();
    other.seek(SeekFrom::Start(known))?;
    other.read_to_end(&mut late)?;
    append_lines(path, &late)
}

/// Appends lines to a file, starting on a new line.
fn append_lines(path: &Path, lines: &[u8]) -> io::Result<()> {
    let mut file = File::options().read(true).append(true).open(path)?;
    let mut bytes = Vec::with_capacity(lines.len() + 1);
    if !ends_a_line(&mut file)? {
        bytes.push(b'\n');
    }
    bytes.extend_from_slice(lines);
    point("append")?;
    file.write_all(&bytes)?;
    disk::sync(&file)
}

/// Returns whether a file is empty or ends with a newline.
pub(crate) fn ends_a_line(file: &mut File) -> io::Result<bool> {
    let len = file.metadata()?.len();
    if len == 0 {
        return Ok(true);
    }
    file.seek(SeekFrom::Start(len - 1))?;
    let mut last = [0];
    file.read_exact(&mut last)?;
    Ok(last == *b"\n")
}
