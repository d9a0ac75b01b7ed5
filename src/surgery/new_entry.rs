//! Fields of entries that surgery adds.

use std::fmt::Write as _;

use crate::json::lookup;
use crate::session::Session;
use crate::transcript::Entry;

/// Returns the fields that every entry of a session carries, as its neighbour spells them, each after a comma.
pub(crate) fn common_fields(session: &Session, neighbour: &Entry) -> String {
    let text = session.text(neighbour);
    let mut out = String::new();
    for key in [
        "userType",
        "entrypoint",
        "cwd",
        "sessionId",
        "version",
        "gitBranch",
        "slug",
    ] {
        if let Some(value) = lookup(text, &[key]) {
            let value = String::from_utf8_lossy(value.of(text));
            let _ = write!(out, ",\"{key}\":{value}");
        }
    }
    out
}
