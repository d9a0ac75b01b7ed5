//! A transcript, read and indexed.

use std::borrow::Cow;
use std::io;
use std::path::Path;
use std::sync::{Arc, OnceLock};

use rayon::prelude::*;

use crate::document::{Document, LineIx, Source};
use crate::json::{Span, decode, lookup_around};
use crate::transcript::{
    Block, BlockIx, Entry, EntryHead, EntryIx, Flags, Id, Inventory, Kind, LineState,
};

use super::build::explicit_leaf;
use super::calls::{At, Calls};
use super::entries::Entries;
use super::graph::Graph;
use super::turns::{Turns, unfinished};

/// A transcript with the meaning of its lines.
#[derive(Debug, Clone)]
pub struct Session {
    pub(super) document: Document,
    pub(super) lines: Vec<LineState>,
    pub(super) entries: Entries,
    // Derived sessions that only have more metadata share these.
    pub(super) blocks: Arc<Vec<Block>>,
    pub(super) graph: Arc<Graph>,
    pub(super) calls: Arc<Calls>,
    pub(super) turns: Arc<Turns>,
    pub(super) inventory: Inventory,
    /// Computed on demand, on one core: a thread that waits for it may be one of the pool.
    pub(super) unfinished: OnceLock<Option<u32>>,
}

impl Default for Session {
    /// Returns an empty session.
    fn default() -> Self {
        Self::new(Document::from_bytes(Vec::new()))
    }
}

impl Session {
    /// Reads the transcript at `path`, which must be a regular file; see [`Source::open`].
    pub fn open(path: impl AsRef<Path>) -> io::Result<Self> {
        Source::open(path.as_ref()).map(Self::read)
    }

    /// Reads a transcript that is in memory.
    pub fn from_bytes(bytes: impl Into<Vec<u8>>) -> Self {
        Self::read(Source::Owned(bytes.into()))
    }

    /// Reads the transcript at a path that the user wrote, which may be a pipe like `/dev/stdin`; see
    /// [`Source::open_file_or_pipe`].
    pub fn open_file_or_pipe(path: impl AsRef<Path>) -> io::Result<Self> {
        Source::open_file_or_pipe(path.as_ref()).map(Self::read)
    }

    /// Returns the lines as they are in the file.
    pub fn document(&self) -> &Document {
        &self.document
    }

    /// Returns what each line turned out to be.
    pub fn lines(&self) -> &[LineState] {
        &self.lines
    }

    /// Returns what each line turned out to be, with its number.
    pub fn numbered_lines(&self) -> impl ExactSizeIterator<Item = (LineIx, LineState)> {
        self.document.numbers().zip(self.lines.iter().copied())
    }

    /// Returns the entries in file order.
    pub fn entries(&self) -> &[Entry] {
        self.entries.all()
    }

    /// Returns an entry by its number.
    pub fn entry(&self, number: EntryIx) -> &Entry {
        &self.entries()[number]
    }

    /// Returns the numbers of all entries in file order.
    pub fn numbers(
        &self,
    ) -> impl ExactSizeIterator<Item = EntryIx> + DoubleEndedIterator + Clone + use<> {
        EntryIx::first(self.entries().len())
    }

    /// Returns the entries in file order, with their numbers.
    pub fn numbered(
        &self,
    ) -> impl ExactSizeIterator<Item = (EntryIx, &Entry)> + DoubleEndedIterator {
        self.numbers().zip(self.entries())
    }

    /// Returns the same as [`Session::numbered`], to be worked on by all cores.
    pub(crate) fn par_numbered(&self) -> impl IndexedParallelIterator<Item = (EntryIx, &Entry)> {
        let all = self.entries().par_iter().enumerate();
        all.map(|(i, entry)| (EntryIx::new(i), entry))
    }

    /// Returns what each entry is, for passes over all entries that need nothing else of them.
    pub fn heads(&self) -> &[EntryHead] {
        self.entries.heads()
    }

    /// Whether some entry may be of this kind. False is certain; true may be outdated, if such an entry was removed.
    pub fn may_have(&self, kind: Kind) -> bool {
        self.inventory.kinds & 1 << kind as u8 != 0
    }

    /// Returns the facts that may be true of some entry; others are true of none.
    pub fn flags_of_any(&self) -> Flags {
        self.inventory.flags
    }

    /// Returns the entries of which a fact is true, with their numbers: `session.entries_with(Flags::boundary)`.
    ///
    /// Returns at once where it is true of none.
    pub fn entries_with(
        &self,
        fact: impl Fn(Flags) -> bool,
    ) -> impl Iterator<Item = (EntryIx, &Entry)> {
        let some = fact(self.inventory.flags);
        let heads = if some { self.heads() } else { &[] };
        let found = heads.iter().enumerate().filter(move |(_, h)| fact(h.flags));
        found.map(|(i, _)| (EntryIx::new(i), &self.entries()[i]))
    }

    /// Returns the entries of a kind, with their numbers. Returns at once where there are none.
    pub fn entries_of(&self, kind: Kind) -> impl Iterator<Item = (EntryIx, &Entry)> {
        let heads = if self.may_have(kind) {
            self.heads()
        } else {
            &[]
        };
        let found = heads
            .iter()
            .enumerate()
            .filter(move |(_, h)| h.kind == kind);
        found.map(|(i, _)| (EntryIx::new(i), &self.entries()[i]))
    }

    /// Returns the boundaries of compactions, on the live path or not, with their numbers.
    pub fn boundaries(&self) -> impl Iterator<Item = (EntryIx, &Entry)> {
        self.entries_with(Flags::boundary)
    }

    /// Returns the content blocks of an entry.
    pub fn blocks(&self, entry: &Entry) -> &[Block] {
        &self.blocks[entry.blocks.range()]
    }

    /// Returns a block by its number.
    pub fn block(&self, number: BlockIx) -> &Block {
        &self.blocks[number]
    }

    /// Returns the thinking blocks of an entry.
    pub fn thinking(&self, entry: EntryIx) -> impl Iterator<Item = At> + '_ {
        let blocks = self.entry(entry).blocks.numbers();
        let thinking = blocks.filter(|&b| self.block(b).kind.is_thinking());
        thinking.map(move |block| At { entry, block })
    }

    /// Returns the graph: parents, children and the live path.
    pub fn graph(&self) -> &Graph {
        &self.graph
    }

    /// Returns the calls and their results.
    pub fn calls(&self) -> &Calls {
        &self.calls
    }

    /// Returns the turns of the live path.
    pub fn turns(&self) -> &Turns {
        &self.turns
    }

    /// Returns the number of the last turn if it is unfinished: a call has no result, or the model has not answered the last
    /// result. The number is 0 if the turn's prompt is not in the file.
    pub fn unfinished_turn(&self) -> Option<u32> {
        *self.unfinished.get_or_init(|| unfinished(self))
    }

    /// Returns the entry to which a person went back, if the conversation continues there.
    pub(crate) fn explicit_leaf(&self) -> Option<EntryIx> {
        self.find(explicit_leaf(self.document(), self.entries())?)
    }

    /// Returns the entry of the graph with this uuid; of duplicates the last.
    pub fn find(&self, uuid: Id) -> Option<EntryIx> {
        self.graph.find(self.entries(), uuid)
    }

    /// Returns the same as [`Session::find`] for a uuid that `entry` refers to, faster where its owner is shortly before.
    pub fn find_near(&self, entry: EntryIx, uuid: Id) -> Option<EntryIx> {
        self.graph.find_above(self.entries(), entry, uuid)
    }

    /// Returns the line of an entry.
    pub fn text(&self, entry: &Entry) -> &[u8] {
        self.document.text(entry.line)
    }

    /// Returns the name of the tool that a block of an entry calls, as JSON; empty where it has none.
    ///
    /// There are few different names. They are kept in the inventory, so that the line need not be read.
    pub fn tool_json<'a>(&'a self, entry: &Entry, block: &Block) -> &'a [u8] {
        match self
            .inventory
            .tools
            .get(usize::from(block.named).wrapping_sub(1))
        {
            Some(name) => name,
            None => block.name(self.text(entry)),
        }
    }

    /// Returns the name of the tool that a block of an entry calls; empty where it has none.
    pub fn tool_name(&self, entry: &Entry, block: &Block) -> Cow<'_, str> {
        match self.tool_json(entry, block) {
            raw if raw.starts_with(b"\"") => decode(raw),
            _ => Cow::Borrowed(""),
        }
    }

    /// Returns where the value at a path of keys is in an entry's line.
    pub fn lookup(&self, entry: &Entry, path: &[&str]) -> Option<Span> {
        lookup_around(self.text(entry), entry.words(), path)
    }

    /// Returns the decoded string at a path of keys, if there is one.
    pub fn string(&self, entry: &Entry, path: &[&str]) -> Option<String> {
        let raw = self.lookup(entry, path)?.of(self.text(entry));
        raw.starts_with(b"\"").then(|| decode(raw).into_owned())
    }

    /// Returns an entry's `uuid` as it is written.
    pub fn uuid(&self, entry: &Entry) -> Option<String> {
        entry.uuid.text().or_else(|| self.string(entry, &["uuid"]))
    }
}
