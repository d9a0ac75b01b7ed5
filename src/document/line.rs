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
    /// Returns the bytes of this ending.
    pub fn bytes(self) -> &'static [u8] {
        match self {
            Ending::Lf => b"\n",
            Ending::CrLf => b"\r\n",
            Ending::None => b"",
        }
    }
}

/// Where the text of a line is held.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Place {
    /// In the file, from this offset on.
    File(u64),
    /// Among the texts that were added to the document, under this number.
    Added(usize),
}

/// Where a line is held in its document, how long its text is, and how it ends.
///
/// A document holds one for each line, so a `Line` is packed into 16 bytes.
#[derive(Clone, Copy, PartialEq, Eq)]
pub struct Line {
    /// The offset in the file, or [`ADDED`] and the number of an added text.
    place: u64,
    /// The length of the text, and in the last two bits the ending.
    shape: u64,
}

/// The bit that tells added texts from offsets: no file is that long.
const ADDED: u64 = 1 << 63;

impl Line {
    /// Describes a line of the file.
    pub(super) fn in_file(start: usize, len: usize, ending: Ending) -> Self {
        Self::new(start as u64, len, ending)
    }

    /// Describes a line whose text was added under this number.
    pub(super) fn added(number: usize, len: usize, ending: Ending) -> Self {
        Self::new(ADDED | number as u64, len, ending)
    }

    fn new(place: u64, len: usize, ending: Ending) -> Self {
        Self {
            place,
            shape: (len as u64) << 2 | ending as u64,
        }
    }

    /// Returns where its text is held.
    pub(super) fn place(self) -> Place {
        match self.place & ADDED {
            0 => Place::File(self.place),
            _ => Place::Added((self.place ^ ADDED) as usize),
        }
    }

    /// Returns the offset of its first byte, if the line is in the file as it stands here.
    pub fn start_in_file(self) -> Option<u64> {
        match self.place() {
            Place::File(start) => Some(start),
            Place::Added(_) => None,
        }
    }

    /// Returns how it ends.
    pub fn ending(self) -> Ending {
        match self.shape & 3 {
            0 => Ending::Lf,
            1 => Ending::CrLf,
            _ => Ending::None,
        }
    }

    /// Returns how many bytes its text has, without the ending.
    pub fn len(self) -> usize {
        (self.shape >> 2) as usize
    }

    /// Whether its text is empty.
    pub fn is_empty(self) -> bool {
        self.len() == 0
    }

    /// Returns how many bytes it has, ending included.
    pub fn raw_len(self) -> u64 {
        (self.len() + self.ending().bytes().len()) as u64
    }
}

impl fmt::Debug for Line {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:?} +{} {:?}", self.place(), self.len(), self.ending())
    }
}
