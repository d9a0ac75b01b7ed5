//! Finds the lines of an API message.

use hashbrown::HashTable;
use hashbrown::hash_table::Entry as Slot;

use crate::transcript::{Entry, EntryColumn, EntryIx, Id, Kind, hash as hash_of_id};

/// The lines of each message, in file order. They are linked, which saves a list for each message.
pub(super) struct Messages<'a> {
    entries: &'a [Entry],
    first: HashTable<EntryIx>,
    next: EntryColumn<EntryIx>,
}

impl<'a> Messages<'a> {
    /// Links the lines of all messages.
    pub(super) fn of(entries: &'a [Entry]) -> Self {
        let mut all = Self {
            entries,
            first: HashTable::new(),
            next: EntryColumn::filled(EntryIx::MAX, entries.len()),
        };
        let message = |i: EntryIx| entries[i].message_id;
        let mut runs = entries.len();
        while runs > 0 {
            let last = EntryIx::new(runs - 1);
            let id = message(last);
            let is_line = |e: &Entry| e.kind == Kind::Assistant && e.message_id == id;
            let run = entries[..runs].iter().rev().take_while(|e| is_line(e));
            runs -= run.count().max(1);
            let first = EntryIx::new(runs);
            if !is_line(&entries[last]) || !id.is_some() {
                continue;
            }
            let all_but_last = first.up_to(last);
            all_but_last.for_each(|i| all.next[i] = i.plus(1));
            let slot = all.first.entry(
                hash_of_id(id),
                |&i| message(i) == id,
                |&i| hash_of_id(message(i)),
            );
            match slot {
                Slot::Occupied(mut known) => {
                    all.next[last] = std::mem::replace(known.get_mut(), first);
                }
                Slot::Vacant(free) => drop(free.insert(first)),
            }
        }
        all
    }

    /// Returns the entries that are lines of this message.
    pub(super) fn lines(&self, message: Id) -> impl Iterator<Item = EntryIx> + Clone {
        let is_it = |&i: &EntryIx| self.entries[i].message_id == message;
        let first = self.first.find(hash_of_id(message), is_it).copied();
        std::iter::successors(first, |&i| {
            Some(self.next[i]).filter(|&next| next != EntryIx::MAX)
        })
    }
}
