//! Small edits that several passes make.

use std::fmt::Write as _;

use crate::json::{Edit, Span, encode, insert_field, lookup};
use crate::session::Session;
use crate::surgery::{Action, Plan};
use crate::transcript::Entry;

/// Gives an entry another parent; a result also names it as the entry of its call.
pub(crate) fn set_parent(session: &Session, plan: &mut Plan, entry: usize, parent: Option<&str>) {
    let e = &session.entries()[entry];
    let value = parent.map_or_else(|| "null".to_owned(), encode);
    let span = lookup(session.text(e), &["parentUuid"]);
    // An entry that two findings are about gets one parent.
    if span.is_some_and(|span| plan.touches(e.line, span)) {
        return;
    }
    set_field(session, plan, e, "parentUuid", value.as_bytes());
    plan.note(session, e, Action::Edit, "parent", 0, 0, "");
}

/// Sets a field of an entry, wherever it stands; one that is missing is put at the end.
pub(crate) fn set_field(session: &Session, plan: &mut Plan, e: &Entry, key: &str, value: &[u8]) {
    let text = session.text(e);
    let edit = match lookup(text, &[key]) {
        Some(span) => Edit::new(span, value),
        None => insert_field(text, Span::new(0, text.trim_ascii_end().len()), key, value),
    };
    plan.edit_line(e.line, [edit]);
}

/// The uuid of an entry.
pub(crate) fn uuid(session: &Session, entry: usize) -> Option<String> {
    session.uuid(&session.entries()[entry])
}

/// A uuid made of words: the same words always make the same.
pub(crate) fn made_uuid(words: &[&str]) -> String {
    let hash = blake3::hash(words.join("\n").as_bytes());
    let mut bytes = [0; 16];
    bytes.copy_from_slice(&hash.as_bytes()[..16]);
    uuid::Builder::from_random_bytes(bytes)
        .into_uuid()
        .to_string()
}

/// A time as the client writes it, in quotes.
pub(crate) fn timestamp(millis: i64) -> String {
    format!("\"{}\"", crate::transcript::format_timestamp(millis))
}

/// A user entry in the client's form, with the fields of a neighbour that say where it was made.
pub(crate) struct NewUser<'a> {
    /// The entry whose surroundings it shares.
    pub(crate) like: &'a Entry,
    /// Its parent.
    pub(crate) parent: Option<&'a str>,
    /// Its own uuid.
    pub(crate) uuid: &'a str,
    /// `message.content`, as JSON.
    pub(crate) content: &'a str,
    /// Its time.
    pub(crate) time: i64,
    /// Further fields, as JSON, each with a comma before it.
    pub(crate) more: &'a str,
}

/// The fields of an entry that say where it was made, each with a comma before it.
pub(crate) fn shared(session: &Session, like: &Entry) -> String {
    let text = session.text(like);
    let mut shared = String::new();
    for key in [
        "isSidechain",
        "userType",
        "entrypoint",
        "cwd",
        "sessionId",
        "version",
        "gitBranch",
        "slug",
        "promptId",
    ] {
        if let Some(value) = lookup(text, &[key]).and_then(|s| std::str::from_utf8(s.of(text)).ok())
        {
            let _ = write!(shared, ",\"{key}\":{value}");
        }
    }
    shared
}

impl NewUser<'_> {
    pub(crate) fn line(&self, session: &Session) -> String {
        let shared = shared(session, self.like);
        let parent = self.parent.map_or_else(|| "null".to_owned(), encode);
        format!(
            r#"{{"parentUuid":{parent}{shared},"type":"user","message":{{"role":"user","content":{}}},"uuid":"{}","timestamp":{}{}}}"#,
            self.content,
            self.uuid,
            timestamp(self.time),
            self.more
        )
    }
}
