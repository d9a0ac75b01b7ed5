//! Building a session from lines.

use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, OnceLock};

use rayon::prelude::*;

use crate::document::{Document, LineIx, Source};
use crate::json::{BYTE_ORDER_MARK, Malformed, lookup};
use crate::transcript::{
    Block, Entry, EntryIx, Flags, Id, Inventory, Kind, LineState, Repeated, RepeatedFields, parse,
    parse_first,
};

use super::calls::Calls;
use super::entries::Entries;
use super::graph::Graph;
use super::live_path::PathHints;
use super::preserved::Preserved;
use super::session::Session;
use super::turns::Turns;

/// How many bytes of lines are read at a time: many small pieces keep all cores busy, however long lines are.
const PIECE: usize = 1 << 18;

impl Session {
    /// Splits bytes into lines and indexes them in one pass, whatever they are.
    pub fn read(source: Source) -> Self {
        Self::read_counting(source, &AtomicU64::new(0))
    }

    /// Reads like [`Session::read`], and adds to `done` how many bytes are read, as it goes on.
    pub fn read_counting(source: Source, done: &AtomicU64) -> Self {
        let mut index = Index::with_capacity(0);
        let document = Document::read(
            source,
            |chunk| {
                let bytes = chunk.rest().map_or(0, <[u8]>::len);
                let (mut index, mut cache) = (Index::with_capacity(0), RepeatedFields::default());
                while let Some(rest) = chunk.rest() {
                    let first = chunk.is_at_start();
                    // Most lines are entries, and reading one finds out where it ends.
                    let read = index.read_entry(rest, first, &mut cache);
                    let text = chunk.end_line(read.unwrap_or_default());
                    if read.is_err() {
                        index.read(text.unwrap_or_default(), first);
                    }
                }
                done.fetch_add(bytes as u64, Ordering::Relaxed);
                index
            },
            |piece| index.append(piece),
        );
        index.shrink();
        index.finish(document)
    }

    /// Indexes a document, whatever is in it.
    pub fn new(document: Document) -> Self {
        let mut index = Index::with_capacity(document.lines().len());
        let pieces = document.pieces(PIECE);
        // Some pieces at a time, so that few results are in memory twice.
        for some in pieces.chunks(rayon::current_num_threads() * 8) {
            let read: Vec<Index> = some
                .par_iter()
                .map(|piece| {
                    let lines = piece.start.up_to(piece.end);
                    let mut index = Index::with_capacity(lines.len());
                    for i in lines {
                        index.read(document.text(i), i == LineIx::default());
                    }
                    index
                })
                .collect();
            for piece in read {
                index.append(piece);
            }
        }
        index.finish(document)
    }
}

/// The lines of a session under construction.
pub(super) struct Index {
    pub(super) lines: Vec<LineState>,
    pub(super) entries: Vec<Entry>,
    pub(super) blocks: Vec<Block>,
    pub(super) inventory: Inventory,
}

impl Index {
    pub(super) fn with_capacity(lines: usize) -> Self {
        Self {
            lines: Vec::with_capacity(lines),
            entries: Vec::with_capacity(lines),
            blocks: Vec::new(),
            inventory: Inventory::default(),
        }
    }

    /// Reads the line that `rest` begins with, if it is an entry; returns where its newline is, if it has one.
    fn read_entry(
        &mut self,
        rest: &[u8],
        first: bool,
        cache: &mut RepeatedFields,
    ) -> Result<Option<usize>, Malformed> {
        if has_stray_mark(rest, first) {
            return Err(Malformed { at: 0 });
        }
        let (entry, repeated, newline) = parse_first(rest, &mut self.blocks, cache)?;
        self.take(rest, entry, repeated);
        Ok(newline)
    }

    /// Reads the next line; `first` says whether it is the first of the file.
    pub(super) fn read(&mut self, text: &[u8], first: bool) {
        let read = if has_stray_mark(text, first) {
            Err(Malformed { at: 0 })
        } else {
            parse(text, &mut self.blocks)
        };
        match read {
            Ok((entry, repeated)) => self.take(text, entry, repeated),
            Err(_) if text.iter().all(u8::is_ascii_whitespace) => self.lines.push(LineState::Blank),
            Err(_) => self.lines.push(LineState::Opaque),
        }
    }

    /// Appends the entry of the next line.
    pub(super) fn take(&mut self, text: &[u8], mut entry: Entry, repeated: Repeated) {
        self.inventory.take(text, &entry, repeated);
        let own = entry.blocks.range();
        for block in self.blocks[own].iter_mut().filter(|b| b.kind.is_call()) {
            block.named = self.inventory.tool(block.name(text));
        }
        entry.line = LineIx::new(self.lines.len());
        self.lines
            .push(LineState::Entry(EntryIx::new(self.entries.len())));
        self.entries.push(entry);
    }

    /// Releases memory that was reserved and not used.
    fn shrink(&mut self) {
        self.lines.shrink_to_fit();
        self.entries.shrink_to_fit();
        self.blocks.shrink_to_fit();
    }

    /// Appends later lines.
    pub(super) fn append(&mut self, next: Index) {
        let (entries, blocks) = (self.entries.len(), self.blocks.len());
        let lines = self.lines.len();
        self.lines
            .extend(next.lines.into_iter().map(|state| match state {
                LineState::Entry(e) => LineState::Entry(e.plus(entries)),
                state => state,
            }));
        self.entries.extend(next.entries.into_iter().map(|mut e| {
            e.blocks = e.blocks.plus(blocks);
            e.line = e.line.plus(lines);
            e
        }));
        let numbers = self.inventory.append(&next.inventory);
        let blocks = next.blocks.iter().map(|b| b.renamed(&numbers));
        self.blocks.extend(blocks);
    }

    /// Builds the graph, the calls and the turns.
    pub(super) fn finish(self, document: Document) -> Session {
        let Self {
            lines,
            entries,
            mut blocks,
            inventory,
        } = self;
        let hints = path_hints(&document, &entries, inventory.flags);
        let entries = Entries::new(entries);
        let (graph, calls) = rayon::join(
            || Graph::build(entries.all(), entries.heads(), &hints),
            || Calls::build(entries.all(), &mut blocks),
        );
        let turns = Turns::build(entries.heads(), &graph);
        Session {
            document,
            lines,
            entries,
            blocks: Arc::new(blocks),
            graph: Arc::new(graph),
            calls: Arc::new(calls),
            turns: Arc::new(turns),
            inventory,
            unfinished: OnceLock::new(),
        }
    }
}

/// Whether a line other than the first begins with a byte order mark, which clients only strip from the file.
fn has_stray_mark(line: &[u8], first: bool) -> bool {
    !first && line.starts_with(BYTE_ORDER_MARK)
}

/// What lines say about the live path beyond the facts of their entries.
pub(super) fn path_hints(document: &Document, entries: &[Entry], flags_of_any: Flags) -> PathHints {
    let boundaries = entries.iter().enumerate().filter(|(_, e)| e.is_boundary());
    let read = |(i, e): (usize, &Entry)| Preserved::read(EntryIx::new(i), document.text(e.line));
    PathHints {
        explicit_leaf: explicit_leaf(document, entries),
        preserved: if flags_of_any.boundary() {
            boundaries.filter_map(read).collect()
        } else {
            Vec::new()
        },
    }
}

/// Returns the leaf that the newest clients pin: that of a last prompt marked `explicit` with no chained entry after it.
pub(super) fn explicit_leaf(document: &Document, entries: &[Entry]) -> Option<Id> {
    let last = entries
        .iter()
        .rev()
        .take_while(|e| !e.is_chained())
        .find(|e| e.kind == Kind::LastPrompt)?;
    let text = document.text(last.line);
    (lookup(text, &["explicit"])?.of(text) == b"true")
        .then_some(last.refers_to)
        .filter(|id| id.is_some())
}
