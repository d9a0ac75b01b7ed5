//! Small edits that several repairs make.

use crate::json::{Edit, Span, encode, insert_field, lookup};
use crate::session::Session;
use crate::surgery::{Action, Plan, common_fields, copied_fields};
use crate::transcript::{Entry, EntryIx};

/// Sets a field of an entry. A missing field is added at the end.
pub(crate) fn set_field(session: &Session, plan: &mut Plan, e: &Entry, key: &str, value: &[u8]) {
    let text = session.text(e);
    let edit = match lookup(text, &[key]) {
        Some(span) => Edit::new(span, value),
        None => insert_field(text, Span::new(0, text.trim_ascii_end().len()), key, value),
    };
    plan.edit_line(e.line, [edit]);
}

/// Returns the uuid of an entry.
pub(crate) fn uuid(session: &Session, entry: EntryIx) -> Option<String> {
    session.uuid(session.entry(entry))
}

/// Records that an entry is edited in a way that does not change its size much.
pub(crate) fn note_edit(session: &Session, plan: &mut Plan, e: &Entry, what: &'static str) {
    plan.note(session, e, Action::Edit, what, 0, 0, "");
}

/// Removes an entry's line.
pub(crate) fn drop_entry(session: &Session, plan: &mut Plan, e: &Entry, what: &'static str) {
    let bytes = session.text(e).len() as i64 + 1;
    plan.drop_line(e.line);
    plan.note(session, e, Action::Drop, what, -bytes, 0, "");
}

/// Derives a uuid from words: the same words always give the same uuid.
pub(crate) fn made_uuid(words: &[&str]) -> String {
    let hash = blake3::hash(words.join("\n").as_bytes());
    let mut bytes = [0; 16];
    bytes.copy_from_slice(&hash.as_bytes()[..16]);
    uuid::Builder::from_random_bytes(bytes)
        .into_uuid()
        .to_string()
}

/// Formats a time as the client writes it, in quotes.
pub(crate) fn timestamp(millis: i64) -> String {
    format!("\"{}\"", crate::transcript::format_timestamp(millis))
}

/// A new user entry in the client's form.
pub(crate) struct NewUser<'a> {
    /// The entry whose folder, session and version it copies.
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

/// Returns the fields of an entry that tell where it was written, each with a comma before it.
pub(crate) fn shared(session: &Session, like: &Entry) -> String {
    let copied = |key| copied_fields(session, like, &[key]);
    [
        copied("isSidechain"),
        common_fields(session, like),
        copied("promptId"),
    ]
    .concat()
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
