//! The entries of a session, with a column of what each of them is.

use rayon::prelude::*;

use crate::transcript::{Entry, EntryHead, EntryIx};

/// The entries of a session in file order.
///
/// Their heads are kept a second time in a column of 8 bytes each: most passes over a whole session need no more, and read
/// a twentieth of the memory so. Only this type writes either, so that they agree.
#[derive(Debug, Clone, Default)]
pub(crate) struct Entries {
    entries: Vec<Entry>,
    heads: Vec<EntryHead>,
}

impl Entries {
    /// Takes entries in file order.
    pub(super) fn new(entries: Vec<Entry>) -> Self {
        let heads = entries.par_iter().map(Entry::head).collect();
        Self { entries, heads }
    }

    /// Returns all entries.
    pub(super) fn all(&self) -> &[Entry] {
        &self.entries
    }

    /// Returns the head of each entry.
    pub(super) fn heads(&self) -> &[EntryHead] {
        &self.heads
    }

    /// Replaces one entry.
    pub(super) fn set(&mut self, number: EntryIx, entry: Entry) {
        self.heads[number.index()] = entry.head;
        self.entries[number.index()] = entry;
    }

    /// Appends entries.
    pub(super) fn extend(&mut self, entries: &[Entry]) {
        self.entries.reserve_exact(entries.len());
        self.heads.reserve_exact(entries.len());
        self.entries.extend_from_slice(entries);
        self.heads.extend(entries.iter().map(Entry::head));
    }

    /// Returns the entries without their column.
    pub(super) fn into_vec(self) -> Vec<Entry> {
        self.entries
    }
}
