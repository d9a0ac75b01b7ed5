//! Which line of a new document came from which line of the old one.

use super::line_ix::{LineColumn, LineIx};

/// Where a line of a new document came from.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum LineSource {
    /// This line of the old document, unchanged.
    Kept(LineIx),
    /// This line of the old document, with another text or another ending.
    Edited(LineIx),
    /// Nowhere: the line is new.
    Inserted,
}

impl LineSource {
    /// Returns the line of the old document, unless the line is new.
    pub fn old_line(self) -> Option<LineIx> {
        match self {
            LineSource::Kept(line) | LineSource::Edited(line) => Some(line),
            LineSource::Inserted => None,
        }
    }
}

/// Marks an old line that the new document does not have.
const REMOVED: LineIx = LineIx::MAX;

/// Maps the lines of a new document to those of the document it was built from, and back.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct LineMap {
    /// For each new line, where it came from.
    sources: Vec<LineSource>,
    /// For each old line, the new line it became, or [`REMOVED`].
    new_lines: LineColumn<LineIx>,
    /// One past the last old line that was used.
    next_old: LineIx,
    in_order: bool,
}

impl LineMap {
    /// Starts a map for a document that is built from one with `old` lines.
    pub(super) fn with_old_lines(old: usize) -> Self {
        Self {
            sources: Vec::with_capacity(old),
            new_lines: LineColumn::filled(REMOVED, old),
            next_old: LineIx::default(),
            in_order: true,
        }
    }

    /// Adds the next line of the new document.
    pub(super) fn push(&mut self, source: LineSource) {
        if let Some(old) = source.old_line() {
            self.in_order &= self.next_old <= old;
            self.next_old = old.plus(1);
            self.new_lines[old] = LineIx::new(self.sources.len());
        }
        self.sources.push(source);
    }

    /// Records that a line which was kept has another ending now.
    pub(super) fn set_edited(&mut self, line: LineIx) {
        if let LineSource::Kept(old) = self.sources[line] {
            self.sources[line.index()] = LineSource::Edited(old);
        }
    }

    /// Returns where each line of the new document came from.
    pub fn sources(&self) -> &[LineSource] {
        &self.sources
    }

    /// Returns the line that line `old` of the old document became, unless it was removed.
    pub fn new_line(&self, old: LineIx) -> Option<LineIx> {
        Some(self.new_lines[old]).filter(|&line| line != REMOVED)
    }

    /// Returns how many lines the old document had.
    pub fn old_len(&self) -> usize {
        self.new_lines.values().len()
    }

    /// Whether every line of the old document occurs at most once, and in the same order.
    pub fn is_in_order(&self) -> bool {
        self.in_order
    }

    /// Combines two steps: `self` led to the document that `next` started from.
    #[must_use]
    pub fn then(&self, next: &Self) -> Self {
        let mut out = Self::with_old_lines(self.old_len());
        for &source in &next.sources {
            let before = source.old_line().map(|line| self.sources[line]);
            out.push(match (source, before) {
                (LineSource::Kept(_), Some(before)) => before,
                (_, Some(LineSource::Kept(old) | LineSource::Edited(old))) => {
                    LineSource::Edited(old)
                }
                _ => LineSource::Inserted,
            });
        }
        out
    }
}

#[cfg(test)]
mod tests {
    use super::super::{Document, LineIx};
    use super::LineSource::{Edited, Inserted, Kept};

    fn line(number: usize) -> LineIx {
        LineIx::new(number)
    }

    #[test]
    fn line_map_leads_both_ways() {
        let document = Document::from_bytes(*b"a\nb\nc\nd");
        let mut next = document.derived();
        next.keep(line(0));
        next.insert(b"new");
        next.replace(line(2), b"C");
        next.keep(line(3));
        let (_, map) = next.finish();
        // The last line had no ending and got one.
        assert_eq!(
            map.sources(),
            [Kept(line(0)), Inserted, Edited(line(2)), Edited(line(3))]
        );
        let back: Vec<_> = document.numbers().map(|old| map.new_line(old)).collect();
        assert_eq!(back, [Some(line(0)), None, Some(line(2)), Some(line(3))]);
        assert!(map.is_in_order());
    }

    #[test]
    fn line_map_of_two_steps_is_one_map() {
        let document = Document::from_bytes(*b"a\nb\nc\n");
        let mut first = document.derived();
        first.insert(b"new");
        first.replace(line(0), b"A");
        first.keep(line(1));
        first.keep(line(2));
        let (middle, first) = first.finish();
        let mut second = middle.derived();
        second.keep(line(0));
        second.keep(line(1));
        second.replace(line(3), b"C");
        let (_, second) = second.finish();
        let both = first.then(&second);
        assert_eq!(both.sources(), [Inserted, Edited(line(0)), Edited(line(2))]);
        assert_eq!(
            (both.new_line(line(0)), both.new_line(line(1))),
            (Some(line(1)), None)
        );
    }

    #[test]
    fn line_map_notices_lines_out_of_order() {
        let document = Document::from_bytes(*b"a\nb\n");
        for order in [[0, 0], [1, 0]] {
            let mut next = document.derived();
            for number in order {
                next.keep(line(number));
            }
            assert!(!next.finish().1.is_in_order(), "{order:?}");
        }
    }
}
