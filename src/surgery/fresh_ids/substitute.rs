//! Substituting fresh ids in one line, and checking that the line is still the same entry.

use std::ops::Range;
use std::sync::LazyLock;

use memchr::memmem::Finder;
use uuid::Uuid;

use crate::document::LineIx;
use crate::json::Span;
use crate::session::Session;
use crate::transcript::{Entry, EntryIx, ID_LEN, Id, Kind, reread, visit_ids};

use super::{FORK, FreshIds, NotAsMeant};

/// The beginning of an escaped ASCII character.
static ESCAPED: LazyLock<Finder<'static>> = LazyLock::new(|| Finder::new(b"\\u00"));

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

impl FreshIds<'_> {
    /// Writes lines with fresh ids and their endings to `out`. Lines that could have come out wrong are read again.
    pub(super) fn lines(
        &self,
        session: &Session,
        lines: Range<LineIx>,
        out: &mut Vec<u8>,
    ) -> Result<(), NotAsMeant> {
        let document = session.document();
        let (mut patches, mut room) = (Vec::new(), Vec::new());
        for i in lines.start.up_to(lines.end) {
            let number = session.lines()[i].entry();
            let entry = number.map(|e| session.entry(e));
            let known = number.map_or(KnownRenames::default(), |e| self.known_renames(session, e));
            let (text, start) = (document.text_in(i, &mut room), out.len());
            let evident = self.line(text, entry, known, &mut patches, out);
            // Debug builds read every line again, so tests show that what is called evident is right.
            if (!evident || cfg!(debug_assertions))
                && entry.is_some_and(|e| !self.is_as_meant(text, e, &out[start..]))
            {
                return Err(NotAsMeant { line: i.from_one() });
            }
            out.extend_from_slice(document.lines()[i].ending().bytes());
        }
        Ok(())
    }

    /// Returns the ids of an entry that surely get a fresh uuid, because they are ids of the copy's own transcript.
    fn known_renames(&self, session: &Session, entry: EntryIx) -> KnownRenames {
        let main = self.main.is_some_and(|m| std::ptr::eq(m.session, session));
        let e = session.entry(entry);
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

    /// Does the same as [`FreshIds::get`], mostly without a look-up.
    fn get_near(&self, id: Id, known: KnownRenames) -> Option<Uuid> {
        match self.named.iter().find(|(named, _)| *named == id) {
            Some(&(_, new)) => Some(new),
            None if known.holds(id) => Some(self.fresh(id)),
            None => self.get(id),
        }
    }

    /// Whether a line with fresh ids is the same entry under its new names.
    pub(super) fn is_as_meant(&self, text: &[u8], entry: &Entry, renamed: &[u8]) -> bool {
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
            && now.blocks.len() == entry.blocks.len()
    }

    /// Writes a line with fresh ids to `out`. Returns whether it is evident that it is still the same entry.
    pub(super) fn line(
        &self,
        text: &[u8],
        entry: Option<&Entry>,
        known: KnownRenames,
        patches: &mut Vec<Patch>,
        out: &mut Vec<u8>,
    ) -> bool {
        patches.clear();
        let mut uuid = None;
        let mut seen = false;
        if let Some(entry) = entry
            && self.patch_seen(text, (entry, known), patches, &mut uuid)
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
        // Ids of the same length inside the same quotes, and a note at the end, cannot make another entry of a line.
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

    /// Patches ids at the positions that were recorded while the line was read, and finds the entry's own uuid.
    ///
    /// The text of the conversation, most of the bytes, is not looked at. Returns false if the line has to be walked.
    fn patch_seen(
        &self,
        text: &[u8],
        (entry, known): (&Entry, KnownRenames),
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
            match self.get_near(id, known) {
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

    /// Patches ids between quotes in a line that cannot be read, so that what is recovered from it later belongs
    /// to the copy.
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

/// Whether what stands before a value is this key, however it is spaced.
fn is_value_of(before: &[u8], key: &[u8]) -> bool {
    let before = before.trim_ascii_end();
    before
        .strip_suffix(b":")
        .is_some_and(|b| b.trim_ascii_end().ends_with(key))
}

pub(super) struct Patch {
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

/// Ids of an entry that surely get a fresh uuid.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct KnownRenames {
    own: Option<Id>,
    parent: Option<Id>,
    named: Option<Id>,
}

impl KnownRenames {
    fn holds(&self, id: Id) -> bool {
        [self.own, self.parent, self.named].contains(&Some(id))
    }
}

/// What replaces a span.
pub(super) enum With {
    Id(Uuid),
    Bytes(Vec<u8>),
    /// The note on an entry's origin; the entry's uuid stands at this span.
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
