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
}

impl Line {
    /// The text's range in the document.
    pub fn range(self) -> std::ops::Range<usize> {
        self.start as usize..self.end as usize
    }
}
