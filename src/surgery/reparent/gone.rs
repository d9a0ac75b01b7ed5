//! Which ids a plan removes from the file.

use rustc_hash::FxHashSet;

use crate::session::Session;
use crate::transcript::{EntryIx, Id};

use super::super::plan::Plan;

/// The entries that a plan removes.
pub(super) struct Gone<'a> {
    session: &'a Session,
    plan: &'a Plan,
    /// Whether all of them have UUIDs.
    pub(super) plain: bool,
    /// Removed uuids that also occur on a line that is kept: references to them stay valid.
    spared: FxHashSet<Id>,
}

impl<'a> Gone<'a> {
    pub(super) fn of(session: &'a Session, plan: &'a Plan) -> Self {
        let entries = session.entries();
        let mut gone = Self {
            session,
            plan,
            plain: true,
            spared: FxHashSet::default(),
        };
        if !session.graph().is_distinct() {
            let chained = entries.iter().filter(|e| e.is_chained());
            let staying = chained.filter(|e| !plan.drops(e.line)).map(|e| e.uuid);
            gone.spared = staying.filter(|&id| gone.contains(id)).collect();
        }
        gone.plain = !session.flags_of_any().odd_ids() || gone.ids().all(Id::is_uuid);
        gone
    }

    fn ids(&self) -> impl Iterator<Item = Id> + use<'a> {
        let (session, plan) = (self.session, self.plan);
        let lines = plan.dropped().map(|line| session.lines()[line]);
        let entries = lines.filter_map(|l| Some(session.entry(l.entry()?)));
        entries.filter(|e| e.is_chained()).map(|e| e.uuid)
    }

    /// Whether no reference has to move.
    pub(super) fn is_empty(&self) -> bool {
        !self.ids().any(|id| self.contains(id))
    }

    /// Whether the entry with this uuid is removed.
    pub(super) fn contains(&self, id: Id) -> bool {
        let entry = self.session.find(id).map(|i| self.session.entry(i));
        entry.is_some_and(|e| self.plan.drops(e.line)) && !self.spared.contains(&id)
    }

    /// Whether an entry's uuid is still in the file afterwards.
    pub(super) fn stays(&self, entry: EntryIx) -> bool {
        let e = self.session.entry(entry);
        !self.plan.drops(e.line) || e.is_chained() && !self.contains(e.uuid)
    }
}

/// A filter by the first eight bytes of the removed ids: every line names several ids, and nearly all of those stay, so
/// most are ruled out without being parsed.
pub(super) struct Hints {
    bits: Vec<u64>,
    shift: u32,
}

impl Hints {
    pub(super) fn new(gone: &Gone<'_>) -> Self {
        let len = (gone.ids().count() * 16).next_power_of_two().max(1 << 12);
        let mut hints = Self {
            bits: vec![0; len / 64],
            shift: 64 - len.trailing_zeros(),
        };
        for uuid in gone.ids().filter_map(Id::uuid) {
            let mut text = [0; 36];
            uuid.hyphenated().encode_lower(&mut text);
            if let Some(at) = hints.place(&text) {
                hints.bits[at / 64] |= 1 << (at % 64);
            }
        }
        hints
    }

    fn place(&self, text: &[u8]) -> Option<usize> {
        let head = u64::from_le_bytes(*text.first_chunk()?);
        Some((head.wrapping_mul(0x9e37_79b9_7f4a_7c15) >> self.shift) as usize)
    }

    /// Whether this text may be the id of a removed entry.
    pub(super) fn may_hold(&self, text: &[u8]) -> bool {
        let place = self.place(text);
        place.is_some_and(|at| self.bits[at / 64] >> (at % 64) & 1 == 1)
    }
}
