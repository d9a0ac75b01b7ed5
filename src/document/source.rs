//! Where the bytes of a document come from.

use std::io;
use std::path::Path;

use memmap2::Mmap;
#[cfg(unix)]
use memmap2::UncheckedAdvice;
#[cfg(unix)]
use rayon::prelude::*;

/// Files from this size on are mapped rather than read, so that memory does not grow with them.
const MAP_FROM: u64 = 1 << 20;

/// How many bytes of a mapping one core gives back at a time.
#[cfg(unix)]
const GIVEN_BACK: usize = 1 << 25;

/// Where a document's bytes are held.
#[derive(Debug)]
pub enum Source {
    /// On the heap.
    Owned(Vec<u8>),
    /// A mapping of the file.
    Mapped(Mmap),
}

impl Source {
    /// Reads a file, by mapping where it is large.
    pub fn open(path: &Path) -> io::Result<Self> {
        let file = fs_err::File::open(path)?;
        let metadata = file.metadata()?;
        if metadata.is_dir() {
            return Err(io::Error::new(
                io::ErrorKind::IsADirectory,
                format!("`{}` is a directory", path.display()),
            ));
        }
        if metadata.len() < MAP_FROM {
            return fs_err::read(path).map(Self::Owned);
        }
        // SAFETY: the mapping is read-only and private. The client only ever appends, and we
        // replace files by renaming, never by truncating; should another program truncate the file
        // while it is mapped, this process ends with SIGBUS, before anything was published.
        #[allow(unsafe_code)]
        let map = unsafe { Mmap::map(file.file()) }?;
        Ok(Self::Mapped(map))
    }

    /// The bytes.
    pub fn bytes(&self) -> &[u8] {
        match self {
            Source::Owned(bytes) => bytes,
            Source::Mapped(map) => map,
        }
    }
}

impl Source {
    /// Gives the pages of a mapping back to the system on all cores. Who ends the mapping, or the program, does so too, but on
    /// one core alone: at 1 GiB that is a twentieth of what looking through it takes. Should its bytes be asked for again,
    /// they are read from the file again.
    pub(super) fn give_back(&self) {
        #[cfg(unix)]
        if let Source::Mapped(map) = self
            && map.len() > GIVEN_BACK
        {
            let parts = (0..map.len()).into_par_iter().step_by(GIVEN_BACK);
            parts.for_each(|at| {
                let len = GIVEN_BACK.min(map.len() - at);
                // SAFETY: the mapping is read-only, so there is nothing in its pages that is not in the file.
                #[allow(unsafe_code)]
                let _ = unsafe { map.unchecked_advise_range(UncheckedAdvice::DontNeed, at, len) };
            });
        }
    }
}

impl Drop for Source {
    // On a worker of the pool, other work may be done meanwhile: nobody should hold a lock while a document goes.
    fn drop(&mut self) {
        self.give_back();
    }
}
