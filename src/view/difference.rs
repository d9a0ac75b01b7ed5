//! The differences between two sessions, as data.

use std::path::PathBuf;

use serde::Serialize;

use super::compare::{Changed, Comparison};
use super::excerpt::{entry_summary, entry_text};
use super::session_text::SessionText;
use super::word_diff::{Segment, segments};
use super::{SCHEMA, shown_path};
use crate::secrets::mask;
use crate::session::Session;
use crate::transcript::EntryIx;

/// One of the two sessions.
#[derive(Debug, Clone, Serialize)]
pub struct DifferenceSide {
    /// The session's id.
    pub session_id: String,
    /// The transcript.
    #[serde(serialize_with = "shown_path")]
    pub path: PathBuf,
    /// Its title, if the titles differ.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub title: Option<SessionText>,
    /// How many unreadable lines only it has.
    pub unreadable: usize,
}

/// An entry of one of the sessions.
#[derive(Debug, Clone, Serialize)]
pub struct EntryReference {
    /// Its line, from 1.
    pub line: u32,
    /// Its uuid.
    pub uuid: Option<String>,
    /// Its turn.
    pub turn: Option<u32>,
    /// What it is.
    pub what: SessionText,
    /// Text by which a person recognises it.
    pub gist: SessionText,
    /// The bytes of its line.
    pub bytes: usize,
}

/// An entry that both sessions have, differently.
#[derive(Debug, Clone, Serialize)]
pub struct ChangedEntry {
    /// In the first session.
    pub a: EntryReference,
    /// In the second session.
    pub b: EntryReference,
    /// The fields that differ.
    pub fields: Vec<String>,
    /// The text, cut where it differs; empty if the text is the same.
    pub words: Vec<Segment>,
}

/// The differences between two sessions.
#[derive(Debug, Clone, Serialize)]
pub struct Difference {
    /// Version of this document's form.
    pub schema: u32,
    /// The first session.
    pub a: DifferenceSide,
    /// The second session.
    pub b: DifferenceSide,
    /// Whether they have the same content.
    pub same: bool,
    /// How many entries are the same.
    pub entries_same: usize,
    /// Entries that only the first session has.
    pub only_a: Vec<EntryReference>,
    /// Entries that only the second session has.
    pub only_b: Vec<EntryReference>,
    /// Entries that both have, differently.
    pub changed: Vec<ChangedEntry>,
}

/// A session to compare.
#[derive(Debug, Clone, Copy)]
pub struct Compared<'a> {
    /// The session.
    pub session: &'a Session,
    /// Its id.
    pub session_id: &'a str,
    /// The transcript.
    pub path: &'a std::path::Path,
}

impl Compared<'_> {
    /// Describes an entry.
    pub fn entry(&self, i: EntryIx) -> EntryReference {
        let e = self.session.entry(i);
        let (what, gist) = entry_summary(self.session, e);
        let turns = self.session.turns();
        EntryReference {
            line: e.line.from_one(),
            uuid: self.session.uuid(e),
            turn: turns.of(self.session.graph(), i),
            what,
            gist,
            bytes: self.session.text(e).len(),
        }
    }

    fn side(&self, title: Option<SessionText>, unreadable: usize) -> DifferenceSide {
        DifferenceSide {
            session_id: self.session_id.to_owned(),
            path: self.path.to_owned(),
            title,
            unreadable,
        }
    }
}

impl Difference {
    /// Describes a comparison.
    pub fn of(a: &Compared<'_>, b: &Compared<'_>, c: &Comparison, show_secrets: bool) -> Self {
        let (title_a, title_b) = c.titles.clone().unwrap_or_default();
        let changed = |changed: &Changed| {
            let text = |side: &Compared<'_>, i: EntryIx| {
                let text = entry_text(side.session, side.session.entry(i)).into_raw();
                if show_secrets {
                    text
                } else {
                    mask(&text).into_owned()
                }
            };
            let (old, new) = (text(a, changed.a), text(b, changed.b));
            ChangedEntry {
                a: a.entry(changed.a),
                b: b.entry(changed.b),
                fields: changed.fields.clone(),
                words: if old == new {
                    Vec::new()
                } else {
                    segments(&old, &new)
                },
            }
        };
        Self {
            schema: SCHEMA,
            a: a.side(title_a, c.unreadable.0),
            b: b.side(title_b, c.unreadable.1),
            same: c.is_empty(),
            entries_same: c.same,
            only_a: c.only_a.iter().map(|&i| a.entry(i)).collect(),
            only_b: c.only_b.iter().map(|&i| b.entry(i)).collect(),
            changed: c.changed.iter().map(changed).collect(),
        }
    }
}
