//! The numbers of lines in a document.

use crate::typed_index::{Column, typed_index};

use super::line::Line;
use super::line_map::LineSource;

typed_index! {
    /// The number of a line in its document, from 0: an index of [`Document::lines`](super::Document::lines).
    LineIx of Line, LineSource
}

impl LineIx {
    /// Returns the number as people count, from 1.
    pub fn from_one(self) -> u32 {
        self.number() + 1
    }
}

/// A value for each line of a document.
pub type LineColumn<T> = Column<LineIx, T>;
