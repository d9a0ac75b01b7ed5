//! A file as lines, and the documents that are derived from it.

use std::io::{self, Write};
use std::ops::Range;
use std::path::Path;
use std::sync::{Arc, OnceLock};

use super::builder::DocumentBuilder;
use super::line::{Line, Place};
use super::line_ix::{LineColumn, LineIx};
use super::line_map::{LineMap, LineSource};
use super::source::Source;
use super::split::{LineChunk, split};
use crate::json::{Edit, Edits, make_edits};

/// A file as lines, or a changed version of one. Any bytes are a document, and a document emits the same bytes again.
///
/// A document that is derived from another shares its bytes; only the differences are held beside them. So the result of a
/// plan can be examined without being written.
#[derive(Debug, Clone)]
pub struct Document {
    pub(super) source: Arc<Source>,
    /// Texts that are not in the source: those that each derivation added.
    pub(super) added: Vec<AddedPart>,
    pub(super) lines: Vec<Line>,
    /// For each line, the line of the file that it came from; `None` while each line is its own origin.
    pub(super) origins: Option<LineColumn<LineIx>>,
}

/// The texts that one derivation added.
#[derive(Debug, Clone)]
pub(super) struct AddedPart {
    /// The number of the first text.
    pub(super) first: usize,
    pub(super) texts: Arc<Vec<AddedText>>,
}

/// The text of a line that is not in the file.
#[derive(Debug)]
pub(super) enum AddedText {
    /// The whole text.
    Whole(Box<[u8]>),
    /// Another line, edited. Thousands of lines differ from theirs only in an id, and most of them are never read, so the
    /// text is put together on demand.
    Edited {
        from: Line,
        /// Sorted, without overlaps.
        edits: Edits,
        text: OnceLock<Box<[u8]>>,
    },
}

/// The origin of a line that the file does not have.
pub(super) const NO_ORIGIN: LineIx = LineIx::MAX;

impl Document {
    /// Reads the file at `path`.
    pub fn open(path: &Path) -> io::Result<Self> {
        Source::open(path).map(Self::new)
    }

    /// Splits bytes into lines.
    pub fn new(source: Source) -> Self {
        let split = |chunk: &mut LineChunk<'_>| while chunk.end_line(None).is_some() {};
        Self::read(source, split, |()| ())
    }

    /// Splits bytes into lines while they are read.
    ///
    /// `read` gets chunks of whole lines, on all cores, and ends one line after the other; `take` gets its results in order.
    pub fn read<T: Send>(
        source: Source,
        read: impl Fn(&mut LineChunk<'_>) -> T + Sync,
        take: impl FnMut(T) + Send,
    ) -> Self {
        let lines = split(source.bytes(), read, take);
        Self {
            source: Arc::new(source),
            added: Vec::new(),
            lines,
            origins: None,
        }
    }

    /// Makes a document of bytes in memory.
    pub fn from_bytes(bytes: impl Into<Vec<u8>>) -> Self {
        Self::new(Source::Owned(bytes.into()))
    }

    /// Starts a document that shares this one's bytes.
    pub fn derived(&self) -> DocumentBuilder<'_> {
        DocumentBuilder::new(self)
    }

    /// Returns the lines in order.
    pub fn lines(&self) -> &[Line] {
        &self.lines
    }

    /// Returns the numbers of the lines in order.
    pub fn numbers(
        &self,
    ) -> impl ExactSizeIterator<Item = LineIx> + DoubleEndedIterator + Clone + use<> {
        LineIx::first(self.lines.len())
    }

    /// Returns the text of line `index`, without its ending.
    ///
    /// The text of an edited line is put together once and kept.
    pub fn text(&self, index: LineIx) -> &[u8] {
        let line = self.lines[index];
        let number = match line.place() {
            Place::File(start) => return self.text_in_file(start, line.len()),
            Place::Added(number) => number,
        };
        match self.added_text(number) {
            AddedText::Whole(text) => text,
            AddedText::Edited { from, edits, text } => text.get_or_init(|| {
                let mut out = Vec::with_capacity(line.len());
                self.put_together(*from, edits, &mut out);
                out.into()
            }),
        }
    }

    /// Returns the text of line `index` for a caller that reads many lines once: an edited line is put together in
    /// `buffer` and not kept.
    pub fn text_in<'a>(&'a self, index: LineIx, buffer: &'a mut Vec<u8>) -> &'a [u8] {
        self.text_of(self.lines[index], buffer)
    }

    fn text_of<'a>(&'a self, line: Line, buffer: &'a mut Vec<u8>) -> &'a [u8] {
        let number = match line.place() {
            Place::File(start) => return self.text_in_file(start, line.len()),
            Place::Added(number) => number,
        };
        match self.added_text(number) {
            AddedText::Whole(text) => text,
            AddedText::Edited { from, edits, text } => match text.get() {
                Some(text) => text,
                None => {
                    buffer.clear();
                    self.put_together(*from, edits, buffer);
                    buffer
                }
            },
        }
    }

    fn put_together(&self, from: Line, edits: &[Edit], out: &mut Vec<u8>) {
        make_edits(self.text_of(from, &mut Vec::new()), edits, out);
    }

    fn added_text(&self, number: usize) -> &AddedText {
        let part = self.added.iter().rfind(|part| part.first <= number);
        let part = part.expect("every added line is in one of the parts");
        &part.texts[number - part.first]
    }

    /// Returns how many texts were added on the way from the file to this document.
    pub(super) fn added_count(&self) -> usize {
        let last = self.added.last();
        last.map_or(0, |part| part.first + part.texts.len())
    }

    fn text_in_file(&self, start: u64, len: usize) -> &[u8] {
        &self.source.bytes()[start as usize..start as usize + len]
    }

    /// Returns the line of the file that line `index` came from.
    pub fn origin(&self, index: LineIx) -> Option<LineIx> {
        match &self.origins {
            None => Some(index),
            Some(origins) => Some(origins[index]).filter(|&origin| origin != NO_ORIGIN),
        }
    }

    /// Whether line `index` is in the file as it stands here.
    pub fn is_original(&self, index: LineIx) -> bool {
        self.lines[index].start_in_file().is_some()
    }

    /// Maps the lines of this document to those of the file, which has `file_lines` lines.
    pub fn map_from_file(&self, file_lines: usize) -> LineMap {
        let mut map = LineMap::with_old_lines(file_lines);
        for index in self.numbers() {
            map.push(match self.origin(index) {
                None => LineSource::Inserted,
                Some(line) if self.is_original(index) => LineSource::Kept(line),
                Some(line) => LineSource::Edited(line),
            });
        }
        map
    }

    /// Returns the edits by which line `index` was made from another, sorted; `None` if it was not made by edits.
    pub fn edits(&self, index: LineIx) -> Option<&[Edit]> {
        match self.lines[index].place() {
            Place::File(_) => None,
            Place::Added(number) => match self.added_text(number) {
                AddedText::Whole(_) => None,
                AddedText::Edited { edits, .. } => Some(edits),
            },
        }
    }

    /// Returns the bytes of the file that this document, or the first one it was derived from, was read from.
    pub fn source(&self) -> &[u8] {
        self.source.bytes()
    }

    /// Returns how many bytes it emits.
    pub fn len(&self) -> u64 {
        self.lines.iter().map(|l| l.raw_len()).sum()
    }

    /// Whether it has no lines.
    pub fn is_empty(&self) -> bool {
        self.lines.is_empty()
    }

    /// Divides the lines into ranges of about `size` bytes, to be worked on in parallel.
    pub fn pieces(&self, size: usize) -> Vec<Range<LineIx>> {
        let mut out = Vec::new();
        let (mut from, mut held) = (LineIx::default(), 0);
        for (i, line) in self.numbers().zip(&self.lines) {
            held += line.len();
            if held >= size {
                out.push(from..i.plus(1));
                (from, held) = (i.plus(1), 0);
            }
        }
        let end = LineIx::new(self.lines.len());
        if from < end {
            out.push(from..end);
        }
        out
    }

    /// Writes all lines with their endings; neighbours in the file are written at once.
    pub fn write(&self, out: &mut impl Write) -> io::Result<()> {
        let mut buffer = Vec::new();
        let mut lines = self.lines.iter().peekable();
        while let Some(first) = lines.next() {
            let Some(start) = first.start_in_file() else {
                out.write_all(self.text_of(*first, &mut buffer))?;
                out.write_all(first.ending().bytes())?;
                continue;
            };
            let mut end = start + first.raw_len();
            while let Some(next) = lines.next_if(|next| next.start_in_file() == Some(end)) {
                end += next.raw_len();
            }
            out.write_all(&self.source.bytes()[start as usize..end as usize])?;
        }
        Ok(())
    }

    /// Returns all bytes; for tests and small documents.
    pub fn to_vec(&self) -> Vec<u8> {
        let mut out = Vec::with_capacity(self.len() as usize);
        self.write(&mut out).expect("writing to memory cannot fail");
        out
    }
}

#[cfg(test)]
mod tests {
    use super::super::line::Ending;
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn document_tells_line_endings_apart() {
        let document = Document::from_bytes(*b"a\r\n\r\n\nb");
        let lines = document.numbers();
        let seen: Vec<_> = lines
            .map(|i| (document.text(i), document.lines()[i].ending()))
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
    fn empty_document_has_no_lines() {
        assert!(Document::from_bytes(*b"").lines().is_empty());
    }

    #[test]
    fn document_maps_its_lines_to_the_file() {
        let file = Document::from_bytes(*b"a\nb\nc\n");
        let mut next = file.derived();
        next.replace(LineIx::new(0), b"A");
        next.keep(LineIx::new(2));
        let (next, first) = next.finish();
        let mut last = next.derived();
        last.insert(b"new");
        last.keep(LineIx::new(0));
        last.keep(LineIx::new(1));
        let (last, second) = last.finish();
        assert_eq!(last.map_from_file(3), first.then(&second));
    }

    proptest! {
        #[test]
        fn document_emits_the_bytes_it_read(bytes in proptest::collection::vec(prop_oneof![Just(b'\n'), Just(b'\r'), Just(0u8), any::<u8>()], 0..200)) {
            let document = Document::from_bytes(bytes.clone());
            prop_assert_eq!(document.to_vec(), bytes.clone());
            prop_assert_eq!(document.len(), bytes.len() as u64);
        }
    }
}
