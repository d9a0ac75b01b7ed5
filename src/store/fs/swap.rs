//! Takes a file's place, or takes it away, so that nothing that is appended in that moment is lost.
//!
//! The file is held (see `lease`) from the last look at it until all is done, and keeps a name
//! beside its own, so that it can be put back: whoever waited to append then appends to it as if
//! nothing had happened. What reached the other file meanwhile is appended, too.

use std::fs::File;
use std::io::{self, Read as _, Seek as _, SeekFrom, Write as _};
use std::path::{Path, PathBuf};

use tempfile::TempPath;

use super::disk::{self, folder_of};
use super::fault::point;
use super::lease::{NotHeld, WriteLease};
use super::stamp::Stamp;

/// Why a file was left as it is.
#[derive(Debug, thiserror::Error)]
pub(crate) enum SwapError {
    #[error("somebody has it open for writing")]
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

/// A file whose name was given to another, or taken away.
#[derive(Debug)]
pub(crate) struct Swap {
    path: PathBuf,
    /// What the file was.
    stamp: Stamp,
    hold: WriteLease,
    /// The file's other name, where it could be given one.
    aside: Option<TempPath>,
    /// What has its name now, and how long that was.
    new: Option<(File, u64)>,
}

impl Swap {
    /// Puts a temp file of the same folder in the place of `path`, provided that `path` is what it was.
    pub(crate) fn put(path: &Path, stamp: Stamp, incoming: TempPath) -> Result<Self, SwapError> {
        let new = File::open(&incoming)?;
        let len = new.metadata()?.len();
        Self::change(path, stamp, Some((new, len)), |swap| {
            let name = disk::temp_name(folder_of(path));
            if disk::link(path, &name).is_ok() {
                swap.aside = Some(TempPath::try_from_path(name)?);
            }
            point("swap:looked")?;
            disk::persist(incoming, path)
        })
    }

    /// Takes the file at `path` away, provided that it is what it was.
    pub(crate) fn take_away(path: &Path, stamp: Stamp) -> Result<Self, SwapError> {
        Self::change(path, stamp, None, |swap| {
            let name = disk::temp_name(folder_of(path));
            point("swap:looked")?;
            disk::rename(path, &name)?;
            swap.aside = Some(TempPath::try_from_path(name)?);
            Ok(())
        })
    }

    fn change(
        path: &Path,
        stamp: Stamp,
        new: Option<(File, u64)>,
        step: impl FnOnce(&mut Self) -> io::Result<()>,
    ) -> Result<Self, SwapError> {
        let mut swap = Self {
            path: path.to_owned(),
            stamp,
            hold: WriteLease::take(path)?,
            aside: None,
            new,
        };
        if !swap.hold.is_still(&stamp)? {
            return Err(SwapError::Changed);
        }
        step(&mut swap)?;
        match point("swap:renamed").and_then(|()| swap.is_still()) {
            Ok(true) => {}
            Ok(false) => {
                swap.put_back()?;
                return Err(SwapError::Changed);
            }
            Err(error) => {
                swap.put_back()?;
                return Err(error.into());
            }
        }
        if let Err(error) = disk::sync_folder(folder_of(path)) {
            swap.put_back()?;
            return Err(error.into());
        }
        Ok(swap)
    }

    /// The name that it is about.
    pub(crate) fn path(&self) -> &Path {
        &self.path
    }

    /// Whether nobody wrote to the old file, or waits to.
    pub(crate) fn is_still(&self) -> io::Result<bool> {
        self.hold.is_still(&self.stamp)
    }

    /// Lets go of the old file. Should its other name stay, the next run removes it.
    pub(crate) fn finish(self) {
        if let Some(aside) = self.aside
            && point("swap:finish").is_ok()
        {
            let _ = aside.close();
        }
    }

    /// Puts the old file back in its place, with what was appended to the one that had it.
    pub(crate) fn put_back(mut self) -> io::Result<()> {
        let Some(aside) = self.aside.take() else {
            // No second name was to be had: what reached the old file is appended to the new one.
            return append_rest(self.hold.file(), self.stamp.len, &self.path);
        };
        match &self.new {
            Some(_) => disk::persist(aside, &self.path)?,
            None => disk::persist_new(aside, &self.path)?,
        }
        // Whoever waited goes on, with the old file.
        drop(self.hold);
        if let Some((new, len)) = self.new {
            // Whoever opened the new one has a moment to finish.
            let _hold = WriteLease::of(new.try_clone()?, folder_of(&self.path));
            append_rest(&new, len, &self.path)?;
        }
        disk::sync_folder(folder_of(&self.path))
    }
}

/// Appends to the file at `path` what another has behind its first `known` bytes.
fn append_rest(mut other: &File, known: u64, path: &Path) -> io::Result<()> {
    if other.metadata()?.len() <= known {
        return Ok(());
    }
    let mut late = Vec::new();
    other.seek(SeekFrom::Start(known))?;
    other.read_to_end(&mut late)?;
    append_lines(path, &late)
}

/// Appends lines to a file, on lines of their own.
pub(crate) fn append_lines(path: &Path, lines: &[u8]) -> io::Result<()> {
    let mut file = std::fs::OpenOptions::new()
        .read(true)
        .append(true)
        .open(path)?;
    let mut bytes = Vec::with_capacity(lines.len() + 1);
    if !ends_a_line(&mut file)? {
        bytes.push(b'\n');
    }
    bytes.extend_from_slice(lines);
    point("append")?;
    file.write_all(&bytes)?;
    disk::sync(&file)
}

/// Whether a file is empty or ends with a newline.
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
