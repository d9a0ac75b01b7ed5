//! Bytes to lines and back.

use std::io;
use std::path::Path;

use memchr::memchr_iter;
use memmap2::Mmap;

use super::line::{Ending, Line};

/// Files from this size on are mapped rather than read, so that memory does not grow with them.
const MAP_FROM: u64 = 1 << 20;

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
        if file.metadata()?.is_dir() {
            return Err(io::Error::new(io::ErrorKind::IsADirectory, format!("`{}` is a directory", path.display())));
        }
        if file.metadata()?.len() < MAP_FROM {
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

/// A file as lines. Any bytes are a document, and [`Document::bytes`] are the same bytes again.
#[derive(Debug)]
pub struct Document {
    source: Source,
    lines: Vec<Line>,
}

impl Document {
    /// Reads the file at `path`.
    pub fn open(path: &Path) -> io::Result<Self> {
        Source::open(path).map(Self::new)
    }

    /// Splits bytes into lines.
    pub fn new(source: Source) -> Self {
        let bytes = source.bytes();
        let mut lines = Vec::with_capacity(bytes.len() / 1024 + 1);
        let mut start = 0;
        for newline in memchr_iter(b'\n', bytes) {
            let end = if newline > start && bytes[newline - 1] == b'\r' { newline - 1 } else { newline };
            lines.push(Line { start: start as u64, end: end as u64 });
            start = newline + 1;
        }
        if start < bytes.len() {
            lines.push(Line { start: start as u64, end: bytes.len() as u64 });
        }
        lines.shrink_to_fit();
        Self { source, lines }
    }

    /// A document of bytes on the heap.
    pub fn from_bytes(bytes: impl Into<Vec<u8>>) -> Self {
        Self::new(Source::Owned(bytes.into()))
    }

    /// All bytes, as they came.
    pub fn bytes(&self) -> &[u8] {
        self.source.bytes()
    }

    /// The lines in order.
    pub fn lines(&self) -> &[Line] {
        &self.lines
    }

    /// The text of line `index`, without its ending.
    pub fn text(&self, index: usize) -> &[u8] {
        &self.bytes()[self.lines[index].range()]
    }

    /// How line `index` ends.
    pub fn ending(&self, index: usize) -> Ending {
        match &self.bytes()[self.lines[index].end as usize..self.raw_end(index)] {
            b"" => Ending::None,
            b"\n" => Ending::Lf,
            _ => Ending::CrLf,
        }
    }

    /// The bytes of lines `from..to` with their endings: one slice, so that long untouched stretches
    /// can be written at once.
    pub fn stretch(&self, from: usize, to: usize) -> &[u8] {
        if from >= to {
            return b"";
        }
        &self.bytes()[self.lines[from].start as usize..self.raw_end(to - 1)]
    }

    fn raw_end(&self, index: usize) -> usize {
        self.lines.get(index + 1).map_or(self.bytes().len(), |next| next.start as usize)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn emit(document: &Document) -> Vec<u8> {
        (0..document.lines().len()).flat_map(|i| [document.text(i), document.ending(i).bytes()].concat()).collect()
    }

    #[test]
    fn endings_are_told_apart() {
        let document = Document::from_bytes(*b"a\r\n\r\n\nb");
        let seen: Vec<_> = (0..4).map(|i| (document.text(i), document.ending(i))).collect();
        assert_eq!(seen, [(&b"a"[..], Ending::CrLf), (b"", Ending::CrLf), (b"", Ending::Lf), (b"b", Ending::None)]);
    }

    #[test]
    fn nothing_is_no_lines() {
        assert!(Document::from_bytes(*b"").lines().is_empty());
    }

    proptest! {
        #[test]
        fn emits_what_it_read(bytes in proptest::collection::vec(prop_oneof![Just(b'\n'), Just(b'\r'), Just(0u8), any::<u8>()], 0..200)) {
            let document = Document::from_bytes(bytes.clone());
            prop_assert_eq!(emit(&document), bytes.clone());
            prop_assert_eq!(document.stretch(0, document.lines().len()), &bytes[..]);
        }
    }
}
