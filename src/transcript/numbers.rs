//! The numbers of entries and blocks in a session.

use crate::document::LineIx;
use crate::typed_index::{Column, index_of, typed_index};

use super::block::Block;
use super::entry::{Entry, LineState};
use super::head::EntryHead;

typed_index! {
    /// The number of an entry in its session: an index of [`Session::entries`](crate::session::Session::entries).
    EntryIx of Entry, EntryHead
}

typed_index! {
    /// The number of a block in its session; see [`Session::block`](crate::session::Session::block).
    BlockIx of Block
}

/// The blocks of an entry, which follow each other.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct BlockRange {
    start: BlockIx,
    end: BlockIx,
}

impl BlockRange {
    /// Takes the first number, and the one after the last.
    pub(crate) fn new(start: BlockIx, end: BlockIx) -> Self {
        Self { start, end }
    }

    /// Returns the number of the first block.
    pub fn start(self) -> BlockIx {
        self.start
    }

    /// Returns the numbers of the blocks.
    pub fn numbers(self) -> impl ExactSizeIterator<Item = BlockIx> + DoubleEndedIterator + Clone {
        self.start.up_to(self.end)
    }

    /// Returns how many blocks there are.
    pub fn len(self) -> usize {
        self.end.index() - self.start.index()
    }

    /// Whether there are none.
    pub fn is_empty(self) -> bool {
        self.start == self.end
    }

    /// Returns the same blocks after `count` others were put before them.
    pub(crate) fn plus(self, count: usize) -> Self {
        Self::new(self.start.plus(count), self.end.plus(count))
    }

    /// Returns where the blocks are among all blocks of the session.
    pub(crate) fn range(self) -> std::ops::Range<usize> {
        self.start.index()..self.end.index()
    }
}

index_of!(LineIx: LineState);

/// A value for each entry of a session.
pub type EntryColumn<T> = Column<EntryIx, T>;
