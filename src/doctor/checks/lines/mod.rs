//! Checks of lines that are not one record each.

pub(crate) mod byte_order_mark;
pub(crate) mod glued_records;
pub(crate) mod huge_line;
pub(crate) mod invalid_utf8;
pub(crate) mod nul_run;
pub(crate) mod open_end;
pub(crate) mod recover;
pub(crate) mod torn_line;

use crate::session::Session;
use crate::transcript::LineState;

use recover::{Piece, pieces};

/// Returns the lines that cannot be read, each with its parts.
pub(crate) fn opaque(session: &Session) -> impl Iterator<Item = (u32, Vec<Piece>)> + '_ {
    let lines = session.lines().iter().enumerate();
    lines
        .filter(|(_, state)| **state == LineState::Opaque)
        .map(|(i, _)| (i as u32, pieces(session.document().text(i))))
}
