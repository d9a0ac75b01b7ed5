//! A look at a session without reading all of it.

use std::io::{self, Read, Seek, SeekFrom};
use std::path::Path;

use crate::jsonl::Document;
use crate::session::{Glance, Session};

/// How much of a file's head and tail is read, as the client's picker does.
const WINDOW: u64 = 64 << 10;

/// Glances at the session file at `path`: its head and tail only.
pub fn glance(path: &Path) -> io::Result<Glance> {
    ends(path, WINDOW).map(|(session, _)| Glance::of(&session))
}

/// The first and last `window` bytes of a session, and whether that is all of it.
pub(super) fn ends(path: &Path, window: u64) -> io::Result<(Session, bool)> {
    let mut file = fs_err::File::open(path)?;
    let len = file.metadata()?.len();
    let mut bytes = Vec::new();
    file.by_ref().take(window).read_to_end(&mut bytes)?;
    let whole = len <= 2 * window;
    if !whole {
        // Between the two pieces a newline: a line cut in half is not one of either.
        bytes.push(b'\n');
        file.seek(SeekFrom::End(-(window as i64)))?;
    }
    file.read_to_end(&mut bytes)?;
    Ok((Session::new(Document::from_bytes(bytes)), whole))
}
