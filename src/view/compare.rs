//! Compares two sessions by their content, ignoring what a copy renames.

use std::collections::BTreeMap;
use std::collections::VecDeque;
use std::hash::{BuildHasher as _, Hasher as _, RandomState};

use memchr::memmem::Finder;
use rayon::prelude::*;
use rustc_hash::FxHashMap;
use siphasher::sip128::{Hasher128 as _, SipHasher13};

use crate::json::{Edit, Span, apply_edits, fields, fields_around};

use super::overview::Overview;
use super::session_text::SessionText;
use crate::session::Session;
use crate::transcript::{Entry, EntryIx, Id, Kind, LineState, visit_ids};

/// Replaces a value that is not compared.
const ANY: &[u8] = b"#";

/// An entry that both sessions have, with differences.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Changed {
    /// The entry of the first session.
    pub a: EntryIx,
    /// The entry of the second.
    pub b: EntryIx,
    /// The fields that differ, by their keys.
    pub fields: Vec<String>,
}

/// What differs between two sessions; entries by their numbers.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Comparison {
    /// Entries that only the first has.
    pub only_a: Vec<EntryIx>,
    /// Entries that only the second has.
    pub only_b: Vec<EntryIx>,
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

    /// Compares two sessions. Ids of entries, sessions and subagents, parents, paths to the session's own files, and the
    /// origin of a copy are ignored; so is the order of the lines.
    pub fn of(a: &Session, b: &Session) -> Self {
        let names = Names::of([a, b]);
        let (a, b) = (Side::of(a, &names), Side::of(b, &names));
        let mut out = Self::default();
        // Nobody can choose lines that are taken for the same, because the key is another one in each run.
        let key = RandomState::new();
        let key = SipHasher13::new_with_keys(key.hash_one(0), key.hash_one(1));
        let mut waiting: FxHashMap<u128, VecDeque<EntryIx>> = FxHashMap::default();
        for (i, hash) in b.hashes(key) {
            waiting.entry(hash).or_default().push_back(i);
        }
        let mut left_a = Vec::new();
        for (i, hash) in a.hashes(key) {
            let twin = waiting.get_mut(&hash).and_then(VecDeque::pop_front);
            match twin {
                Some(_) => out.same += 1,
                None => left_a.push(i),
            }
        }
        let mut left_b: Vec<EntryIx> = waiting.into_values().flatten().collect();
        left_b.sort_unstable();
        // Entries of the same kind that were written at the same moment are versions of one entry.
        let mut pairs: BTreeMap<(u8, i64, Id), VecDeque<EntryIx>> = BTreeMap::new();
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
        out.unreadable = unreadable(a.session, b.session, &names);
        let title = |side: &Side<'_>| Overview::of(side.session).title;
        let (title_a, title_b) = (title(&a), title(&b));
        out.titles = (title_a != title_b).then_some((title_a, title_b));
        out
    }
}

/// How many unreadable lines each of two sessions has that the other has not.
fn unreadable(a: &Session, b: &Session, names: &Names) -> (usize, usize) {
    let opaque = |s: &Session| -> FxHashMap<Vec<u8>, i64> {
        let states = s.numbered_lines();
        let opaque = states.filter(|(_, state)| *state == LineState::Opaque);
        let mut counts = FxHashMap::default();
        for (i, _) in opaque {
            let text = names.blanked(without_uuids(s.document().text(i)));
            *counts.entry(text).or_default() += 1;
        }
        counts
    };
    let (a, b) = (opaque(a), opaque(b));
    let more = |these: &FxHashMap<Vec<u8>, i64>, others: &FxHashMap<Vec<u8>, i64>| -> usize {
        let more = these
            .iter()
            .map(|(line, n)| n - others.get(line).copied().unwrap_or(0));
        more.filter(|n| *n > 0).sum::<i64>() as usize
    };
    (more(&a, &b), more(&b, &a))
}

/// Blanks the uuids of a line that cannot be read: a copy renames them there, too.
fn without_uuids(line: &[u8]) -> Vec<u8> {
    let mut out = Vec::with_capacity(line.len());
    let mut at = 0;
    while at < line.len() {
        match line.get(at..at + 36) {
            Some(text) if is_uuid(text) => {
                out.extend_from_slice(ANY);
                at += 36;
            }
            _ => {
                out.push(line[at]);
                at += 1;
            }
        }
    }
    out
}

fn moment(session: &Session, i: EntryIx) -> (u8, i64, Id) {
    let e = session.entry(i);
    (e.kind as u8, e.time, e.message_id)
}

/// The ids of the two sessions. A copy may still name the original, so both are blanked in either.
///
/// Every line is searched for them, so the searchers are made once.
struct Names {
    ids: Vec<Finder<'static>>,
    agents: Finder<'static>,
    forked_from: Finder<'static>,
}

/// The field that only copies have, with its value blanked.
const FORKED_FROM: &[u8] = br#""forkedFrom":#"#;

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
        let ids = sessions.into_iter().filter_map(name);
        Self {
            ids: ids.map(|id| Finder::new(&id).into_owned()).collect(),
            agents: Finder::new("agent"),
            forked_from: Finder::new(FORKED_FROM),
        }
    }

    /// Blanks both names, the paths that lead to them, and the ids of subagents.
    fn blanked(&self, mut line: Vec<u8>) -> Vec<u8> {
        for id in &self.ids {
            if id.find(&line).is_some() {
                line = replaced(&line, id);
            }
        }
        self.without_agents(line)
    }

    /// Blanks the ids of subagents: a copy renames those of old clients.
    fn without_agents(&self, line: Vec<u8>) -> Vec<u8> {
        const LEADS: [&[u8]; 3] = [b"\"agentId\":\"", b"agentId: ", b"agent-"];
        let mut out = Vec::new();
        let (mut read, mut copied) = (0, 0);
        for at in self.agents.find_iter(&line) {
            // The first lead begins with a quotation mark, before the word.
            let starts = [at.checked_sub(1), Some(at), Some(at)];
            let mut leads = starts.into_iter().zip(LEADS);
            let lead = leads.find_map(|(start, lead)| {
                let start = start.filter(|start| *start >= read)?;
                line[start..]
                    .starts_with(lead)
                    .then_some(start + lead.len())
            });
            let Some(id) = lead else { continue };
            let letters = line[id..].iter();
            let length = letters.take_while(|b| b.is_ascii_alphanumeric()).count();
            read = id + length;
            if length >= 6 {
                out.extend_from_slice(&line[copied..id]);
                out.extend_from_slice(ANY);
                copied = read;
            }
        }
        if copied == 0 {
            return line;
        }
        out.extend_from_slice(&line[copied..]);
        out
    }

    /// Removes the field that only copies have.
    fn without_forked_from(&self, line: Vec<u8>) -> Vec<u8> {
        match self.forked_from.find(&line) {
            Some(at) => {
                let comma = usize::from(at > 0 && line[at - 1] == b',');
                [&line[..at - comma], &line[at + FORKED_FROM.len()..]].concat()
            }
            None => line,
        }
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

    /// Returns the entries that are compared, with the hashes of their canonical lines. Titles are compared by themselves,
    /// and a copy may add a note of where the conversation continues.
    fn hashes(&self, key: SipHasher13) -> Vec<(EntryIx, u128)> {
        let hash = |(i, e): (EntryIx, &Entry)| {
            let mut hasher = key;
            hasher.write(&self.canonical_line(e));
            (i, hasher.finish128().as_u128())
        };
        let all = self.session.par_numbered();
        let compared = all.filter(|(_, e)| !matches!(e.kind, Kind::CustomTitle | Kind::LastPrompt));
        compared.map(hash).collect()
    }

    fn canonical(&self, i: EntryIx) -> Vec<u8> {
        self.canonical_line(self.session.entry(i))
    }

    /// Returns an entry's line with everything blanked that may differ between two copies.
    fn canonical_line(&self, e: &Entry) -> Vec<u8> {
        let line = self.session.text(e);
        let mut spans: Vec<Span> = Vec::new();
        for field in fields_around(line, e.words()).unwrap_or_default() {
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
        let blanked = apply_edits(line, &edits).unwrap_or_else(|_| line.to_vec());
        self.names.without_forked_from(self.names.blanked(blanked))
    }
}

/// Blanks a session's id, and the path that leads to it: a copy is elsewhere.
fn replaced(line: &[u8], name: &Finder<'_>) -> Vec<u8> {
    let mut out = Vec::with_capacity(line.len());
    let mut from = 0;
    for at in name.find_iter(line) {
        let before = &line[from..at];
        out.extend_from_slice(&before[..before.len() - path_length(before)]);
        out.extend_from_slice(ANY);
        from = at + name.needle().len();
    }
    out.extend_from_slice(&line[from..]);
    out
}

/// Returns how many bytes at the end of a text are the path of a folder, of Unix or of Windows, inside a JSON string.
fn path_length(text: &[u8]) -> usize {
    let of_name = |b: u8| b.is_ascii_alphanumeric() || b"._-~+@%".contains(&b);
    let (mut start, mut has_folder) = (text.len(), false);
    loop {
        match text[..start] {
            [.., b'\\', b'\\'] => (start, has_folder) = (start - 2, true),
            // A drive, which nothing precedes.
            [.., drive, b':'] if has_folder && drive.is_ascii_alphabetic() => {
                start -= 2;
                break;
            }
            [.., b'/'] => (start, has_folder) = (start - 1, true),
            [.., b] if of_name(b) && !ends_in_escape(&text[..start]) => start -= 1,
            _ => break,
        }
    }
    if has_folder { text.len() - start } else { 0 }
}

/// Returns whether a JSON string ends with an escape such as that of a line break.
fn ends_in_escape(text: &[u8]) -> bool {
    let Some((b'n' | b'r' | b't' | b'b' | b'f', head)) = text.split_last() else {
        return false;
    };
    head.iter().rev().take_while(|&&b| b == b'\\').count() % 2 == 1
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

/// Returns the keys of the fields whose values differ between two canonical lines.
fn differing(a: &[u8], b: &[u8]) -> Vec<String> {
    // A blanked value is not JSON until it is quoted.
    let quoted = |line: &[u8]| {
        let text = String::from_utf8_lossy(line).into_owned();
        text.replace(":#,", ":\"#\",").replace(":#}", ":\"#\"}")
    };
    let (a, b) = (quoted(a), quoted(b));
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
    fn comparison_ignores_ids_and_finds_changed_text() {
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
            (1, 0, &[EntryIx::new(2)][..])
        );
        assert_eq!(
            compared.changed,
            [Changed {
                a: EntryIx::new(0),
                b: EntryIx::new(0),
                fields: vec!["message".to_owned()]
            }]
        );
        assert!(Comparison::of(&a, &a).is_empty());
    }

    #[test]
    fn comparison_ignores_where_the_session_is_on_any_system() {
        let line = |id: &str, path: &str| {
            let line = r#"{"type":"user","message":{"content":"saved\nPATH\ntool-results"},"uuid":"u1","sessionId":"ID"}"#;
            line.replace("PATH", path).replace("ID", id)
        };
        let places = [
            "/home/me/.claude/projects/-p/ID",
            r"C:\\Users\\me\\.claude\\projects\\C--p\\ID",
            r"d:\\new\\.claude\\projects\\C--p\\ID",
            r"\\\\server\\share\\ID",
            "e:/claude/ID",
        ];
        let a = line("session-a", places[0]);
        for place in places {
            let b = line("session-b", place);
            let compared = Comparison::of(&session(&[&a]), &session(&[&b]));
            assert!(compared.is_empty(), "{place}");
        }
        let other = line("session-b", places[1]).replace("saved", "lost");
        let compared = Comparison::of(&session(&[&a]), &session(&[&other]));
        assert!(!compared.is_empty());
    }

    #[test]
    fn comparison_blanks_ids_of_subagents_only() {
        let (a, b) = (session(&[]), session(&[]));
        let names = Names::of([&a, &b]);
        let blanked = |text: &str| {
            let line = names.blanked(text.as_bytes().to_vec());
            String::from_utf8(line).expect("text")
        };
        for (text, expected) in [
            (
                r#"{"agentId":"abcdef12","x":1}"#,
                "{\"agentId\":\"#\",\"x\":1}",
            ),
            ("agentId: abcdef agentId: abc", "agentId: # agentId: abc"),
            (
                "agent-abcdef.jsonl agent-agent-abcdef",
                "agent-#.jsonl agent-agent-abcdef",
            ),
            ("agents agentagent-123456", "agents agentagent-#"),
            ("agent-agentId\":\"abcdef", "agent-#\":\"abcdef"),
            ("agent-abc\"agentId\":\"abcdef", "agent-abc\"agentId\":\"#"),
        ] {
            assert_eq!(blanked(text), expected);
        }
    }

    #[test]
    fn comparison_ignores_ids_in_unreadable_lines_and_of_subagents() {
        let a = session(&[
            r#"{"type":"user","message":{"content":"x"},"toolUseResult":{"agentId":"abcdef12"},"uuid":"u1","sessionId":"session-a"}"#,
            r#"{"torn":"3d731db0-0000-4000-8000-000000000001"#,
        ]);
        let b = session(&[
            r#"{"type":"user","message":{"content":"x"},"toolUseResult":{"agentId":"ffffff34"},"uuid":"v1","sessionId":"session-b"}"#,
            r#"{"torn":"9d731db0-0000-4000-8000-000000000002"#,
        ]);
        assert!(
            Comparison::of(&a, &b).is_empty(),
            "{:?}",
            Comparison::of(&a, &b)
        );
    }
}
