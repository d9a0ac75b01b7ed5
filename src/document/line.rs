//! One line of a document.

use std::fmt;

/// How a line ends in the file.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Ending {
    /// `\n`, as every client writes.
    Lf,
    /// `\r\n`.
    CrLf,
    /// Nothing: the last line of a file without a final newline.
    None,
}

impl Ending {
    /// The bytes of this ending.
    pub fn bytes(self) -> &'static [u8] {
        match self {
            Ending::Lf => b"\n",
            Ending::CrLf => b"\r\n",
            Ending::None => b"",
        }
    }
}

/// Where a line lies in its document: its text, without the ending.
///
/// There are as many as a file has lines, so one is kept in two words.
#[derive(Clone, Copy, PartialEq, Eq)]
pub struct Line {
    /// Its offset in the file; for a line that was made its number, behind all offsets.
    start: u64,
    /// How long its text is, and in the last two bits how it ends.
    shape: u64,
}

/// The first place behind all offsets.
const MADE: u64 = 1 << 63;

impl Line {
    /// The line that was made as number `number`.
    pub fn made(number: usize, len: u64, ending: Ending) -> Self {
        Self::new(MADE | number as u64, len, ending)
    }

    /// Its number, if it was made.
    pub fn number(self) -> Option<usize> {
        (self.start & MADE != 0).then_some((self.start & !MADE) as usize)
    }

    /// The line of this text.
    pub fn new(start: u64, len: u64, ending: Ending) -> Self {
        Self {
            start,
            shape: len << 2 | ending as u64,
        }
    }

    /// Offset of its first byte. A line that was made has a place of its own behind all offsets.
    pub fn start(self) -> u64 {
        self.start
    }

    /// Offset one past the last byte of its text.
    pub fn end(self) -> u64 {
        self.start + (self.shape >> 2)
    }

    /// How it ends.
    pub fn ending(self) -> Ending {
        match self.shape & 3 {
            0 => Ending::Lf,
            1 => Ending::CrLf,
            _ => Ending::None,
        }
    }

    /// How many bytes its text has.
    pub fn len(self) -> usize {
        (self.shape >> 2) as usize
    }

    /// Whether its text is empty.
    pub fn is_empty(self) -> bool {
        self.len() == 0
    }

    /// Offset one past its ending.
    pub fn raw_end(self) -> u64 {
        self.end() + self.ending().bytes().len() as u64
    }
}

impl fmt::Debug for Line {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}..{} {:?}", self.start, self.end(), self.ending())
    }
}
