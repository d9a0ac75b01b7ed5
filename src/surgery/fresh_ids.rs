//! Fresh ids for a copy: the one walk that renames entries, sessions, paths and plans as lines go out.

use std::io::{self, BufWriter, Write};
use std::ops::Range;
use std::sync::LazyLock;

use memchr::memmem::Finder;
use rustc_hash::FxHashMap;
use siphasher::sip128::SipHasher24;
use uuid::Uuid;

use super::copy_names::CopyNames;
use crate::json::{Span, encode, lookup};
use crate::session::Session;
use crate::threads::in_order;
use crate::transcript::{Entry, EntryHead, ID_LEN, Id, Kind, LONGEST_ID, reread, visit_ids};

/// How many bytes of lines one worker renames at a time: few, so that none waits long for another. They are written as they
/// come. Whole mebibytes are written faster on a machine of one's own, as few large pages; but where a host takes free memory
/// away from its guests, just such pages have to be given back first, and that takes five times as long.
const PIECE: usize = 1 << 18;

/// The note on where an entry came from: around the session's id and the entry's.
const FORK: [&str; 3] = [r#","forkedFrom":{"sessionId":"#, r#","messageUuid":"#, "}"];

/// Fresh ids for the entries of a copy, substituted while its lines are written.
///
/// The substitution maps ids one to one and changes nothing else, so the copy has the conversation and the
/// faults of the session that was verified. They are not kept as edits of each line: a session of 1 GiB has
/// 439,000 entries with about four ids each, which would take 110 MB. Instead every line is checked on its way
/// out: unless it is evident that it is still the same entry, it is read again and compared.
#[derive(Debug, Default)]
pub struct FreshIds<'a> {
    /// The transcript whose entries are most of what is renamed. It knows them, so they are not listed again.
    main: Option<Main<'a>>,
    /// All other ids.
    ids: FxHashMap<Id, Uuid>,
    /// Lengths that ids have, as bits: most strings are ruled out by their length alone.
    lengths: u128,
    /// Whether some id is not a UUID.
    has_odd_ids: bool,
    /// The session's old id and its new one.
    session: Option<(String, Uuid)>,
    /// Ids that were named one by one, mostly the session's.
    named: Vec<(Id, Uuid)>,
    /// The beginning of the note on an entry's origin, up to the entry's id.
    fork_head: Vec<u8>,
}

/// A transcript whose entries get fresh uuids.
#[derive(Debug, Clone, Copy)]
struct Main<'a> {
    session: &'a Session,
    /// How many of them are not among those that are renamed otherwise.
    count: usize,
}

/// How an ASCII character looks that is spelt with an escape.
static ESCAPED: LazyLock<Finder<'static>> = LazyLock::new(|| Finder::new(b"\\u00"));

impl<'a> FreshIds<'a> {
    /// Prepares the ids of a copy whose transcript is `session`.
    pub fn for_copy(names: &CopyNames, session: &'a Session) -> Self {
        let mut ids = Self::default();
        let own_id = session.session_id_text();
        // The file's name and what the entries say may differ; both mean this session. A name that a person
        // gave the file may be any word, and is not an id.
        if Id::of(names.old_id.as_bytes()).is_uuid() {
            ids.id(&names.old_id, names.new_id);
        }
        if let Some(own_id) = &own_id {
            ids.id(own_id, names.new_id);
        }
        ids.session(own_id.as_deref().unwrap_or(&names.old_id), names.new_id);
        ids.main_entries(session);
        ids
    }

    /// Makes all entries those of session `new`, whatever they were, and names `old` as their origin.
    /// Where `old` is named elsewhere, it is an id like any other.
    fn session(&mut self, old: &str, new: Uuid) {
        self.session = Some((old.to_owned(), new));
        self.fork_head = [FORK[0], &encode(old), FORK[1]].concat().into_bytes();
    }

    /// Renames one id.
    fn id(&mut self, old: &str, new: Uuid) {
        if old.len() < 128 {
            self.lengths |= 1 << old.len();
        }
        let old = Id::of(old.as_bytes());
        self.has_odd_ids |= !old.is_uuid();
        self.ids.insert(old, new);
        self.named.retain(|(id, _)| *id != old);
        self.named.push((old, new));
    }

    /// Gives every entry of a transcript a fresh uuid. Which one depends on the new session, so that is named before.
    pub fn entries(&mut self, session: &Session) {
        let all = session.entries().iter().filter(|e| e.uuid.is_some());
        self.fresh_for_all(session, all);
    }

    /// The same for the transcript that has most of them.
    fn main_entries(&mut self, session: &'a Session) {
        // Those of the graph are found there.
        let is_found = |t: &EntryHead| t.is_chained() && !t.flags.odd_ids();
        let all = session.heads().iter().zip(session.entries());
        let others = all.filter(|(t, e)| !is_found(t) && e.uuid.is_some());
        let others: Vec<&Entry> = others.map(|(_, e)| e).collect();
        let is_new = |e: &&Entry| !e.uuid.is_uuid() || session.find(e.uuid).is_none();
        self.fresh_for_all(session, others.into_iter().filter(is_new));
        let known = self.ids.keys().filter(|id| session.find(**id).is_some());
        let count = session.graph().count() - known.count();
        if count > 0 {
            self.lengths |= 1 << ID_LEN;
        }
        self.main = Some(Main { session, count });
    }

    fn fresh_for_all<'e>(&mut self, session: &Session, entries: impl Iterator<Item = &'e Entry>) {
        for e in entries {
            let mut len = ID_LEN;
            if !e.uuid.is_uuid() {
                self.has_odd_ids = true;
                let raw = lookup(session.text(e), &["uuid"]).map_or(0, Span::len);
                if raw > LONGEST_ID {
                    continue;
                }
                len = session.string(e, &["uuid"]).map_or(0, |u| u.len());
            }
            self.lengths |= 1 << len.min(127);
            if self.get(e.uuid).is_none() {
                self.ids.insert(e.uuid, self.fresh(e.uuid));
            }
        }
    }

    /// A uuid for what had this id: another for each id and each new session.
    ///
    /// It is made from both and not drawn, so that nobody has to remember it. The new session's own was drawn, and is the
    /// key: who does not know it cannot choose ids that become one.
    fn fresh(&self, id: Id) -> Uuid {
        let session = self.session.as_ref().map_or(Uuid::nil(), |(_, new)| *new);
        let random = SipHasher24::new_with_key(session.as_bytes()).hash(&id.bytes());
        uuid::Builder::from_random_bytes(random.as_bytes()).into_uuid()
    }

    /// What an id is renamed to.
    pub fn get(&self, id: Id) -> Option<Uuid> {
        let known = self.ids.get(&id).copied();
        known.or_else(|| {
            let main = self.main.filter(|_| id.is_uuid())?;
            main.session.find(id).map(|_| self.fresh(id))
        })
    }

    /// How many ids are renamed.
    pub fn len(&self) -> usize {
        self.ids.len() + self.main.map_or(0, |m| m.count)
    }

    /// Whether none is.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Whether whatever is renamed has as many bytes as before.
    fn keep_lengths(&self) -> bool {
        self.lengths == 1 << ID_LEN
    }

    /// How many bytes the note on an entry's origin takes.
    fn fork_len(&self) -> usize {
        self.fork_head.len() + "\"\"".len() + ID_LEN + FORK[2].len()
    }

    /// Writes renamed lines, with their endings, to `out`, and reads again those that could have come out otherwise.
    fn lines(
        &self,
        session: &Session,
        lines: Range<usize>,
        out: &mut Vec<u8>,
    ) -> Result<(), NotAsMeant> {
        let document = session.document();
        let (mut patches, mut room) = (Vec::new(), Vec::new());
        for i in lines {
            let number = session.lines()[i].entry();
            let entry = number.map(|e| &session.entries()[e]);
            let kin = number.map_or(KnownRenames::default(), |e| self.kin(session, e));
            let (text, start) = (document.text_in(i, &mut room), out.len());
            let evident = self.line(text, entry, kin, &mut patches, out);
            // Tests read all of them, so that what is called evident is.
            if (!evident || cfg!(debug_assertions))
                && entry.is_some_and(|e| !self.is_as_meant(text, e, &out[start..]))
            {
                return Err(NotAsMeant { line: i + 1 });
            }
            out.extend_from_slice(document.lines()[i].ending().bytes());
        }
        Ok(())
    }

    /// Which ids of an entry are renamed for certain, because it is of the transcript that has most of them.
    fn kin(&self, session: &Session, entry: usize) -> KnownRenames {
        let main = self.main.is_some_and(|m| std::ptr::eq(m.session, session));
        let e = &session.entries()[entry];
        let known = |there: bool, id: Id| Some(id).filter(|id| main && there && id.is_uuid());
        KnownRenames {
            own: known(e.is_chained(), e.uuid),
            parent: known(session.graph().parent(entry).is_some(), e.parent),
            named: e
                .refers_to
                .some()
                .filter(|&id| known(true, id).is_some() && session.find_near(entry, id).is_some()),
        }
    }

    /// The same as [`FreshIds::get`], mostly without looking for it.
    fn get_near(&self, id: Id, kin: KnownRenames) -> Option<Uuid> {
        match self.named.iter().find(|(named, _)| *named == id) {
            Some(&(_, new)) => Some(new),
            None if kin.holds(id) => Some(self.fresh(id)),
            None => self.get(id),
        }
    }

    /// Whether a renamed line is the same entry under its new names.
    fn is_as_meant(&self, text: &[u8], entry: &Entry, renamed: &[u8]) -> bool {
        let Ok(now) = reread(renamed, (text, entry)) else {
            return false;
        };
        let called = |old: Id| self.get(old).map_or(old, Id::from);
        // A word that is an id elsewhere stays in fields that are not known to hold one.
        let may_be_called = |now: Id, old: Id| now == old || now == called(old);
        let session = match &self.session {
            Some((_, new)) if entry.session.is_some() => now.session == Id::from(*new),
            _ => false,
        };
        now.kind == entry.kind
            && now.subtype == entry.subtype
            && now.prompt == entry.prompt
            && now.time == entry.time
            && may_be_called(now.message_id, entry.message_id)
            && now.uuid == called(entry.uuid)
            && now.parent == called(entry.parent)
            && may_be_called(now.refers_to, entry.refers_to)
            && (session || now.session == called(entry.session))
            && now.blocks.1 - now.blocks.0 == entry.blocks.1 - entry.blocks.0
    }

    /// Writes a renamed line to `out`; whether it is evident that it is the same entry under its new names.
    fn line(
        &self,
        text: &[u8],
        entry: Option<&Entry>,
        kin: KnownRenames,
        patches: &mut Vec<Patch>,
        out: &mut Vec<u8>,
    ) -> bool {
        patches.clear();
        let mut uuid = None;
        let mut seen = false;
        if let Some(entry) = entry
            && self.patch_seen(text, (entry, kin), patches, &mut uuid)
        {
            seen = true;
            self.patch_fork(text, entry, uuid, patches);
        } else if let Some(entry) = entry {
            patches.clear();
            let walked = visit_ids(text, entry.words(), |used| {
                let is_key = std::ptr::eq(used.span.of(text), used.key);
                let of_entry = used.depth == 1 && !is_key;
                if of_entry && used.key == b"sessionId" {
                    if let Some((_, new)) = &self.session {
                        patches.push(Patch::new(used.span.start, used.span.end, *new));
                    }
                    return;
                }
                if of_entry && used.key == b"uuid" {
                    uuid = Some(used.span);
                }
                let len = used.span.len();
                let possible = self.lengths & (1 << len.min(127)) != 0 || used.is_escaped(text);
                if !possible || used.within == b"forkedFrom" {
                    return;
                }
                let id = used.id(text);
                let named = !is_key && REFERENCE_FIELDS.contains(&used.key);
                if let Some(new) = self.get(id)
                    && (named || is_surely_id(id, used.span.of(text)))
                {
                    patches.push(Patch::new(used.span.start, used.span.end, new));
                }
            });
            debug_assert!(walked.is_ok(), "a line with an entry can be walked");
            self.patch_fork(text, entry, uuid, patches);
        } else {
            self.patch_quoted(text, patches);
        }
        // Ids in the place of ids of the same length, all of those that the entry has, and a note at its end: between
        // the quotes that they stand in, nothing of that can make another entry of it.
        let evident = seen;
        if !evident {
            patches.sort_by_key(|p| (p.start, p.end));
        }
        let mut at = 0;
        for patch in patches.iter() {
            if patch.start < at {
                continue;
            }
            out.extend_from_slice(&text[at as usize..patch.start as usize]);
            patch.with.write(&self.fork_head, text, out);
            at = patch.end;
        }
        out.extend_from_slice(&text[at as usize..]);
        evident
    }

    /// FreshIds the ids of an entry where they were seen when it was read, and finds its own; false where it takes a walk.
    ///
    /// What is passed over are the words of the conversation, which are most of the bytes.
    fn patch_seen(
        &self,
        text: &[u8],
        (entry, kin): (&Entry, KnownRenames),
        patches: &mut Vec<Patch>,
        uuid: &mut Option<Span>,
    ) -> bool {
        let plain = match entry.kind {
            Kind::User | Kind::Assistant | Kind::System => true,
            // Some carry whole messages, with text of their own.
            _ => !entry.flags.deep_ids(),
        };
        if !plain || self.has_odd_ids || self.lengths != 1 << ID_LEN || entry.flags.forked() {
            return false;
        }
        // Whatever session an entry is of, it becomes one of the new one.
        if let Some((_, new)) = &self.session
            && entry.session.is_some()
            && !self.named.contains(&(entry.session, *new))
        {
            return false;
        }
        // An id may be spelt with escapes; nobody does, but the client would read it.
        if entry.flags.numbered_characters() {
            let mut around = entry.outside_conversation(text).into_iter();
            if around.any(|(_, stretch)| ESCAPED.find(stretch).is_some()) {
                return false;
            }
        }
        let Some(places) = entry.ids.places(text.len()) else {
            return false;
        };
        let own = [entry.uuid, entry.parent, entry.session, entry.refers_to];
        let mut renamed = own.map(|id| !id.is_some());
        for start in places {
            // Where all ids are of this length, those that are renamed are UUIDs, or strings that look alike.
            let inner = &text[start..start + ID_LEN];
            if inner[8] != b'-' || inner[23] != b'-' {
                continue;
            }
            let id = Id::of(inner);
            let behind = |key: &[u8]| is_value_of(&text[..start - 1], key);
            match self.get_near(id, kin) {
                Some(new) => {
                    patches.push(Patch::new(start as u32, (start + ID_LEN) as u32, new));
                    for (done, own) in renamed.iter_mut().zip(own) {
                        *done |= own == id;
                    }
                }
                None if behind(b"\"sessionId\"") => return false,
                None => {}
            }
            if id == entry.uuid && behind(b"\"uuid\"") {
                *uuid = Some(Span::new(start, start + ID_LEN));
            }
        }
        // What names something else stays; whatever else was missed, a walk finds.
        let mut rest = own.into_iter().zip(renamed).filter(|(_, done)| !done);
        rest.all(|(id, _)| self.get(id).is_none())
    }

    fn patch_fork(&self, text: &[u8], entry: &Entry, uuid: Option<Span>, patches: &mut Vec<Patch>) {
        if !entry.is_chained() || entry.flags.forked() {
            return;
        }
        let (Some(_), Some(uuid)) = (&self.session, uuid) else {
            return;
        };
        let Some(end) = memchr::memrchr(b'}', text) else {
            return;
        };
        patches.push(Patch::new(end as u32, end as u32, With::Fork(uuid)));
    }

    /// In a line that cannot be read, ids are renamed where they stand whole between quotes, so that
    /// what is recovered from it later belongs to the copy.
    fn patch_quoted(&self, text: &[u8], patches: &mut Vec<Patch>) {
        let mut open = 0;
        for quote in memchr::memchr_iter(b'"', text) {
            let inner = &text[open..quote];
            if (2..=128).contains(&inner.len())
                && self.lengths & (1 << inner.len().min(127)) != 0
                && let Some(new) = self.get(Id::of(inner))
                && is_surely_id(Id::of(inner), inner)
            {
                patches.push(Patch::new(open as u32, quote as u32, new));
            }
            open = quote + 1;
        }
    }
}

/// Fields that name an entry or a session, whatever their value looks like. In other fields only a value that
/// cannot be anything else is taken for an id: imported sessions have been seen with words for ids.
const REFERENCE_FIELDS: [&[u8]; 22] = [
    b"uuid",
    b"parentUuid",
    b"logicalParentUuid",
    b"sourceToolAssistantUUID",
    b"leafUuid",
    b"messageId",
    b"snapshotMessageId",
    b"headUuid",
    b"anchorUuid",
    b"tailUuid",
    b"uuids",
    b"allUuids",
    b"messageUuid",
    b"source_uuid",
    b"retractedMessageUuids",
    b"supersedesUuids",
    b"refusedUserMessageUuid",
    b"afterUuid",
    b"cutUuid",
    b"interruptedMessageId",
    b"sessionId",
    b"session_id",
];

/// Whether a string that spells an id cannot be an ordinary word: a UUID, or long and with a digit in it.
fn is_surely_id(id: Id, text: &[u8]) -> bool {
    id.is_uuid() || text.len() >= 16 && text.iter().any(u8::is_ascii_digit)
}

/// Whether what stands before a value is this key, however it is spaced.
fn is_value_of(before: &[u8], key: &[u8]) -> bool {
    let before = before.trim_ascii_end();
    before
        .strip_suffix(b":")
        .is_some_and(|b| b.trim_ascii_end().ends_with(key))
}

struct Patch {
    start: u32,
    end: u32,
    with: With,
}

impl Patch {
    fn new(start: u32, end: u32, with: impl Into<With>) -> Self {
        Self {
            start,
            end,
            with: with.into(),
        }
    }
}

/// Ids of an entry that are renamed for certain.
#[derive(Debug, Clone, Copy, Default)]
struct KnownRenames {
    own: Option<Id>,
    parent: Option<Id>,
    named: Option<Id>,
}

impl KnownRenames {
    fn holds(&self, id: Id) -> bool {
        [self.own, self.parent, self.named].contains(&Some(id))
    }
}

/// What takes the place of a span.
enum With {
    Id(Uuid),
    Bytes(Vec<u8>),
    /// The note on where an entry came from that has its uuid here.
    Fork(Span),
}

impl With {
    fn write(&self, fork_head: &[u8], line: &[u8], out: &mut Vec<u8>) {
        match self {
            With::Id(id) => {
                let mut text = [0; ID_LEN];
                id.hyphenated().encode_lower(&mut text);
                out.extend_from_slice(&text);
            }
            With::Bytes(bytes) => out.extend_from_slice(bytes),
            With::Fork(uuid) => {
                out.extend_from_slice(fork_head);
                out.extend_from_slice(&line[(uuid.start as usize - 1)..=(uuid.end as usize)]);
                out.extend_from_slice(FORK[2].as_bytes());
            }
        }
    }
}

impl From<Uuid> for With {
    fn from(id: Uuid) -> Self {
        With::Id(id)
    }
}

impl From<Vec<u8>> for With {
    fn from(bytes: Vec<u8>) -> Self {
        With::Bytes(bytes)
    }
}

/// A line that was renamed does not read back as the entry that it was. This is a bug, and nothing is published.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("line {line} does not read back as planned")]
pub struct NotAsMeant {
    /// The line, counted from 1.
    pub line: usize,
}

/// Writes a transcript, renamed where `renames` is given: all cores rename, and read again what they made, while this
/// thread writes. Fails with [`NotAsMeant`] inside where a line is not the entry that it was.
pub(crate) fn emit(
    session: &Session,
    renames: Option<&FreshIds<'_>>,
    out: &mut impl Write,
) -> io::Result<()> {
    let document = session.document();
    let Some(renames) = renames else {
        let mut out = BufWriter::with_capacity(PIECE, out);
        document.write(0, document.lines().len(), &mut out)?;
        return out.flush();
    };
    let pieces = document.pieces(PIECE);
    let make = |piece: usize, out: &mut Vec<u8>| {
        out.reserve(PIECE + PIECE / 4);
        renames.lines(session, pieces[piece].clone(), out)
    };
    in_order(pieces.len(), make, |bytes| out.write_all(bytes))
}

/// How many bytes [`emit`] would write.
///
/// Told without writing where all that is renamed keeps its length, as it does but for odd ids, plans,
/// paths into another project, and subagents beside the transcript.
pub(crate) fn emitted_len(session: &Session, renames: Option<&FreshIds<'_>>) -> u64 {
    let len = session.document().len();
    let Some(renames) = renames else { return len };
    if renames.keep_lengths() {
        let noted = |t: &&EntryHead| t.is_chained() && !t.flags.forked();
        let heads = session.heads();
        if !heads.iter().any(|t| t.flags.odd_ids()) {
            let forks = heads.iter().filter(noted).count();
            return len + (forks * renames.fork_len()) as u64;
        }
    }
    let mut counted = Counted(0);
    emit(session, Some(renames), &mut counted).map_or(len, |()| counted.0)
}

/// About how many bytes [`emit`] writes, told at once: no more than that, but for long ids of foreign sessions.
pub(crate) fn least_emitted(session: &Session, renames: Option<&FreshIds<'_>>) -> u64 {
    match renames {
        Some(renames) if !renames.keep_lengths() => 0,
        _ => session.document().len(),
    }
}

/// Counts what is written to it.
struct Counted(u64);

impl Write for Counted {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.0 += bytes.len() as u64;
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::document::Document;

    const OLD: &str = "11111111-2222-4333-8444-555555555555";

    fn uuid(n: u128) -> Uuid {
        Uuid::from_u128(0x4000_8000_0000_0000_0000 | n)
    }

    /// What becomes of a line between two entries of a session with usual ids.
    fn renamed(line: &str) -> String {
        let entry = |n| {
            let uuid = uuid(n);
            format!(
                r#"{{"type":"user","uuid":"{uuid}","sessionId":"{OLD}","message":{{"content":"x"}}}}"#
            )
        };
        let lines = [entry(1), line.to_owned(), entry(2)].join("\n");
        let session = Session::new(Document::from_bytes(lines));
        let mut renames = FreshIds::default();
        renames.id(OLD, uuid(10));
        renames.session(OLD, uuid(10));
        renames.main_entries(&session);
        let mut out = Vec::new();
        emit(&session, Some(&renames), &mut out).expect("memory takes all");
        let text = String::from_utf8(out).expect("what it was is UTF-8");
        text.lines().nth(1).unwrap_or_default().to_owned()
    }

    #[test]
    fn whatever_session_a_line_was_of() {
        let new = uuid(10);
        for old in ["imported-7".to_owned(), uuid(1).to_string(), OLD.to_owned()] {
            for kind in ["custom-title", "user", "mode"] {
                let line = |id: &str| format!(r#"{{"type":"{kind}","sessionId":"{id}"}}"#);
                assert_eq!(renamed(&line(&old)), line(&new.to_string()));
            }
        }
    }

    #[test]
    fn words_and_origins_stay_wherever_they_are() {
        for line in [
            format!(
                r#"{{"type":"progress","message":{{"message":{{"content":"{}"}}}}}}"#,
                uuid(1)
            ),
            format!(
                r#"{{"type":"progress","data":{{"message":{{"content":"{}"}}}}}}"#,
                uuid(1)
            ),
            format!(
                r#"{{"type":"note","data":{{"forkedFrom":{{"messageUuid":"{}"}}}}}}"#,
                uuid(1)
            ),
        ] {
            assert_eq!(renamed(&line), line);
        }
        let line = format!(
            r#"{{"type":"note","data":{{"messageUuid":"{}"}}}}"#,
            uuid(1)
        );
        assert!(!renamed(&line).contains(&uuid(1).to_string()));
    }

    #[test]
    fn a_line_is_held_against_what_it_was() {
        let line = format!(
            r#"{{"parentUuid":"{}","type":"user","message":{{"role":"user","content":[{{"type":"text","text":"hi"}}]}},"uuid":"{}","timestamp":"2026-01-02T03:04:05.000Z","sessionId":"{OLD}"}}"#,
            uuid(1),
            uuid(2)
        );
        let session = Session::new(Document::from_bytes(line.clone()));
        let entry = &session.entries()[0];
        let mut renames = FreshIds::default();
        renames.id(OLD, uuid(10));
        renames.session(OLD, uuid(10));
        renames.id(&uuid(1).to_string(), uuid(11));
        renames.id(&uuid(2).to_string(), uuid(12));
        let mut out = Vec::new();
        let kin = KnownRenames::default();
        renames.line(line.as_bytes(), Some(entry), kin, &mut Vec::new(), &mut out);
        assert!(renames.is_as_meant(line.as_bytes(), entry, &out));

        let renamed = String::from_utf8(out).expect("what it was is UTF-8");
        let spoilt = [
            // An old name that was left, a wrong one, another kind, words that are cut, a torn line.
            (uuid(11), uuid(1)),
            (uuid(12), uuid(11)),
            (uuid(10), uuid(12)),
        ]
        .map(|(from, to)| renamed.replace(&from.to_string(), &to.to_string()))
        .into_iter()
        .chain([
            renamed.replace(r#""type":"user""#, r#""type":"system""#),
            renamed.replace(r#"{"type":"text","text":"hi"}"#, ""),
            renamed[..renamed.len() - 1].to_owned(),
        ]);
        for line_now in spoilt {
            let fine = renames.is_as_meant(line.as_bytes(), entry, line_now.as_bytes());
            assert!(!fine, "{line_now}");
        }
    }
}
