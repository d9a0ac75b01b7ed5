//! Writing a transcript, with fresh ids if it is a copy's.

use std::io::{self, BufWriter, Write};

use crate::session::Session;
use crate::threads::in_order;
use crate::transcript::EntryHead;

use super::FreshIds;

/// How many bytes of lines one worker handles at a time: few, so that none waits long for another.
///
/// They are written as they come. Pieces of whole mebibytes would be faster on a machine of its own, but five times slower
/// where a host takes free memory from its guests in pages of that size.
const PIECE: usize = 1 << 18;

/// A line with fresh ids is not the entry that it was. This is a bug, and nothing is published.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("line {line} does not read back as planned")]
pub struct NotAsMeant {
    /// The line, counted from 1.
    pub line: u32,
}
/// Writes a transcript, with fresh ids if there are any: all cores substitute and check them while this thread writes.
/// Fails with [`NotAsMeant`] inside if a line is not the entry that it was.
pub(crate) fn emit(
    session: &Session,
    ids: Option<&FreshIds<'_>>,
    out: &mut impl Write,
) -> io::Result<()> {
    let document = session.document();
    let Some(ids) = ids else {
        let mut out = BufWriter::with_capacity(PIECE, out);
        document.write(&mut out)?;
        return out.flush();
    };
    let pieces = document.pieces(PIECE);
    let make = |piece: usize, out: &mut Vec<u8>| {
        out.reserve(PIECE + PIECE / 4);
        ids.lines(session, pieces[piece].clone(), out)
    };
    in_order(pieces.len(), make, |bytes| out.write_all(bytes))
}

/// Returns how many bytes [`emit`] writes. It writes them for that only if some id changes its length.
pub(crate) fn emitted_len(session: &Session, ids: Option<&FreshIds<'_>>) -> u64 {
    let len = session.document().len();
    let Some(ids) = ids else { return len };
    if ids.keep_lengths() {
        let noted = |t: &&EntryHead| t.is_chained() && !t.flags.forked();
        let heads = session.heads();
        if !heads.iter().any(|t| t.flags.odd_ids()) {
            let forks = heads.iter().filter(noted).count();
            return len + (forks * ids.fork_len()) as u64;
        }
    }
    let mut counted = Counted(0);
    emit(session, Some(ids), &mut counted).map_or(len, |()| counted.0)
}

/// Returns about how many bytes [`emit`] writes, at once; never more, except for long ids of foreign sessions.
pub(crate) fn least_emitted(session: &Session, ids: Option<&FreshIds<'_>>) -> u64 {
    match ids {
        Some(ids) if !ids.keep_lengths() => 0,
        _ => session.document().len(),
    }
}

/// Counts the bytes that are written to it.
struct Counted(u64);

impl Write for Counted {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.0 += bytes.len() as u64;
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}
