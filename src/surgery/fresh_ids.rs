//! Fresh ids for a copy: which id each entry of the original gets.

mod emit;
mod substitute;
#[cfg(test)]
mod tests;

use rustc_hash::FxHashMap;
use siphasher::sip128::SipHasher24;
use uuid::Uuid;

use crate::json::{Span, encode, lookup};
use crate::session::Session;
use crate::transcript::{Entry, EntryHead, ID_LEN, Id, LONGEST_ID};

use super::copy_names::CopyNames;

pub use emit::NotAsMeant;
pub(crate) use emit::{emit, emitted_len, least_emitted};

/// The note on an entry's origin: what stands before the session's id, before the entry's, and after it.
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

    /// Gives every entry of another transcript of the copy, such as a subagent's, a fresh uuid.
    pub fn entries(&mut self, session: &Session) {
        let all = session.entries().iter().filter(|e| e.uuid.is_some());
        self.fresh_for_all(session, all);
    }

    /// Gives every entry of the copy's own transcript a fresh uuid.
    fn main_entries(&mut self, session: &'a Session) {
        // Entries of the graph are found by the session itself, and need not be listed.
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

    /// Computes the fresh uuid of an id.
    ///
    /// It is a keyed hash of the old id, so that no table has to remember it. The key is the random id of the new session:
    /// without knowing it, nobody can choose two ids that get the same uuid.
    fn fresh(&self, id: Id) -> Uuid {
        let session = self.session.as_ref().map_or(Uuid::nil(), |(_, new)| *new);
        let random = SipHasher24::new_with_key(session.as_bytes()).hash(&id.bytes());
        uuid::Builder::from_random_bytes(random.as_bytes()).into_uuid()
    }

    /// Returns the fresh uuid of an id, if the id is one of the copy's.
    pub fn get(&self, id: Id) -> Option<Uuid> {
        let known = self.ids.get(&id).copied();
        known.or_else(|| {
            let main = self.main.filter(|_| id.is_uuid())?;
            main.session.find(id).map(|_| self.fresh(id))
        })
    }

    /// Returns how many ids get a fresh uuid.
    pub fn len(&self) -> usize {
        self.ids.len() + self.main.map_or(0, |m| m.count)
    }

    /// Whether no id does.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Whether every id is as long as the one that replaces it.
    fn keep_lengths(&self) -> bool {
        self.lengths == 1 << ID_LEN
    }

    /// The length of the note on an entry's origin.
    fn fork_len(&self) -> usize {
        self.fork_head.len() + "\"\"".len() + ID_LEN + FORK[2].len()
    }
}
