//! What becomes of the entries of a session when some of its lines change: only these are read.

use std::collections::VecDeque;

use rayon::prelude::*;

use crate::document::Document;
use crate::json::BYTE_ORDER_MARK;

use super::session::Index;
use crate::transcript::{
    Block, Entry, Id, Inventory, LineState, Renumbered, other_parent, parse_made,
};

/// How many lines that a plan touched one core reads at a time.
const TOUCHED: usize = 64;

/// The index of a document that was made from another, whose index this is. Next to nothing is held twice.
pub(crate) fn merged(index: Index, before: Document, document: &Document) -> Index {
    let touched = touched(&before, document);
    let mut next = Merged {
        states: index.lines,
        // Blocks stay where they are, and new ones come behind them: only entries know where theirs are.
        blocks: index.blocks,
        entries: Moving::new(index.entries),
        lines: Vec::with_capacity(document.lines().len()),
        inventory: Inventory {
            complete: false,
            ..index.inventory
        },
        old: 0,
    };
    // Lines that were touched are read on all cores; between them, others are taken over as they were read. Not all at
    // once, so that little is held twice.
    for window in touched.chunks(TOUCHED * rayon::current_num_threads() * 16) {
        let read = window.par_chunks(TOUCHED);
        let read: Vec<Readings> = read
            .map(|some| Readings::of(some, document, &before, &next))
            .collect();
        for readings in read {
            next.take(readings, document, &before);
        }
    }
    next.keep_until(document.lines().len(), document, &before);
    next.index()
}

/// A line of a document that is not as it was in the one before.
#[derive(Debug, Clone, Copy)]
struct Touched {
    line: u32,
    /// The line that it was made from, if it is known.
    from: Option<u32>,
}

/// The lines of a document that must be read.
fn touched(before: &Document, document: &Document) -> Vec<Touched> {
    // A mark before the first line is one of the file, before another it is none.
    let first = before.lines().first().map(|l| l.start());
    let is_first = |i: usize| i == 0 || Some(document.lines()[i].start()) == first;
    let marked = |i: usize| is_first(i) && document.text(i).starts_with(BYTE_ORDER_MARK);
    let mut out = Vec::new();
    let mut old = 0;
    for i in 0..document.lines().len() {
        let added = document.is_added_since(i, before);
        if !added && !marked(i) {
            continue;
        }
        let from = document.made_from(i).filter(|_| added && !marked(i));
        // Lines keep their order, and no two are made from one. One that was made in between is made from none of these.
        let from = from.and_then(|from| {
            let mut rest = before.lines()[old..].iter();
            old += rest.position(|l| l.start() == from.start())? + 1;
            Some(old as u32 - 1)
        });
        out.push(Touched {
            line: i as u32,
            from,
        });
    }
    out
}

/// What touched lines turned out to be.
struct Readings {
    lines: Vec<(Touched, Reading)>,
    /// Those that were read anew.
    index: Index,
}

enum Reading {
    /// The next line of the index.
    Anew,
    /// A line whose blocks are those of the one that it was made from.
    Again(Box<Entry>),
    /// The line that it was made from, but with this parent.
    Adopted(Id),
}

impl Readings {
    fn of(touched: &[Touched], document: &Document, before: &Document, known: &Merged) -> Self {
        let mut out = Self {
            lines: Vec::with_capacity(touched.len()),
            index: Index::with_capacity(0),
        };
        let (mut room, mut other) = (Vec::new(), Vec::new());
        for &one in touched {
            let Touched { line, from } = one;
            let made_from = from.and_then(|from| {
                let entry = known.states[from as usize].entry()?;
                Some((from, known.entries.peek(entry)?))
            });
            let edits = document.edits(line as usize).unwrap_or_default();
            let parent = made_from.and_then(|(_, other)| other_parent(edits, other));
            if let Some(parent) = parent {
                out.lines.push((one, Reading::Adopted(parent)));
                continue;
            }
            let made_from =
                made_from.map(|(from, entry)| (before.text_in(from as usize, &mut other), entry));
            let text = document.text_in(line as usize, &mut room);
            let reading = out.read(text, line == 0, made_from, &known.blocks);
            out.lines.push((one, reading));
        }
        out
    }

    fn read(
        &mut self,
        text: &[u8],
        first: bool,
        made_from: Option<(&[u8], &Entry)>,
        blocks: &[Block],
    ) -> Reading {
        let index = &mut self.index;
        if let Some((other, known)) = made_from
            && !text.starts_with(BYTE_ORDER_MARK)
        {
            let own = &blocks[known.blocks.0 as usize..known.blocks.1 as usize];
            let read = parse_made(text, (other, known, own), &mut index.blocks);
            match read {
                Ok((entry, repeated, true)) => {
                    index.inventory.take(text, &entry, repeated);
                    return Reading::Again(Box::new(entry));
                }
                Ok((entry, repeated, false)) => {
                    index.take(text, entry, repeated);
                    return Reading::Anew;
                }
                Err(_) => {}
            }
        }
        index.read(text, first);
        Reading::Anew
    }
}

/// A session that becomes another.
struct Merged {
    /// What the lines before were, and which of them is next.
    states: Vec<LineState>,
    old: usize,
    entries: Moving,
    blocks: Vec<Block>,
    lines: Vec<LineState>,
    inventory: Inventory,
}

impl Merged {
    fn take(&mut self, readings: Readings, document: &Document, before: &Document) {
        let Readings { lines, index } = readings;
        let numbers = self.inventory.append(&index.inventory);
        let mut anew = index.lines.iter();
        for (Touched { line, from }, reading) in lines {
            self.keep_until(line as usize, document, before);
            // What it was made from makes room.
            let other = from.and_then(|from| self.states[from as usize].entry());
            let other = other.filter(|&entry| self.entries.peek(entry).is_some());
            let other = other.map(|entry| self.entries.take(entry));
            // It was there when the line was read, and no other line is made from it.
            debug_assert!(!matches!(reading, Reading::Adopted(_)) || other.is_some());
            let taken = match reading {
                Reading::Again(entry) => Ok(*entry),
                Reading::Adopted(parent) => other
                    .map(|other| Entry { parent, ..other })
                    .ok_or(LineState::Opaque),
                Reading::Anew => {
                    let state = anew.next().copied().unwrap_or(LineState::Opaque);
                    let entry = state.entry().map(|e| index.entries[e]);
                    entry
                        .map(|e| self.with_blocks(e, &index.blocks, &numbers))
                        .ok_or(state)
                }
            };
            self.put(taken);
        }
    }

    /// Takes lines over as they were read, up to this one.
    fn keep_until(&mut self, line: usize, document: &Document, before: &Document) {
        for i in self.lines.len()..line {
            // Lines keep their order, and one that was kept lies where it lay.
            while before.lines()[self.old].start() != document.lines()[i].start() {
                self.old += 1;
            }
            let state = self.states[self.old];
            self.old += 1;
            let taken = state.entry().map(|e| self.entries.take(e)).ok_or(state);
            self.put(taken);
        }
    }

    fn with_blocks(&mut self, entry: Entry, blocks: &[Block], numbers: &Renumbered) -> Entry {
        let first = self.blocks.len() as u32;
        let own = entry.blocks.0 as usize..entry.blocks.1 as usize;
        let own = blocks[own].iter().map(|b| b.renamed(numbers));
        self.blocks.extend(own);
        Entry {
            blocks: (first, self.blocks.len() as u32),
            ..entry
        }
    }

    fn put(&mut self, taken: Result<Entry, LineState>) {
        let line = self.lines.len() as u32;
        self.lines.push(match taken {
            Ok(entry) => LineState::Entry(self.entries.put(Entry { line, ..entry })),
            Err(state) => state,
        });
    }

    fn index(self) -> Index {
        Index {
            lines: self.lines,
            entries: self.entries.end(),
            blocks: self.blocks,
            inventory: self.inventory,
        }
    }
}

/// Entries that become those of another session, where they are.
struct Moving {
    entries: Vec<Entry>,
    /// How many were put.
    put: usize,
    /// The first that was not taken, nor is among those that had to make room.
    next: usize,
    /// Those before it that were not asked for yet: where more is put in than was taken out, they give way.
    waiting: VecDeque<Entry>,
}

impl Moving {
    fn new(entries: Vec<Entry>) -> Self {
        Self {
            entries,
            put: 0,
            next: 0,
            waiting: VecDeque::new(),
        }
    }

    /// The entry that has this number and was not taken yet; they are asked for in order.
    fn peek(&self, number: usize) -> Option<&Entry> {
        let first = self.next - self.waiting.len();
        let waiting = self.waiting.get(number.checked_sub(first)?);
        waiting.or_else(|| self.entries.get(number))
    }

    /// The entry that had this number; they are asked for in order.
    fn take(&mut self, number: usize) -> Entry {
        let first = self.next - self.waiting.len();
        if let Some(&entry) = self.waiting.get(number - first) {
            self.waiting.drain(..=number - first);
            return entry;
        }
        self.waiting.clear();
        self.next = number + 1;
        self.entries[number]
    }

    /// Puts an entry behind those that were; its number.
    fn put(&mut self, entry: Entry) -> u32 {
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
        self.put as u32 - 1
    }

    fn end(mut self) -> Vec<Entry> {
        self.entries.truncate(self.put);
        self.entries.shrink_to_fit();
        self.entries
    }
}
