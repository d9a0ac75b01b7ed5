//! What differs between two sessions, however their ids differ.

use std::collections::BTreeMap;
use std::collections::VecDeque;

use rayon::prelude::*;
use rustc_hash::FxHashMap;

use crate::json::{Edit, Span, apply_edits, fields};

use super::overview::Overview;
use super::session_text::SessionText;
use crate::session::Session;
use crate::transcript::{Entry, Id, Kind, LineState, visit_ids};

/// What a field that is not compared becomes.
const ANY: &[u8] = b"#";

/// Two entries that are one and the same but for some fields.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Changed {
    /// The entry of the first session.
    pub a: u32,
    /// The entry of the second.
    pub b: u32,
    /// The fields that differ, by their keys.
    pub fields: Vec<String>,
}

/// What differs between two sessions; entries by their numbers.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Comparison {
    /// Entries that only the first has.
    pub only_a: Vec<u32>,
    /// Entries that only the second has.
    pub only_b: Vec<u32>,
    /// Entries that both have, differently.
    pub changed: Vec<Changed>,
    /// How many lines that cannot be read only the first has, and how many only the second.
    pub unreadable: (usize, usize),
    /// How many entries are the same.
    pub same: usize,
    /// The titles, if they differ.
    pub titles: Option<(Option<SessionText>, Option<SessionText>)>,
}

impl Comparison {
    /// Whether nothing differs but ids, and perhaps the title.
    pub fn is_empty(&self) -> bool {
        self.only_a.is_empty()
            && self.only_b.is_empty()
            && self.changed.is_empty()
            && self.unreadable == (0, 0)
    }

    /// Compares two sessions. Ids of entries and sessions, who is whose parent, and where a copy came
    /// from do not count; nor does the order of the lines.
    pub fn of(a: &Session, b: &Session) -> Self {
        let names = Names::of([a, b]);
        let (a, b) = (Side::of(a, &names), Side::of(b, &names));
        let mut out = Self::default();
        let mut waiting: FxHashMap<[u8; 32], VecDeque<u32>> = FxHashMap::default();
        for (i, hash) in b.hashes() {
            waiting.entry(hash).or_default().push_back(i);
        }
        let mut left_a = Vec::new();
        for (i, hash) in a.hashes() {
            let twin = waiting.get_mut(&hash).and_then(VecDeque::pop_front);
            match twin {
                Some(_) => out.same += 1,
                None => left_a.push(i),
            }
        }
        let mut left_b: Vec<u32> = waiting.into_values().flatten().collect();
        left_b.sort_unstable();
        // What is left was made at the same moment and is of the same kind: then it is one entry.
        let mut pairs: BTreeMap<(u8, i64, Id), VecDeque<u32>> = BTreeMap::new();
        for &i in &left_b {
            pairs.entry(moment(b.session, i)).or_default().push_back(i);
        }
        let mut taken = Vec::new();
        for i in left_a {
            let key = moment(a.session, i);
            let twin = pairs
                .get_mut(&key)
                .filter(|_| key.1 != i64::MIN)
                .and_then(VecDeque::pop_front);
            let Some(twin) = twin else {
                out.only_a.push(i);
                continue;
            };
            taken.push(twin);
            let fields = differing(&a.canonical(i), &b.canonical(twin));
            out.changed.push(Changed {
                a: i,
                b: twin,
                fields,
            });
        }
        taken.sort_unstable();
        out.only_b = left_b
            .into_iter()
            .filter(|i| taken.binary_search(i).is_err())
            .collect();
        out.unreadable = unreadable(a.session, b.session);
        let title = |side: &Side<'_>| Overview::of(side.session).title;
        let (title_a, title_b) = (title(&a), title(&b));
        out.titles = (title_a != title_b).then_some((title_a, title_b));
        out
    }
}

/// How many unreadable lines each of two sessions has that the other has not.
fn unreadable(a: &Session, b: &Session) -> (usize, usize) {
    fn opaque(s: &Session) -> impl Iterator<Item = &[u8]> {
        let states = s.lines().iter().enumerate();
        let opaque = states.filter(|(_, state)| **state == LineState::Opaque);
        opaque.map(|(i, _)| s.document().text(i))
    }
    let mut more: FxHashMap<&[u8], isize> = FxHashMap::default();
    for line in opaque(a) {
        *more.entry(line).or_default() += 1;
    }
    for line in opaque(b) {
        *more.entry(line).or_default() -= 1;
    }
    let sum = |sign: isize| more.values().map(|n| (n * sign).max(0)).sum::<isize>();
    (sum(1).unsigned_abs(), sum(-1).unsigned_abs())
}

fn moment(session: &Session, i: u32) -> (u8, i64, Id) {
    let e = &session.entries()[i as usize];
    (e.kind as u8, e.time, e.message_id)
}

/// What the two sessions call themselves. A copy may still speak of the original, so both names count
/// in either.
struct Names(Vec<Vec<u8>>);

impl Names {
    fn of(sessions: [&Session; 2]) -> Self {
        let name = |session: &Session| {
            let id = session.session_id()?;
            let entry = session.entries().iter().find(|e| e.session == id)?;
            session
                .string(entry, &["sessionId"])
                .map(String::into_bytes)
                .filter(|n| n.len() >= 8)
        };
        Self(sessions.into_iter().filter_map(name).collect())
    }
}

/// One of the two sessions.
struct Side<'a> {
    session: &'a Session,
    names: &'a Names,
    /// Whether all entries have ids that look like ids.
    plain: bool,
}

impl<'a> Side<'a> {
    fn of(session: &'a Session, names: &'a Names) -> Self {
        let mut ids = session.entries().iter().filter_map(|e| e.uuid.some());
        Self {
            session,
            names,
            plain: ids.all(Id::is_uuid),
        }
    }

    /// The entries that count, with the hashes of their canonical lines. A title is compared as such.
    fn hashes(&self) -> Vec<(u32, [u8; 32])> {
        let hash = |(i, e): (usize, &Entry)| {
            let line = self.canonical_line(e);
            (i as u32, *blake3::hash(&line).as_bytes())
        };
        let all = self.session.entries().par_iter().enumerate();
        let compared = all.filter(|(_, e)| e.kind != Kind::CustomTitle);
        compared.map(hash).collect()
    }

    fn canonical(&self, i: u32) -> Vec<u8> {
        self.canonical_line(&self.session.entries()[i as usize])
    }

    /// An entry's line with everything blanked that two copies may have differently.
    fn canonical_line(&self, e: &Entry) -> Vec<u8> {
        let line = self.session.text(e);
        let mut spans: Vec<Span> = Vec::new();
        for field in fields(line).unwrap_or_default() {
            if matches!(field.key.of(line), b"parentUuid" | b"slug" | b"forkedFrom") {
                spans.push(field.value);
            }
        }
        let whole = spans.clone();
        let _ = visit_ids(line, e.words(), |found| {
            let inside = whole
                .iter()
                .any(|s| s.start <= found.span.start && found.span.end <= s.end);
            let is_odd = || !self.plain || found.is_escaped(line);
            let is_entry = || self.session.find(found.id(line)).is_some();
            if !inside && (is_uuid(found.span.of(line)) || is_odd() && is_entry()) {
                spans.push(found.span);
            }
        });
        spans.sort_by_key(|s| (s.start, s.end));
        let edits: Vec<Edit> = spans.into_iter().map(|s| Edit::new(s, ANY)).collect();
        let mut blanked = apply_edits(line, &edits).unwrap_or_else(|_| line.to_vec());
        for name in &self.names.0 {
            if memchr::memmem::find(&blanked, name).is_some() {
                blanked = replaced(&blanked, name);
            }
        }
        without_forked_from(blanked)
    }
}

/// A field that only copies have.
fn without_forked_from(line: Vec<u8>) -> Vec<u8> {
    match memchr::memmem::find(&line, br#""forkedFrom":#"#) {
        Some(at) => {
            let comma = usize::from(at > 0 && line[at - 1] == b',');
            [
                &line[..at - comma],
                &line[at + br#""forkedFrom":#"#.len()..],
            ]
            .concat()
        }
        None => line,
    }
}

/// Blanks a session's name, and the path that leads to it: a copy lies elsewhere.
fn replaced(line: &[u8], name: &[u8]) -> Vec<u8> {
    let of_path = |b: &u8| b.is_ascii_alphanumeric() || b"/._-~+@%".contains(b);
    let mut out = Vec::with_capacity(line.len());
    let mut from = 0;
    for at in memchr::memmem::find_iter(line, name) {
        let before = &line[from..at];
        let path = before.iter().rev().take_while(|b| of_path(b)).count();
        let path = if before[before.len() - path..].contains(&b'/') {
            path
        } else {
            0
        };
        out.extend_from_slice(&before[..before.len() - path]);
        out.extend_from_slice(ANY);
        from = at + name.len();
    }
    out.extend_from_slice(&line[from..]);
    out
}

fn is_uuid(text: &[u8]) -> bool {
    text.len() == 36
        && text.iter().enumerate().all(|(i, b)| {
            if matches!(i, 8 | 13 | 18 | 23) {
                *b == b'-'
            } else {
                b.is_ascii_hexdigit()
            }
        })
}

/// The keys of the fields that two canonical lines have differently.
fn differing(a: &[u8], b: &[u8]) -> Vec<String> {
    // A blanked value is no JSON; quoted it is.
    let mend = |line: &[u8]| {
        let text = String::from_utf8_lossy(line).into_owned();
        text.replace(":#,", ":\"#\",").replace(":#}", ":\"#\"}")
    };
    let (a, b) = (mend(a), mend(b));
    let map = |text: &str| -> BTreeMap<String, String> {
        let all = fields(text.as_bytes()).unwrap_or_default();
        let word = |s: Span| String::from_utf8_lossy(s.of(text.as_bytes())).into_owned();
        all.into_iter()
            .map(|f| (word(f.key), word(f.value)))
            .collect()
    };
    let (a, b) = (map(&a), map(&b));
    let keys: std::collections::BTreeSet<&String> = a.keys().chain(b.keys()).collect();
    keys.into_iter()
        .filter(|k| a.get(*k) != b.get(*k))
        .cloned()
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::document::Document;

    fn session(lines: &[&str]) -> Session {
        Session::new(Document::from_bytes(lines.join("\n")))
    }

    #[test]
    fn ids_do_not_count_and_words_do() {
        let a = session(&[
            r#"{"parentUuid":null,"type":"user","message":{"content":"hi"},"uuid":"u1","sessionId":"session-a","timestamp":"2026-01-01T00:00:00.000Z"}"#,
            r#"{"parentUuid":"u1","type":"assistant","message":{"id":"m","content":[{"type":"text","text":"see /x/session-a/y"}]},"uuid":"u2","sessionId":"session-a","timestamp":"2026-01-01T00:00:01.000Z"}"#,
        ]);
        let b = session(&[
            r#"{"parentUuid":null,"type":"user","message":{"content":"ho"},"uuid":"v1","sessionId":"session-b","timestamp":"2026-01-01T00:00:00.000Z","forkedFrom":{"sessionId":"session-a","messageUuid":"u1"}}"#,
            r#"{"parentUuid":"v1","type":"assistant","message":{"id":"m","content":[{"type":"text","text":"see /x/session-b/y"}]},"uuid":"v2","sessionId":"session-b","timestamp":"2026-01-01T00:00:01.000Z","forkedFrom":{"sessionId":"session-a","messageUuid":"u2"}}"#,
            r#"{"type":"mode","mode":"x","sessionId":"session-b"}"#,
        ]);
        let compared = Comparison::of(&a, &b);
        assert_eq!(
            (compared.same, compared.only_a.len(), &compared.only_b[..]),
            (1, 0, &[2][..])
        );
        assert_eq!(
            compared.changed,
            [Changed {
                a: 0,
                b: 0,
                fields: vec!["message".to_owned()]
            }]
        );
        assert!(Comparison::of(&a, &a).is_empty());
    }
}
