//! Repairs of content that the API would refuse.

pub(super) mod blank_text;
pub(super) mod empty_content;
pub(super) mod escapes;
pub(super) mod media;
pub(super) mod replayed_error;
mod shrink;
pub(super) mod string_answer;

use crate::json::{Edit, Span, encode};
use crate::session::Session;
use crate::surgery::{Action, Plan};
use crate::transcript::EntryIx;

/// Replaces a block by a text.
pub(super) fn put_note(
    session: &Session,
    plan: &mut Plan,
    entry: EntryIx,
    block: Span,
    what: &'static str,
    note: &str,
) {
    let e = session.entry(entry);
    let text = format!(r#"{{"type":"text","text":{}}}"#, encode(note));
    let grown = text.len() as i64 - block.len() as i64;
    plan.edit_line(e.line, [Edit::new(block, text)]);
    plan.note(session, e, Action::Edit, what, grown, grown, note);
}
