//! What a search remembers about a session, because it plans the same operations many times.

use std::sync::{Mutex, OnceLock, PoisonError};

use rayon::prelude::*;
use rustc_hash::FxHashMap;
use smallvec::SmallVec;

use crate::session::{At, Call, Session};
use crate::transcript::{Entry, EntryColumn, EntryIx, Id};

use super::drop_tools::{Stub, companion_of};
use super::stub::{Note, note_on};

/// Facts about the lines of a session, which also hold for sessions derived from it as far as these have the same lines.
///
/// Reading outputs for the notes that replace them was half of what planning a `trim` took, and finding the entries that
/// belong to calls nearly all of it on a session with many progress entries.
pub(crate) struct Known<'a> {
    original: &'a Session,
    /// By the entry and block of a result in the original.
    notes: Mutex<FxHashMap<(EntryIx, u32, Stub), Option<Note>>>,
    /// For each entry of the original, the calls that it belongs to without making or answering them.
    companions: OnceLock<EntryColumn<SmallVec<[Id; 1]>>>,
}

impl<'a> Known<'a> {
    /// Starts to remember facts about a session.
    pub(crate) fn of(original: &'a Session) -> Self {
        Self {
            original,
            notes: Mutex::default(),
            companions: OnceLock::new(),
        }
    }

    /// Returns the number of an entry in the original, if its line is unchanged.
    fn original_entry(&self, session: &Session, entry: &Entry) -> Option<EntryIx> {
        let (own, first) = (session.document(), self.original.document());
        let line = entry.line;
        if !std::ptr::eq(own.source(), first.source()) || !own.is_original(line) {
            return None;
        }
        let states = self.original.lines();
        states.get(own.origin(line)?.index())?.entry()
    }

    /// Returns the note for a result's output, if it is smaller.
    pub(super) fn note_on(
        &self,
        session: &Session,
        call: &Call,
        at: At,
        stub: Stub,
    ) -> Option<Note> {
        let entry = session.entry(at.entry);
        let make = || note_on(session, call, at, stub);
        let Some(number) = self.original_entry(session, entry) else {
            return make();
        };
        let key = (number, session.block(at.block).span.start, stub);
        let lock = || self.notes.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(known) = lock().get(&key) {
            return known.clone();
        }
        let note = make();
        lock().insert(key, note.clone());
        note
    }

    /// Whether an entry belongs to one of some calls, without making or answering it.
    pub(super) fn is_companion(
        &self,
        session: &Session,
        entry: &Entry,
        is_one: impl Fn(&Id) -> bool,
    ) -> bool {
        let read = || {
            let entries = self.original.entries().par_iter();
            let companions = entries.map(|e| companion_of(self.original, e).collect());
            EntryColumn::new(companions.collect())
        };
        match self.original_entry(session, entry) {
            Some(number) => {
                let known = self.companions.get_or_init(read);
                known[number].iter().any(is_one)
            }
            None => companion_of(session, entry).any(|id| is_one(&id)),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ops::DropTools;
    use crate::surgery::{Detail, Plan, Transform};

    const SESSIONS: [&str; 2] = [
        include_str!("../../fixtures/demo.jsonl"),
        include_str!("../../fixtures/regressions/queued.jsonl"),
    ];

    /// The operations that a search plans again and again.
    fn operations() -> Vec<DropTools> {
        let stub = |head, key_lines| DropTools {
            stub: true,
            head,
            tail: head,
            key_lines,
            ..DropTools::default()
        };
        vec![
            stub(0, false),
            stub(0, true),
            stub(2, true),
            DropTools::default(),
        ]
    }

    fn carried_out(session: &Session, plan: Plan) -> (Session, Vec<Vec<u8>>) {
        let mut plan = plan;
        let (document, lines) = plan.apply(session).expect("no overlaps");
        let texts = document.numbers().map(|i| document.text(i).to_vec());
        let texts = texts.collect();
        (session.derived(document, &lines), texts)
    }

    fn assert_same(session: &Session, known: &Known<'_>) {
        for operation in operations() {
            let plain = operation.plan(session, Detail::None).expect("a plan");
            let plain = carried_out(session, plain).1;
            for _ in 0..2 {
                let fast = operation.plan_with(session, Detail::None, Some(known));
                let fast = carried_out(session, fast.expect("a plan")).1;
                assert_eq!(plain, fast, "{operation:?}");
            }
        }
    }

    #[test]
    fn known_facts_change_no_plan() {
        for text in SESSIONS {
            let original = Session::from_bytes(text);
            let known = Known::of(&original);
            assert_same(&original, &known);
            for operation in operations() {
                let plan = operation.plan(&original, Detail::None).expect("a plan");
                let (changed, _) = carried_out(&original, plan);
                assert_same(&changed, &known);
            }
            assert_same(&Session::from_bytes(SESSIONS[0]), &known);
        }
    }
}
