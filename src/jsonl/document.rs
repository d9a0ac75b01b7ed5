//! Bytes to lines and back.

use std::io::{self, Write};
use std::ops::Range;
use std::path::Path;
use std::sync::Arc;

use memchr::memchr_iter;
use memmap2::Mmap;
use rayon::prelude::*;

use super::line::{Ending, Line};

/// Files from this size on are mapped rather than read, so that memory does not grow with them.
const MAP_FROM: u64 = 1 << 20;

/// How many bytes are searched for newlines at a time.
const SPLIT: usize = 1 << 20;

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

/// A file as lines, or what becomes of one: any bytes are a document, and emit the same bytes again.
///
/// A document that was made from another shares its bytes; only the lines that differ are held
/// beside them. So a plan's result can be looked at before, and without, being written.
#[derive(Debug, Clone)]
pub struct Document {
    source: Arc<Source>,
    /// Lines that are not in the source, addressed behind its end.
    added: Vec<u8>,
    lines: Vec<Line>,
    /// For each line, the line of the file that it came from; `None` while that is itself.
    origins: Option<Vec<u32>>,
}

/// The origin of a line that no file had.
const NOWHERE: u32 = u32::MAX;

impl Document {
    /// Reads the file at `path`.
    pub fn open(path: &Path) -> io::Result<Self> {
        Source::open(path).map(Self::new)
    }

    /// Splits bytes into lines.
    pub fn new(source: Source) -> Self {
        let bytes = source.bytes();
        // Reading a mapping for the first time takes longer than looking for newlines in it; all cores help.
        let newlines: Vec<Vec<usize>> = bytes
            .par_chunks(SPLIT)
            .enumerate()
            .map(|(n, chunk)| memchr_iter(b'\n', chunk).map(|i| n * SPLIT + i).collect())
            .collect();
        let mut lines = Vec::with_capacity(newlines.iter().map(Vec::len).sum::<usize>() + 1);
        let mut start = 0;
        for newline in newlines.into_iter().flatten() {
            let crlf = newline > start && bytes[newline - 1] == b'\r';
            let (end, ending) = if crlf {
                (newline - 1, Ending::CrLf)
            } else {
                (newline, Ending::Lf)
            };
            lines.push(Line {
                start: start as u64,
                end: end as u64,
                ending,
            });
            start = newline + 1;
        }
        if start < bytes.len() {
            lines.push(Line {
                start: start as u64,
                end: bytes.len() as u64,
                ending: Ending::None,
            });
        }
        Self {
            source: Arc::new(source),
            added: Vec::new(),
            lines,
            origins: None,
        }
    }

    /// A document of bytes on the heap.
    pub fn from_bytes(bytes: impl Into<Vec<u8>>) -> Self {
        Self::new(Source::Owned(bytes.into()))
    }

    /// Starts a document that shares this one's bytes.
    pub fn successor(&self) -> Successor<'_> {
        Successor {
            from: self,
            made: Self {
                source: Arc::clone(&self.source),
                added: self.added.clone(),
                lines: Vec::with_capacity(self.lines.len()),
                origins: Some(Vec::with_capacity(self.lines.len())),
            },
        }
    }

    /// The lines in order.
    pub fn lines(&self) -> &[Line] {
        &self.lines
    }

    /// The text of line `index`, without its ending.
    pub fn text(&self, index: usize) -> &[u8] {
        let line = self.lines[index];
        self.slice(line.start, line.end)
    }

    /// The line of the file that line `index` came from.
    pub fn origin(&self, index: usize) -> Option<usize> {
        match &self.origins {
            None => Some(index),
            Some(origins) => (origins[index] != NOWHERE).then_some(origins[index] as usize),
        }
    }

    /// Whether line `index` is in the file as it stands here.
    pub fn is_original(&self, index: usize) -> bool {
        self.lines[index].start < self.source.bytes().len() as u64
    }

    /// Whether line `index` was added when this document was made from `before`.
    pub fn is_added_since(&self, index: usize, before: &Document) -> bool {
        self.lines[index].start >= (before.source.bytes().len() + before.added.len()) as u64
    }

    /// The bytes of the file that this document was read from, or that its ancestor was.
    pub fn source(&self) -> &[u8] {
        self.source.bytes()
    }

    /// How many bytes it emits.
    pub fn len(&self) -> u64 {
        self.lines.iter().map(|l| l.raw_end() - l.start).sum()
    }

    /// Whether it has no lines.
    pub fn is_empty(&self) -> bool {
        self.lines.is_empty()
    }

    /// Cuts the lines into stretches of about `size` bytes, to be worked on side by side.
    pub fn pieces(&self, size: usize) -> Vec<Range<usize>> {
        let mut out = Vec::new();
        let (mut from, mut held) = (0, 0);
        for (i, line) in self.lines.iter().enumerate() {
            held += line.len();
            if held >= size {
                out.push(from..i + 1);
                (from, held) = (i + 1, 0);
            }
        }
        if from < self.lines.len() {
            out.push(from..self.lines.len());
        }
        out
    }

    /// Writes lines `from..to` with their endings, contiguous stretches at once.
    pub fn write(&self, from: usize, to: usize, out: &mut impl Write) -> io::Result<()> {
        let end_of_source = self.source.bytes().len() as u64;
        let mut at = from;
        while at < to {
            let first = self.lines[at];
            let mut end = first.raw_end();
            at += 1;
            // An ending that was put in is not in the source: such a line is added, ending and all.
            while at < to
                && self.lines[at].start == end
                && (first.start < end_of_source) == (self.lines[at].start < end_of_source)
            {
                end = self.lines[at].raw_end();
                at += 1;
            }
            out.write_all(self.slice(first.start, end))?;
        }
        Ok(())
    }

    /// All bytes on the heap; for tests and small things.
    pub fn to_vec(&self) -> Vec<u8> {
        let mut out = Vec::with_capacity(self.len() as usize);
        self.write(0, self.lines.len(), &mut out)
            .expect("writing to memory cannot fail");
        out
    }

    fn slice(&self, start: u64, end: u64) -> &[u8] {
        let source = self.source.bytes();
        if start >= source.len() as u64 && end > start {
            let base = source.len() as u64;
            &self.added[(start - base) as usize..(end - base) as usize]
        } else {
            &source[start.min(source.len() as u64) as usize..end.min(source.len() as u64) as usize]
        }
    }
}

/// Builds a document from another, line by line.
#[derive(Debug)]
pub struct Successor<'a> {
    from: &'a Document,
    made: Document,
}

impl Successor<'_> {
    /// Takes a line over as it is.
    pub fn keep(&mut self, index: usize) {
        self.made.lines.push(self.from.lines[index]);
        self.origin(self.from.origin(index));
    }

    /// Takes a line over with another text.
    pub fn replace(&mut self, index: usize, text: &[u8]) {
        self.add(text, self.from.lines[index].ending);
        self.origin(self.from.origin(index));
    }

    /// Puts in a line of its own.
    pub fn insert(&mut self, text: &[u8]) {
        self.add(text, Ending::Lf);
        self.origin(None);
    }

    /// The document. Every line of it ends, so that what is appended later stays on its own.
    pub fn finish(mut self) -> Document {
        for i in 0..self.made.lines.len() {
            if self.made.lines[i].ending == Ending::None {
                let text = self.made.text(i).to_vec();
                self.add(&text, Ending::Lf);
                if let Some(line) = self.made.lines.pop() {
                    self.made.lines[i] = line;
                }
            }
        }
        self.made
    }

    fn add(&mut self, text: &[u8], ending: Ending) {
        let start = (self.made.source.bytes().len() + self.made.added.len()) as u64;
        self.made.added.extend_from_slice(text);
        self.made.added.extend_from_slice(ending.bytes());
        self.made.lines.push(Line {
            start,
            end: start + text.len() as u64,
            ending,
        });
    }

    fn origin(&mut self, line: Option<usize>) {
        if let Some(origins) = &mut self.made.origins {
            origins.push(line.map_or(NOWHERE, |l| l as u32));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn endings_are_told_apart() {
        let document = Document::from_bytes(*b"a\r\n\r\n\nb");
        let seen: Vec<_> = (0..4)
            .map(|i| (document.text(i), document.lines()[i].ending))
            .collect();
        assert_eq!(
            seen,
            [
                (&b"a"[..], Ending::CrLf),
                (b"", Ending::CrLf),
                (b"", Ending::Lf),
                (b"b", Ending::None)
            ]
        );
    }

    #[test]
    fn nothing_is_no_lines() {
        assert!(Document::from_bytes(*b"").lines().is_empty());
    }

    #[test]
    fn a_successor_shares_what_it_keeps() {
        let document = Document::from_bytes(*b"a\r\nb\n\nc");
        let mut next = document.successor();
        next.keep(0);
        next.insert(b"new");
        next.replace(1, b"B");
        next.keep(2);
        next.keep(3);
        let next = next.finish();
        assert_eq!(next.to_vec(), b"a\r\nnew\nB\n\nc\n");
        assert_eq!(
            (0..5).map(|i| next.origin(i)).collect::<Vec<_>>(),
            [Some(0), None, Some(1), Some(2), Some(3)]
        );
        let mut again = next.successor();
        (1..5).for_each(|i| again.keep(i));
        let again = again.finish();
        assert_eq!(again.to_vec(), b"new\nB\n\nc\n");
        assert_eq!(again.origin(1), Some(1));
        assert_eq!(again.len(), 9);
    }

    proptest! {
        #[test]
        fn emits_what_it_read(bytes in proptest::collection::vec(prop_oneof![Just(b'\n'), Just(b'\r'), Just(0u8), any::<u8>()], 0..200)) {
            let document = Document::from_bytes(bytes.clone());
            prop_assert_eq!(document.to_vec(), bytes.clone());
            prop_assert_eq!(document.len(), bytes.len() as u64);
        }

        #[test]
        fn keeping_every_line_only_ends_the_last(bytes in proptest::collection::vec(prop_oneof![Just(b'\n'), Just(b'\r'), any::<u8>()], 1..200)) {
            let document = Document::from_bytes(bytes.clone());
            let mut next = document.successor();
            (0..document.lines().len()).for_each(|i| next.keep(i));
            let mut expected = bytes;
            if !expected.ends_with(b"\n") {
                expected.push(b'\n');
            }
            prop_assert_eq!(next.finish().to_vec(), expected);
        }
    }
}
