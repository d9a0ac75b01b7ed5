//! Answers whether one entry descends from another, without walking up to the root for each question.

use crate::session::Graph;
use crate::transcript::{EntryColumn, EntryIx};

/// The entries in depth-first order: the descendants of an entry are one range.
pub(super) struct Ancestry {
    /// By entry, the range that begins with the entry itself; empty for entries of a cycle.
    ranges: EntryColumn<(u32, u32)>,
}

impl Ancestry {
    /// Numbers all entries.
    pub(super) fn of(graph: &Graph, len: usize) -> Self {
        let mut ranges = EntryColumn::filled((0, 0), len);
        let mut next = 0;
        let mut open = Vec::new();
        for root in EntryIx::first(len).filter(|&i| graph.parent(i).is_none()) {
            open.push((root, false));
            while let Some((i, done)) = open.pop() {
                if done {
                    ranges[i].1 = next;
                    continue;
                }
                ranges[i].0 = next;
                next += 1;
                open.push((i, true));
                open.extend(graph.children(i).map(|child| (child, false)));
            }
        }
        Self { ranges }
    }

    /// Whether `ancestor` is `entry` or above it.
    pub(super) fn descends(&self, entry: EntryIx, ancestor: EntryIx) -> bool {
        let (from, to) = self.ranges[ancestor];
        entry == ancestor || (from..to).contains(&self.ranges[entry].0)
    }
}
