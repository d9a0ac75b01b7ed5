//! A look at a session without reading all of it.

use std::io::{self, Read, Seek, SeekFrom};
use std::path::Path;

use crate::jsonl::Document;
use crate::session::{Glance, Session};

/// How much of a file's head and tail is read, as the client's picker does.
const WINDOW: u64 = 64 << 10;

/// Glances at the session file at `path`: its head and tail only.
pub fn glance(path: &Path) -> io::Result<Glance> {
    let mut file = fs_err::File::open(path)?;
    let len = file.metadata()?.len();
    let mut bytes = Vec::new();
    file.by_ref().take(WINDOW).read_to_end(&mut bytes)?;
    if len > 2 * WINDOW {
        // Between the two pieces a newline: a line cut in half is not one of either.
        bytes.push(b'\n');
        file.seek(SeekFrom::End(-(WINDOW as i64)))?;
    }
    file.read_to_end(&mut bytes)?;
    Ok(Glance::of(&Session::new(Document::from_bytes(bytes))))
}
