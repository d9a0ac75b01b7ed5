//! Ranges of bytes, and the error of texts that are not JSON.

/// A range of bytes within a text.
///
/// Four bytes each suffice: longer texts are not read.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, PartialOrd, Ord)]
pub struct Span {
    /// The first byte.
    pub start: u32,
    /// One past the last byte.
    pub end: u32,
}

impl Span {
    /// Makes a span from two offsets.
    pub fn new(start: usize, end: usize) -> Self {
        Self {
            start: start as u32,
            end: end as u32,
        }
    }

    /// Returns these bytes of `text`.
    pub fn of(self, text: &[u8]) -> &[u8] {
        &text[self.start as usize..self.end as usize]
    }

    /// Returns how many bytes it spans.
    pub fn len(self) -> usize {
        (self.end - self.start) as usize
    }

    /// Whether it is empty.
    pub fn is_empty(self) -> bool {
        self.start == self.end
    }

    /// Returns the span of the same bytes in a text that begins `offset` bytes earlier.
    #[must_use]
    pub fn shift(self, offset: u32) -> Self {
        Self {
            start: self.start + offset,
            end: self.end + offset,
        }
    }

    /// Returns the range as `usize`, for indexing.
    pub fn range(self) -> std::ops::Range<usize> {
        self.start as usize..self.end as usize
    }
}

/// The text is not JSON; the offset is where reading stopped.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("not JSON at byte {at}")]
pub struct Malformed {
    /// The byte at which reading stopped.
    pub at: usize,
}
