//! Checks of lines that are not one record each.

pub(crate) mod bad_escape;
pub(crate) mod byte_order_mark;
pub(crate) mod glued_records;
pub(crate) mod huge_line;
pub(crate) mod invalid_utf8;
mod loss;
pub(crate) mod nul_run;
pub(crate) mod open_end;
pub(crate) mod recover;
pub(crate) mod torn_line;

use crate::document::LineIx;
use crate::session::Session;
use crate::transcript::LineState;

use bad_escape::{Escaped, escaped};
use recover::{Piece, pieces};

/// Returns the lines that cannot be read, each with its parts. Records that only need characters escaped are not among
/// them.
pub(crate) fn opaque(session: &Session) -> impl Iterator<Item = (LineIx, Vec<Piece>)> + '_ {
    unreadable(session)
        .filter(|(_, text)| escaped(text).is_none())
        .map(|(line, text)| (line, pieces(text)))
}

/// Returns the lines that only need characters escaped to be records.
fn badly_escaped(session: &Session) -> impl Iterator<Item = (LineIx, Escaped)> + '_ {
    unreadable(session).filter_map(|(line, text)| Some((line, escaped(text)?)))
}

fn unreadable(session: &Session) -> impl Iterator<Item = (LineIx, &[u8])> + '_ {
    let lines = session.numbered_lines();
    lines
        .filter(|(_, state)| *state == LineState::Opaque)
        .map(|(i, _)| (i, session.document().text(i)))
}
