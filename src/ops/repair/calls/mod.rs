//! Repairs of calls and results that do not pair.

pub(super) mod repeated_call;
pub(super) mod result_before_call;
pub(super) mod tool_reference;
pub(super) mod unanswered_call;
pub(super) mod unpaired;

use crate::json::{decode, lookup};
use crate::session::{At, Session};

/// Returns the id that a call or result carries in the field `key`.
fn tool_id(session: &Session, at: At, key: &str) -> Option<String> {
    let text = session.text(session.entry(at.entry));
    let inner = session.block(at.block).span.of(text);
    lookup(inner, &[key]).map(|s| decode(s.of(inner)).into_owned())
}
