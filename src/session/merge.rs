//! Deriving the index of a session from that of another: only lines that are not kept are read.

use std::collections::VecDeque;

use rayon::prelude::*;

use crate::document::{Document, LineIx, LineMap, LineSource};
use crate::json::BYTE_ORDER_MARK;

use super::build::Index;
use crate::transcript::{
    Block, BlockIx, BlockRange, Entry, EntryIx, Id, Inventory, LineState, Renumbered, other_parent,
    parse_edited,
};

/// How many changed lines one core reads at a time.
const LINES_PER_TASK: usize = 64;

/// Returns the index of `new`, which was built from `old`; `index` is that of `old`, and its memory is reused.
///
/// `lines` must be in order.
pub(super) fn merged(index: Index, old: &Document, new: &Document, lines: &LineMap) -> Index {
    let changed = changed_lines(new, lines);
    let mut next = Merged {
        states: index.lines,
        // Blocks stay where they are, and new ones are appended: only entries know where theirs are.
        blocks: index.blocks,
        entries: MovingEntries::new(index.entries),
        lines: Vec::with_capacity(new.lines().len()),
        inventory: Inventory {
            complete: false,
            ..index.inventory
        },
        map: lines,
    };
    // Changed lines are read on all cores; the lines between them are taken over. Some at a time, so that few results are
    // in memory twice.
    for some in changed.chunks(LINES_PER_TASK * rayon::current_num_threads() * 16) {
        let tasks = some.par_chunks(LINES_PER_TASK);
        let read: Vec<ReadLines> = tasks
            .map(|some| ReadLines::read(some, (old, new), &next))
            .collect();
        for lines in read {
            next.take(lines);
        }
    }
    next.keep_until(new.lines().len());
    next.index()
}

/// A line of the new document that must be read.
#[derive(Debug, Clone, Copy)]
struct ChangedLine {
    line: LineIx,
    /// The old line that it is an edited version of.
    edited: Option<LineIx>,
}

/// Returns the lines of the new document that must be read, in order.
fn changed_lines(new: &Document, lines: &LineMap) -> Vec<ChangedLine> {
    let mut out = Vec::new();
    for (i, &source) in new.numbers().zip(lines.sources()) {
        // Clients strip a byte order mark from the first line of the file only, so a marked line that becomes or ceases
        // to be the first must be read again.
        let first = LineIx::default();
        let is_or_was_first = i == first || source.old_line() == Some(first);
        let marked = is_or_was_first && new.text(i).starts_with(BYTE_ORDER_MARK);
        let edited = match source {
            LineSource::Kept(_) if !marked => continue,
            LineSource::Edited(old) if !marked => Some(old),
            _ => None,
        };
        out.push(ChangedLine { line: i, edited });
    }
    out
}

/// What some changed lines hold.
struct ReadLines {
    lines: Vec<(ChangedLine, ReadLine)>,
    /// The index of those that were parsed in full.
    index: Index,
}

enum ReadLine {
    /// The line was parsed in full: it is the next line of [`ReadLines::index`].
    Parsed,
    /// The entry changed, but its blocks are those of the old line.
    SameBlocks(Box<Entry>),
    /// The old entry, but with this parent.
    OtherParent(Id),
}

impl ReadLines {
    fn read(changed: &[ChangedLine], (old, new): (&Document, &Document), known: &Merged) -> Self {
        let mut out = Self {
            lines: Vec::with_capacity(changed.len()),
            index: Index::with_capacity(0),
        };
        let (mut buffer, mut old_buffer) = (Vec::new(), Vec::new());
        for &one in changed {
            let line = one.line;
            let old_entry = one.edited.and_then(|from| {
                let entry = known.states[from].entry()?;
                Some((from, known.entries.peek(entry)?))
            });
            let edits = new.edits(line).unwrap_or_default();
            let parent = old_entry.and_then(|(_, entry)| other_parent(edits, entry));
            if let Some(parent) = parent {
                out.lines.push((one, ReadLine::OtherParent(parent)));
                continue;
            }
            let old_entry =
                old_entry.map(|(from, entry)| (old.text_in(from, &mut old_buffer), entry));
            let text = new.text_in(line, &mut buffer);
            let read = out.read_line(text, line == LineIx::default(), old_entry, &known.blocks);
            out.lines.push((one, read));
        }
        out
    }

    fn read_line(
        &mut self,
        text: &[u8],
        first: bool,
        old: Option<(&[u8], &Entry)>,
        blocks: &[Block],
    ) -> ReadLine {
        let index = &mut self.index;
        if let Some((old_text, entry)) = old
            && !text.starts_with(BYTE_ORDER_MARK)
        {
            let own = &blocks[entry.blocks.range()];
            match parse_edited(text, (old_text, entry, own), &mut index.blocks) {
                Ok((entry, repeated, true)) => {
                    index.inventory.take(text, &entry, repeated);
                    return ReadLine::SameBlocks(Box::new(entry));
                }
                Ok((entry, repeated, false)) => {
                    index.take(text, entry, repeated);
                    return ReadLine::Parsed;
                }
                Err(_) => {}
            }
        }
        index.read(text, first);
        ReadLine::Parsed
    }
}

/// The new index under construction.
struct Merged<'a> {
    /// What the old lines were.
    states: Vec<LineState>,
    entries: MovingEntries,
    blocks: Vec<Block>,
    lines: Vec<LineState>,
    inventory: Inventory,
    map: &'a LineMap,
}

impl Merged<'_> {
    fn take(&mut self, read: ReadLines) {
        let ReadLines { lines, index } = read;
        let numbers = self.inventory.append(&index.inventory);
        let mut parsed = index.lines.iter();
        for (ChangedLine { line, edited }, read) in lines {
            self.keep_until(line.index());
            // The old version is removed first, which makes room for the new one.
            let old = edited.and_then(|from| self.states[from].entry());
            let old = old.map(|entry| self.entries.take(entry));
            let taken = match read {
                ReadLine::SameBlocks(entry) => Ok(*entry),
                ReadLine::OtherParent(parent) => old
                    .map(|mut old| {
                        old.parent = parent;
                        old
                    })
                    .ok_or(LineState::Opaque),
                ReadLine::Parsed => {
                    let state = parsed.next().copied().unwrap_or(LineState::Opaque);
                    let entry = state.entry().map(|e| index.entries[e]);
                    entry
                        .map(|e| self.with_blocks(e, &index.blocks, &numbers))
                        .ok_or(state)
                }
            };
            self.push(taken);
        }
    }

    /// Takes over the lines before `line` that were not taken yet; all of them are kept.
    fn keep_until(&mut self, line: usize) {
        let map = self.map;
        for source in &map.sources()[self.lines.len()..line] {
            let state = source.old_line().map(|old| self.states[old]);
            let state = state.unwrap_or(LineState::Opaque);
            let taken = state.entry().map(|e| self.entries.take(e)).ok_or(state);
            self.push(taken);
        }
    }

    fn with_blocks(&mut self, mut entry: Entry, blocks: &[Block], numbers: &Renumbered) -> Entry {
        let first = BlockIx::new(self.blocks.len());
        let own = blocks[entry.blocks.range()]
            .iter()
            .map(|b| b.renamed(numbers));
        self.blocks.extend(own);
        entry.blocks = BlockRange::new(first, BlockIx::new(self.blocks.len()));
        entry
    }

    fn push(&mut self, taken: Result<Entry, LineState>) {
        let line = LineIx::new(self.lines.len());
        self.lines.push(match taken {
            Ok(mut entry) => {
                entry.line = line;
                LineState::Entry(self.entries.put(entry))
            }
            Err(state) => state,
        });
    }

    fn index(self) -> Index {
        Index {
            lines: self.lines,
            entries: self.entries.finish(),
            blocks: self.blocks,
            inventory: self.inventory,
        }
    }
}

/// The entries of the old session, which become those of the new one in the same memory.
struct MovingEntries {
    entries: Vec<Entry>,
    /// How many new entries are in place.
    put: usize,
    /// The first old entry that was neither taken nor moved to `waiting`.
    next: usize,
    /// Old entries before `next` that were not taken yet. They are moved here where new entries need their place.
    waiting: VecDeque<Entry>,
}

impl MovingEntries {
    fn new(entries: Vec<Entry>) -> Self {
        Self {
            entries,
            put: 0,
            next: 0,
            waiting: VecDeque::new(),
        }
    }

    /// Returns the old entry with this number, unless it or a later one was taken.
    fn peek(&self, number: EntryIx) -> Option<&Entry> {
        let first = self.next - self.waiting.len();
        let waiting = self.waiting.get(number.index().checked_sub(first)?);
        waiting.or_else(|| self.entries.get(number.index()))
    }

    /// Removes the old entry with this number. Entries are taken in order.
    fn take(&mut self, number: EntryIx) -> Entry {
        let number = number.index();
        let first = self.next - self.waiting.len();
        if let Some(&entry) = self.waiting.get(number - first) {
            self.waiting.drain(..=number - first);
            return entry;
        }
        self.waiting.clear();
        self.next = number + 1;
        self.entries[number]
    }

    /// Appends a new entry and returns its number.
    fn put(&mut self, entry: Entry) -> EntryIx {
        if self.put == self.entries.len() {
            self.entries.push(entry);
        } else {
            if self.put == self.next {
                self.waiting.push_back(self.entries[self.next]);
                self.next += 1;
            }
            self.entries[self.put] = entry;
        }
        self.put += 1;
        EntryIx::new(self.put - 1)
    }

    fn finish(mut self) -> Vec<Entry> {
        self.entries.truncate(self.put);
        self.entries.shrink_to_fit();
        self.entries
    }
}
