//! Fields of entries that surgery adds.

use std::fmt::Write as _;

use uuid::Uuid;

use crate::json::{encode, lookup};
use crate::session::Session;
use crate::transcript::{Entry, EntryIx, format_timestamp};

/// The fields that every entry of a session carries.
const COMMON: [&str; 7] = [
    "userType",
    "entrypoint",
    "cwd",
    "sessionId",
    "version",
    "gitBranch",
    "slug",
];

/// Returns the fields that every entry of a session carries, as its neighbour spells them, each after a comma.
pub(crate) fn common_fields(session: &Session, neighbour: &Entry) -> String {
    copied_fields(session, neighbour, &COMMON)
}

/// Returns those of some fields that an entry has, as it spells them, each after a comma.
pub(crate) fn copied_fields(session: &Session, entry: &Entry, keys: &[&str]) -> String {
    let text = session.text(entry);
    let mut out = String::new();
    for key in keys {
        if let Some(value) = lookup(text, &[key]) {
            let value = String::from_utf8_lossy(value.of(text));
            let _ = write!(out, ",\"{key}\":{value}");
        }
    }
    out
}

/// Returns a line that leads every client to a leaf: an entry that hangs on the leaf, is the newest by time, and is
/// meant for the end of the file. `None` if the leaf has no uuid.
pub(crate) fn leading_entry(session: &Session, leaf: EntryIx, text: &str) -> Option<String> {
    let e = session.entry(leaf);
    let parent = session.uuid(e)?;
    let chained = session.entries().iter().filter(|e| e.is_chained());
    let newest = chained.map(|e| e.time).max().unwrap_or(i64::MIN);
    let timestamp = if newest > i64::MIN {
        let time = format_timestamp(newest.saturating_add(1));
        format!(r#","timestamp":"{time}""#)
    } else {
        String::new()
    };
    Some(format!(
        r#"{{"parentUuid":{},"isSidechain":false,"type":"system","subtype":"informational","content":{},"isMeta":true{timestamp},"uuid":"{}","level":"info"{}}}"#,
        encode(&parent),
        encode(text),
        Uuid::new_v4(),
        common_fields(session, e),
    ))
}
