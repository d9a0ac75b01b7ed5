//! What became of a replaced file: still the new one, the old one again, or something else.

use std::io;

use crate::document::Source;
use crate::store::fs::is_regular;

use super::record::Replaced;

/// What a replaced file is now, and what was appended to it since.
#[derive(Debug)]
pub(crate) enum Now {
    Old(Vec<u8>),
    New(Vec<u8>),
    Neither,
    Missing,
    /// A link, a folder, a pipe: it is not opened.
    Special,
}

impl Now {
    /// Tells the old file from the new one by their bytes. If one begins with the other, the longer one counts.
    pub(crate) fn of(replaced: &Replaced) -> io::Result<Self> {
        let Some(after) = &replaced.after else {
            // Nothing was replaced yet when this was recorded.
            return Ok(Self::Old(Vec::new()));
        };
        match is_regular(&replaced.path) {
            Ok(true) => {}
            Ok(false) => return Ok(Self::Special),
            Err(e) if e.kind() == io::ErrorKind::NotFound => return Ok(Self::Missing),
            Err(e) => return Err(e),
        }
        let source = Source::open(&replaced.path)?;
        let bytes = source.bytes();
        let before = &replaced.before;
        if before.is_of(bytes) {
            return Ok(Self::Old(Vec::new()));
        }
        if after.is_of(bytes) {
            return Ok(Self::New(Vec::new()));
        }
        let (old, new) = (before.starts(bytes), after.starts(bytes));
        let rest = |len: u64| bytes[len as usize..].to_vec();
        Ok(match (old, new) {
            (true, true) if after.len > before.len => Self::New(rest(after.len)),
            (false, true) => Self::New(rest(after.len)),
            (true, _) => Self::Old(rest(before.len)),
            (false, false) => Self::Neither,
        })
    }
}
