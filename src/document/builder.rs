//! Building a document from another one, line by line.

use std::sync::{Arc, OnceLock};

use super::document::{AddedPart, AddedText, Document, NO_ORIGIN};
use super::line::{Ending, Line};
use super::line_ix::{LineColumn, LineIx};
use super::line_map::{LineMap, LineSource};
use crate::json::{Edits, OverlapError, put_in_order};

/// Builds a document from another, line by line.
///
/// Lines of the old document are meant to be used at most once and in order. Any other order works, but a session cannot
/// be derived incrementally then.
#[derive(Debug)]
pub struct DocumentBuilder<'a> {
    old: &'a Document,
    new: Document,
    origins: Vec<LineIx>,
    map: LineMap,
    /// The texts added so far, and the number of the first of them.
    added: Vec<AddedText>,
    first_added: usize,
}

impl<'a> DocumentBuilder<'a> {
    pub(super) fn new(old: &'a Document) -> Self {
        let count = old.lines.len();
        Self {
            old,
            new: Document {
                source: Arc::clone(&old.source),
                added: old.added.clone(),
                lines: Vec::with_capacity(count),
                origins: None,
            },
            origins: Vec::with_capacity(count),
            map: LineMap::with_old_lines(count),
            added: Vec::new(),
            first_added: old.added_count(),
        }
    }

    /// Reserves room for `lines` lines that are edited or inserted.
    pub fn reserve(&mut self, lines: usize) {
        self.added.reserve_exact(lines);
    }

    /// Takes over line `index` as it is.
    pub fn keep(&mut self, index: LineIx) {
        let line = self.old.lines[index];
        self.push(line, LineSource::Kept(index));
    }

    /// Takes over line `index` with edits.
    pub fn edit(&mut self, index: LineIx, mut edits: Edits) -> Result<(), OverlapError> {
        let from = self.old.lines[index];
        let growth = put_in_order(&mut edits)?;
        let len = (from.len() as i64 + growth) as usize;
        let line = self.add(AddedText::edited(from, edits), len, from.ending());
        self.push(line, LineSource::Edited(index));
        Ok(())
    }

    /// Takes over line `index` with another text.
    pub fn replace(&mut self, index: LineIx, text: &[u8]) {
        let ending = self.old.lines[index].ending();
        let line = self.add(AddedText::Whole(text.into()), text.len(), ending);
        self.push(line, LineSource::Edited(index));
    }

    /// Inserts a new line.
    pub fn insert(&mut self, text: &[u8]) {
        let line = self.add(AddedText::Whole(text.into()), text.len(), Ending::Lf);
        self.push(line, LineSource::Inserted);
    }

    /// Returns the document, and where each of its lines came from.
    ///
    /// Every line ends with a newline, so that whatever is appended to the file later starts a line of its own.
    pub fn finish(mut self) -> (Document, LineMap) {
        for i in 0..self.new.lines.len() {
            let from = self.new.lines[i];
            if from.ending() == Ending::None {
                let text = AddedText::edited(from, Edits::new());
                self.new.lines[i] = self.add(text, from.len(), Ending::Lf);
                self.map.set_edited(LineIx::new(i));
            }
        }
        if !self.added.is_empty() {
            self.added.shrink_to_fit();
            self.new.added.push(AddedPart {
                first: self.first_added,
                texts: Arc::new(self.added),
            });
        }
        self.new.origins = Some(LineColumn::new(self.origins));
        (self.new, self.map)
    }

    fn push(&mut self, line: Line, source: LineSource) {
        self.new.lines.push(line);
        let origin = source.old_line().and_then(|old| self.old.origin(old));
        self.origins.push(origin.unwrap_or(NO_ORIGIN));
        self.map.push(source);
    }

    fn add(&mut self, text: AddedText, len: usize, ending: Ending) -> Line {
        let number = self.first_added + self.added.len();
        self.added.push(text);
        let ending = match ending {
            Ending::None => Ending::Lf,
            ending => ending,
        };
        Line::added(number, len, ending)
    }
}

impl AddedText {
    fn edited(from: Line, edits: Edits) -> Self {
        AddedText::Edited {
            from,
            edits,
            text: OnceLock::new(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn builder_shares_the_lines_that_it_keeps() {
        let document = Document::from_bytes(*b"a\r\nb\n\nc");
        let mut next = document.derived();
        next.keep(LineIx::new(0));
        next.insert(b"new");
        next.replace(LineIx::new(1), b"B");
        next.keep(LineIx::new(2));
        next.keep(LineIx::new(3));
        let (next, _) = next.finish();
        assert_eq!(next.to_vec(), b"a\r\nnew\nB\n\nc\n");
        assert_eq!(
            next.numbers().map(|i| next.origin(i)).collect::<Vec<_>>(),
            [Some(0), None, Some(1), Some(2), Some(3)].map(|line| line.map(LineIx::new))
        );
        let mut again = next.derived();
        next.numbers().skip(1).for_each(|i| again.keep(i));
        let (again, _) = again.finish();
        assert_eq!(again.to_vec(), b"new\nB\n\nc\n");
        let mut changed = document.derived();
        LineIx::first(3).for_each(|i| changed.keep(i));
        changed.replace(LineIx::new(3), b"C");
        assert_eq!(changed.finish().0.to_vec(), b"a\r\nb\n\nC\n");
        assert_eq!(again.origin(LineIx::new(1)), Some(LineIx::new(1)));
        assert_eq!(again.len(), 9);
    }

    proptest! {
        #[test]
        fn builder_that_keeps_every_line_only_ends_the_last(bytes in proptest::collection::vec(prop_oneof![Just(b'\n'), Just(b'\r'), any::<u8>()], 1..200)) {
            let document = Document::from_bytes(bytes.clone());
            let mut next = document.derived();
            document.numbers().for_each(|i| next.keep(i));
            let mut expected = bytes;
            if !expected.ends_with(b"\n") {
                expected.push(b'\n');
            }
            prop_assert_eq!(next.finish().0.to_vec(), expected);
        }
    }
}
