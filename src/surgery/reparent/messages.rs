//! Finds the lines of an API message.

use hashbrown::HashTable;
use hashbrown::hash_table::Entry as Slot;

use crate::transcript::{Entry, Id, Kind, hash as hash_of_id};

/// The lines of each message, in file order. They are linked, which saves a list for each message.
pub(super) struct Messages<'a> {
    entries: &'a [Entry],
    first: HashTable<u32>,
    next: Vec<u32>,
}

impl<'a> Messages<'a> {
    /// Links the lines of all messages.
    pub(super) fn of(entries: &'a [Entry]) -> Self {
        let mut all = Self {
            entries,
            first: HashTable::new(),
            next: vec![u32::MAX; entries.len()],
        };
        let message = |i: u32| entries[i as usize].message_id;
        let mut runs = entries.len();
        while runs > 0 {
            let (last, id) = (runs - 1, entries[runs - 1].message_id);
            let is_line = |e: &Entry| e.kind == Kind::Assistant && e.message_id == id;
            let run = entries[..runs].iter().rev().take_while(|e| is_line(e));
            let first = runs - run.count().max(1);
            runs = first;
            if !is_line(&entries[last]) || !id.is_some() {
                continue;
            }
            (first..last).for_each(|i| all.next[i] = i as u32 + 1);
            let slot = all.first.entry(
                hash_of_id(id),
                |&i| message(i) == id,
                |&i| hash_of_id(message(i)),
            );
            match slot {
                Slot::Occupied(mut known) => {
                    all.next[last] = std::mem::replace(known.get_mut(), first as u32);
                }
                Slot::Vacant(free) => drop(free.insert(first as u32)),
            }
        }
        all
    }

    /// Returns the entries that are lines of this message.
    pub(super) fn lines(&self, message: Id) -> impl Iterator<Item = usize> + Clone {
        let is_it = |&i: &u32| self.entries[i as usize].message_id == message;
        let first = self.first.find(hash_of_id(message), is_it).copied();
        std::iter::successors(first, |&i| {
            Some(self.next[i as usize]).filter(|&next| next != u32::MAX)
        })
        .map(|i| i as usize)
    }
}
