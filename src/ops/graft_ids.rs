//! Ids of calls and messages that two sessions have in common, and new ones for the turns that join the other session.
//!
//! The API refuses two calls with one id, and Claude Code takes all lines with one message id for one message.

use rustc_hash::{FxHashMap, FxHashSet};
use siphasher::sip128::SipHasher24;
use uuid::Uuid;

use crate::json::{Edit, Span, decode, encode, lookup};
use crate::session::Session;
use crate::transcript::{Block, Entry, Id, Kind, visit_ids};

/// Fields that name a call or a message. In other fields only strings that cannot be ordinary words are replaced.
const FIELDS: [&[u8]; 6] = [
    b"id",
    b"tool_use_id",
    b"toolUseId",
    b"toolUseID",
    b"parentToolUseID",
    b"sourceToolUseID",
];

/// How many hexadecimal digits a new id has after its prefix.
const DIGITS: usize = 24;

/// A file for rewinding that gets another name.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct BackupName {
    /// Its name in the session that it comes from.
    pub old: String,
    /// Its name in the session that it joins.
    pub new: String,
    /// The version of the file that the new name states.
    pub version: u32,
}

/// Ids that both sessions have, each with its new text.
pub(super) struct Clashes(FxHashMap<Id, String>);

impl Clashes {
    /// Finds the ids of calls and messages in `donor` that `target` has too. `key` makes the new ids unique.
    pub(super) fn between(donor: &Session, target: &Session, key: Uuid) -> Self {
        let mut found = FxHashMap::default();
        for call in donor.calls().iter() {
            if target.calls().find(call.id).is_none() {
                continue;
            }
            if let Some(at) = call.uses.first().or(call.results.first()) {
                let entry = donor.entry(at.entry);
                let text = donor.text(entry);
                if let Some(span) = id_span(donor.block(at.block), text) {
                    found.insert(call.id, fresh(&decode(span.of(text)), key));
                }
            }
        }
        let messages: FxHashSet<Id> = target.entries().iter().map(|e| e.message_id).collect();
        for e in donor.entries() {
            let clashes = e.message_id.is_some() && messages.contains(&e.message_id);
            if clashes && !found.contains_key(&e.message_id) {
                let text = donor.string(e, &["message", "id"]);
                found.extend(text.map(|text| (e.message_id, fresh(&text, key))));
            }
        }
        Self(found)
    }

    /// Returns the messages whose calls have new ids in a session with these edits.
    pub(super) fn changed_messages(&self, session: &Session) -> FxHashSet<Id> {
        let new = self.0.values().map(|text| Id::of(text.as_bytes()));
        let new: FxHashSet<Id> = new.collect();
        let has_new = |block: &Block| block.kind.is_call() && new.contains(&block.tool);
        let entries = session.entries().iter();
        let changed = entries.filter(|e| session.blocks(e).iter().any(has_new));
        changed.filter_map(|e| e.message_id.some()).collect()
    }

    /// Returns the edits of a line: new ids, and new names of files for rewinding.
    pub(super) fn edits(&self, session: &Session, e: &Entry, backups: &[BackupName]) -> Vec<Edit> {
        let text = session.text(e);
        let mut edits = Vec::new();
        if !self.0.is_empty() {
            for block in session.blocks(e) {
                if let Some(new) = self.0.get(&block.tool) {
                    let span = id_span(block, text);
                    edits.extend(span.map(|span| Edit::new(span, encode(new))));
                }
            }
            let walked = visit_ids(text, e.words(), |used| {
                let inner = used.span.of(text);
                let is_named = FIELDS.contains(&used.key) && inner != used.key;
                let is_surely_id = inner.len() >= 16 && inner.iter().any(u8::is_ascii_digit);
                if let Some(new) = self.0.get(&used.id(text))
                    && (is_named || is_surely_id)
                {
                    let new = encode(new);
                    edits.push(Edit::new(used.span, &new.as_bytes()[1..new.len() - 1]));
                }
            });
            debug_assert!(walked.is_ok(), "a line with an entry can be walked");
        }
        if matches!(e.kind, Kind::FileHistorySnapshot | Kind::FileHistoryDelta) {
            let renamed = backups.iter().flat_map(|backup| backup_edits(text, backup));
            edits.extend(renamed);
        }
        edits.sort_by_key(|edit| (edit.span.start, edit.span.end));
        edits.dedup_by(|next, kept| next.span.start < kept.span.end);
        edits
    }
}

/// Returns where a block states the id of its call, quotes included.
fn id_span(block: &Block, line: &[u8]) -> Option<Span> {
    let field = if block.kind.is_call() {
        "id"
    } else {
        "tool_use_id"
    };
    let inner = block.span.of(line);
    let span = lookup(inner, &[field]).filter(|span| span.of(inner).starts_with(b"\""))?;
    Some(span.shift(block.span.start))
}

/// Returns the edits that give a file for rewinding its new name and version in a snapshot.
fn backup_edits(text: &[u8], backup: &BackupName) -> Vec<Edit> {
    const NAME: &[u8] = b"\"backupFileName\":";
    const VERSION: &[u8] = b",\"version\":";
    let old = encode(&backup.old);
    let pattern = [NAME, old.as_bytes()].concat();
    let mut edits = Vec::new();
    for at in memchr::memmem::find_iter(text, &pattern) {
        let end = at + pattern.len();
        edits.push(Edit::new(
            Span::new(at + NAME.len(), end),
            encode(&backup.new),
        ));
        if text[end..].starts_with(VERSION) {
            let from = end + VERSION.len();
            let digits = text[from..].iter().take_while(|b| b.is_ascii_digit());
            let span = Span::new(from, from + digits.count());
            edits.push(Edit::new(span, backup.version.to_string()));
        }
    }
    edits
}

/// Returns a new id with the prefix of an old one.
fn fresh(old: &str, key: Uuid) -> String {
    let prefix = old.rfind('_').map_or("", |at| &old[..=at]);
    let hash = SipHasher24::new_with_key(key.as_bytes()).hash(old.as_bytes());
    let digits = format!("{:032x}", hash.as_u128());
    format!("{prefix}{}", &digits[..DIGITS])
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn graft_gives_clashing_calls_and_messages_new_ids() {
        let line = |call: &str| {
            format!(
                r#"{{"type":"assistant","message":{{"id":"msg_1","role":"assistant","content":[{{"type":"tool_use","id":"{call}","name":"Bash","input":{{"id":"toolu_1"}}}}]}},"uuid":"u","sourceToolUseID":"{call}"}}"#
            )
        };
        let target = Session::from_bytes(line("toolu_1"));
        let donor = Session::from_bytes(line("toolu_1"));
        let clashes = Clashes::between(&donor, &target, Uuid::from_u128(1));
        let e = &donor.entries()[0];
        let edits = clashes.edits(&donor, e, &[]);
        let text = crate::json::apply_edits(donor.text(e), &edits).expect("edits");
        let after = Session::from_bytes(text.clone());
        assert_ne!(after.entries()[0].message_id, e.message_id);
        let text = String::from_utf8(text).expect("UTF-8");
        assert!(text.contains(r#""input":{"id":"toolu_1"}"#), "{text}");
        assert_eq!(text.matches("\"toolu_1\"").count(), 1, "{text}");
        let other = Session::from_bytes(line("toolu_2"));
        assert!(Clashes::between(&donor, &other, Uuid::nil()).0.len() == 1);
    }

    #[test]
    fn graft_renames_backups_with_their_versions() {
        let text = br#"{"a":{"backupFileName":"x@v1","version":1,"b":2},"c":{"backupFileName":"x@v11","version":11}}"#;
        let backup = BackupName {
            old: "x@v1".to_owned(),
            new: "x@v4".to_owned(),
            version: 4,
        };
        let after = crate::json::apply_edits(text, &backup_edits(text, &backup)).expect("edits");
        let expected = r#"{"a":{"backupFileName":"x@v4","version":4,"b":2},"c":{"backupFileName":"x@v11","version":11}}"#;
        assert_eq!(String::from_utf8_lossy(&after), expected);
    }
}
