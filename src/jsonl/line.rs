//! One line of a document.

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
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Line {
    /// Offset of the first byte.
    pub start: u64,
    /// Offset one past the last byte of the text.
    pub end: u64,
    /// How it ends.
    pub ending: Ending,
}

impl Line {
    /// How many bytes its text has.
    pub fn len(self) -> usize {
        (self.end - self.start) as usize
    }

    /// Whether its text is empty.
    pub fn is_empty(self) -> bool {
        self.start == self.end
    }

    /// Offset one past its ending.
    pub fn raw_end(self) -> u64 {
        self.end + self.ending.bytes().len() as u64
    }
}
