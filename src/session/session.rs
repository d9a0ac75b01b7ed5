//! A transcript, read and indexed.

use std::borrow::Cow;
use std::io;
use std::path::Path;
use std::sync::{Arc, OnceLock};

use indexmap::IndexMap;
use rayon::prelude::*;

use crate::document::{Document, LineMap, LineSource, Source};
use crate::json::{BYTE_ORDER_MARK, Malformed, Span, decode, lookup, lookup_around};

use super::calls::{At, Calls};
use super::derive::merged;
use super::graph::Graph;
use super::turns::{Turns, unfinished};
use crate::transcript::{
    Block, Entry, EntryHead, Flags, Id, Inventory, Kind, LineState, Repeated, RepeatedFields,
    SYNTHETIC, parse, parse_first, parse_made,
};

/// How many bytes of lines are read at a time: many pieces keep all cores busy, however long lines are.
const PIECE: usize = 1 << 18;

/// How many entries are asked first what most of them repeat.
const FIRST: usize = 64;

/// How many entries one core counts at a time.
const COUNTED: usize = 1 << 14;

/// A transcript with what its lines mean.
#[derive(Debug, Clone)]
pub struct Session {
    document: Document,
    lines: Vec<LineState>,
    entries: Vec<Entry>,
    /// What each entry is.
    heads: Vec<EntryHead>,
    // A session that only has more metadata shares these.
    blocks: Arc<Vec<Block>>,
    graph: Arc<Graph>,
    calls: Arc<Calls>,
    turns: Arc<Turns>,
    inventory: Inventory,
    /// Found out when it is asked for, on one core: who waits for it may be one of those that would help.
    unfinished: OnceLock<Option<u32>>,
}

impl Default for Session {
    /// A session of nothing.
    fn default() -> Self {
        Self::new(Document::from_bytes(Vec::new()))
    }
}

impl Session {
    /// Reads the transcript at `path`.
    pub fn open(path: impl AsRef<Path>) -> io::Result<Self> {
        Source::open(path.as_ref()).map(Self::read)
    }

    /// Splits bytes into lines and indexes them in one go, whatever they are.
    pub fn read(source: Source) -> Self {
        let mut index = Index::with_capacity(0);
        let document = Document::read(
            source,
            |chunk| {
                let (mut index, mut repeated) =
                    (Index::with_capacity(0), RepeatedFields::default());
                while let Some(rest) = chunk.rest() {
                    let first = chunk.is_at_start();
                    // Most lines are whole, and who reads them sees where they end.
                    let read = index.read_whole(rest, first, &mut repeated);
                    let text = chunk.end_line(read.unwrap_or_default());
                    if read.is_err() {
                        index.read(text.unwrap_or_default(), first);
                    }
                }
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
        // Not all at once, so that what is read is never held twice.
        for window in pieces.chunks(rayon::current_num_threads() * 8) {
            let read: Vec<Index> = window
                .par_iter()
                .map(|piece| {
                    let mut index = Index::with_capacity(piece.len());
                    for i in piece.clone() {
                        index.read(document.text(i), i == 0);
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

    /// Indexes a document that was built from this session's, reading only the lines that are not kept.
    ///
    /// `lines` says where the lines of `document` came from; the builder of the document returned both.
    #[must_use]
    pub fn derived(&self, document: Document, lines: &LineMap) -> Self {
        self.clone().derive(document, lines)
    }

    /// Does the same as [`Session::derived`] where this session is no longer needed: its memory is reused.
    #[must_use]
    pub fn derive(self, document: Document, lines: &LineMap) -> Self {
        let fits = lines.old_len() == self.lines.len()
            && lines.sources().len() == document.lines().len();
        if !fits || !lines.is_in_order() {
            return Self::new(document);
        }
        if let Some(edited) = self.edited_in(&document, lines) {
            let more = self.read_more(&document);
            let mut index = Index {
                lines: self.lines,
                entries: self.entries,
                blocks: Vec::new(),
                inventory: self.inventory,
            };
            for (entry, text, repeated) in edited {
                // What it is was compared, or it would not be here.
                debug_assert_eq!(self.heads[entry.0], entry.1.head());
                index.inventory.complete = false;
                index.inventory.take(text, &entry.1, repeated);
                index.entries[entry.0] = entry.1;
            }
            let linked = Linked {
                heads: self.heads,
                blocks: self.blocks,
                graph: self.graph,
                calls: self.calls,
                turns: self.turns,
            };
            return index.continued(linked, more, document);
        }
        drop((self.heads, self.graph, self.calls, self.turns));
        let index = Index {
            lines: self.lines,
            entries: self.entries,
            blocks: Arc::unwrap_or_clone(self.blocks),
            inventory: self.inventory,
        };
        let next = merged(index, &self.document, &document, lines);
        next.finish(document)
    }

    /// What differs in a document that has this session's lines where they were, and at most some more behind them; `None`
    /// for any other, and where a line is linked otherwise than it was.
    fn edited_in<'a>(&self, document: &'a Document, lines: &LineMap) -> Option<Vec<Edited<'a>>> {
        let sources = lines.sources().get(..self.lines.len())?;
        let mut edited = Vec::new();
        for (i, &source) in sources.iter().enumerate() {
            if source.old_line() != Some(i) {
                return None;
            }
            if source == LineSource::Kept(i as u32) {
                continue;
            }
            let number = self.lines[i].entry()?;
            let (entry, text) = (&self.entries[number], document.text(i));
            if text.starts_with(BYTE_ORDER_MARK) {
                return None;
            }
            let other = (self.document.text(i), entry, self.blocks(entry));
            let (mut now, repeated, same_blocks) = parse_made(text, other, &mut Vec::new()).ok()?;
            now.line = entry.line;
            // Only what nothing else was found out by may differ; of a last prompt, more counts than its entry tells.
            let links = Entry {
                result: entry.result,
                window: entry.window,
                ids: entry.ids,
                ..now
            };
            if !same_blocks || links != *entry || entry.kind == Kind::LastPrompt {
                return None;
            }
            edited.push(((number, now), text, repeated));
        }
        Some(edited)
    }

    /// Reads the lines that a document has more.
    fn read_more(&self, document: &Document) -> Index {
        let mut more = Index::with_capacity(0);
        for i in self.lines.len()..document.lines().len() {
            more.read(document.text(i), i == 0);
        }
        more
    }

    /// Ends it where the program ends: the system takes memory back faster than piece by piece.
    pub fn forget(self) {
        self.document.give_back();
        std::mem::forget(self);
    }

    /// The lines as they are in the file.
    pub fn document(&self) -> &Document {
        &self.document
    }

    /// What each line turned out to be.
    pub fn lines(&self) -> &[LineState] {
        &self.lines
    }

    /// The records, in file order.
    pub fn entries(&self) -> &[Entry] {
        &self.entries
    }

    /// What each entry is: for who asks nothing else of them.
    pub fn heads(&self) -> &[EntryHead] {
        &self.heads
    }

    /// Whether some entry may be of this kind: false spares a look at all of them.
    pub fn may_have(&self, kind: Kind) -> bool {
        self.inventory.kinds & 1 << kind as u8 != 0
    }

    /// What may be true of some entry: what is not is true of none.
    pub fn flags_of_any(&self) -> Flags {
        self.inventory.flags
    }

    /// The boundaries of compactions, wherever they are, with their numbers.
    pub fn boundaries(&self) -> impl Iterator<Item = (usize, &Entry)> {
        let all = if self.inventory.flags.boundary() {
            &self.heads[..]
        } else {
            &[]
        };
        let all = all.iter().enumerate().filter(|(_, t)| t.is_boundary());
        all.map(|(i, _)| (i, &self.entries[i]))
    }

    /// One entry's content blocks.
    pub fn blocks(&self, entry: &Entry) -> &[Block] {
        &self.blocks[entry.blocks.0 as usize..entry.blocks.1 as usize]
    }

    /// A block by its number.
    pub fn block(&self, number: u32) -> &Block {
        &self.blocks[number as usize]
    }

    /// Where an entry's thinking is.
    pub fn thinking(&self, entry: usize) -> impl Iterator<Item = At> + '_ {
        let (from, to) = self.entries[entry].blocks;
        let thinking = (from..to).filter(|&b| self.block(b).kind.is_thinking());
        thinking.map(move |block| At {
            entry: entry as u32,
            block,
        })
    }

    /// Parents, children and the live path.
    pub fn graph(&self) -> &Graph {
        &self.graph
    }

    /// Calls and their results.
    pub fn calls(&self) -> &Calls {
        &self.calls
    }

    /// The turns of the live path.
    pub fn turns(&self) -> &Turns {
        &self.turns
    }

    /// The last turn, if it is unfinished: its calls await results, or its last result awaits the model.
    pub fn unfinished_turn(&self) -> Option<u32> {
        *self.unfinished.get_or_init(|| unfinished(self))
    }

    /// The entry of the graph with this uuid; of duplicates the last.
    pub fn find(&self, uuid: Id) -> Option<usize> {
        self.graph.find(&self.entries, uuid)
    }

    /// The same, for a uuid that an entry names: mostly its owner stands shortly before.
    pub fn find_near(&self, entry: usize, uuid: Id) -> Option<usize> {
        self.graph.find_above(&self.entries, entry, uuid)
    }

    /// The line of an entry.
    pub fn text(&self, entry: &Entry) -> &[u8] {
        self.document.text(entry.line as usize)
    }

    /// The name of the tool that one of an entry's blocks calls, as JSON; empty where it has none. There are few different ones,
    /// which are kept apart from the lines: these need not be looked at.
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

    /// The name of the tool that one of an entry's blocks calls; empty where it has none.
    pub fn tool_name(&self, entry: &Entry, block: &Block) -> Cow<'_, str> {
        match self.tool_json(entry, block) {
            raw if raw.starts_with(b"\"") => decode(raw),
            _ => Cow::Borrowed(""),
        }
    }

    /// Where the value at a path of keys lies in an entry's line.
    pub fn lookup(&self, entry: &Entry, path: &[&str]) -> Option<Span> {
        lookup_around(self.text(entry), entry.words(), path)
    }

    /// The words of a string field at a path of keys, if it is there and a string.
    pub fn string(&self, entry: &Entry, path: &[&str]) -> Option<String> {
        let raw = self.lookup(entry, path)?.of(self.text(entry));
        raw.starts_with(b"\"").then(|| decode(raw).into_owned())
    }

    /// An entry's `uuid` as it is written.
    pub fn uuid(&self, entry: &Entry) -> Option<String> {
        entry.uuid.text().or_else(|| self.string(entry, &["uuid"]))
    }

    /// The different values of a string field over all entries, in the order of their first occurrence.
    pub fn distinct(&self, key: &str) -> Vec<String> {
        if let Some(values) = self.inventory.of(key)
            && let Some(inventory) = self.still_listed(key, values)
        {
            return inventory.iter().map(|v| decode(v).into_owned()).collect();
        }
        let finder = memchr::memmem::Finder::new(&format!("\"{key}\":\"")).into_owned();
        let among = |entries: &[Entry]| {
            let mut seen: Vec<&[u8]> = Vec::new();
            let mut out: Vec<String> = Vec::new();
            for e in entries {
                let text = self.text(e);
                // The bytes behind the key tell a new value from an old one without reading the line.
                let parts = e.outside_conversation(text);
                let values = parts.iter().flat_map(|(_, part)| {
                    let found = finder.find_iter(part);
                    found.map(|at| &part[at + finder.needle().len()..])
                });
                let mut fresh = values.filter(|v| !seen.iter().any(|s| v.starts_with(s)));
                if fresh.next().is_none() {
                    continue;
                }
                let raw = self.lookup(e, &[key]).map_or(&[][..], |s| s.of(text));
                if raw.starts_with(b"\"") {
                    seen.push(&raw[1..]);
                    out.push(decode(raw).into_owned());
                }
            }
            out
        };
        let found: Vec<Vec<String>> = self.entries.par_chunks(256).map(among).collect();
        let mut out: Vec<String> = Vec::new();
        for value in found.into_iter().flatten() {
            if !out.contains(&value) {
                out.push(value);
            }
        }
        out
    }

    /// Which of these values a field has, if the first lines tell, as nearly always.
    fn still_listed<'a>(&'a self, key: &str, values: &'a [Vec<u8>]) -> Option<Vec<&'a [u8]>> {
        if self.inventory.complete {
            return Some(values.iter().map(Vec::as_slice).collect());
        }
        let first = self.entries.iter().take(FIRST);
        let found = first.filter_map(|e| Some(self.lookup(e, &[key])?.of(self.text(e))));
        let mut inventory: Vec<&[u8]> = Vec::new();
        for value in found.filter(|v| v.starts_with(b"\"")) {
            if !inventory.contains(&value) {
                inventory.push(value);
            }
        }
        (inventory.len() == values.len()).then_some(inventory)
    }

    /// Whether all answers that name a model name this one, as JSON, but for what the client says itself. False where one
    /// that was taken away named another, too.
    pub(crate) fn is_all_by(&self, model: &[u8]) -> bool {
        let allowed = |m: &Vec<u8>| m == model || m == SYNTHETIC;
        model.starts_with(b"\"") && self.inventory.models.iter().all(allowed)
    }

    /// The session id that most entries carry.
    pub fn session_id(&self) -> Option<Id> {
        if !self.inventory.several_sessions {
            // All that name one name the same, but those that did may be gone.
            let mut ids = self.entries.iter().map(|e| e.session);
            return ids.find(|id| id.is_some());
        }
        // Most carry one, so they are counted by stretches.
        let count = |entries: &[Entry]| {
            let stretches = entries.chunk_by(|a, b| a.session == b.session);
            let named = stretches.filter(|s| s[0].session.is_some());
            named.map(|s| (s[0].session, s.len())).collect()
        };
        let counted: Vec<Vec<(Id, usize)>> = self.entries.par_chunks(COUNTED).map(count).collect();
        let mut counts: IndexMap<Id, usize> = IndexMap::new();
        for (id, count) in counted.into_iter().flatten() {
            *counts.entry(id).or_default() += count;
        }
        // Of equals the one seen first.
        let most = counts.into_iter().rev().max_by_key(|&(_, n)| n);
        most.map(|(id, _)| id)
    }
}

/// An entry by its number, its line, and what that repeats.
type Edited<'a> = ((usize, Entry), &'a [u8], Repeated);

/// What is found out about the lines of a session together.
struct Linked {
    heads: Vec<EntryHead>,
    blocks: Arc<Vec<Block>>,
    graph: Arc<Graph>,
    calls: Arc<Calls>,
    turns: Arc<Turns>,
}

/// A session under construction.
pub(crate) struct Index {
    pub(crate) lines: Vec<LineState>,
    pub(crate) entries: Vec<Entry>,
    pub(crate) blocks: Vec<Block>,
    pub(crate) inventory: Inventory,
}

impl Index {
    pub(crate) fn with_capacity(lines: usize) -> Self {
        Self {
            lines: Vec::with_capacity(lines),
            entries: Vec::with_capacity(lines),
            blocks: Vec::new(),
            inventory: Inventory::default(),
        }
    }

    /// Reads the line that `rest` begins with, if it is a record; where its newline is, if it has one.
    fn read_whole(
        &mut self,
        rest: &[u8],
        first: bool,
        repeated: &mut RepeatedFields,
    ) -> Result<Option<usize>, Malformed> {
        if is_marked_wrongly(rest, first) {
            return Err(Malformed { at: 0 });
        }
        let (entry, repeated, newline) = parse_first(rest, &mut self.blocks, repeated)?;
        self.take(rest, entry, repeated);
        Ok(newline)
    }

    /// Reads the next line; whether it is the first of all makes a difference.
    pub(crate) fn read(&mut self, text: &[u8], first: bool) {
        let read = if is_marked_wrongly(text, first) {
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

    /// Takes the entry that the next line turned out to be.
    pub(crate) fn take(&mut self, text: &[u8], entry: Entry, repeated: Repeated) {
        self.inventory.take(text, &entry, repeated);
        let own = entry.blocks.0 as usize..entry.blocks.1 as usize;
        for block in self.blocks[own].iter_mut().filter(|b| b.kind.is_call()) {
            block.named = self.inventory.tool(block.name(text));
        }
        self.lines.push(LineState::Entry(self.entries.len() as u32));
        self.entries.push(Entry {
            line: self.lines.len() as u32 - 1,
            ..entry
        });
    }

    /// Gives back what it asked for too much.
    fn shrink(&mut self) {
        self.lines.shrink_to_fit();
        self.entries.shrink_to_fit();
        self.blocks.shrink_to_fit();
    }

    /// Takes over the lines that follow these.
    fn append(&mut self, next: Index) {
        let (entries, blocks) = (self.entries.len() as u32, self.blocks.len() as u32);
        let lines = self.lines.len() as u32;
        self.lines
            .extend(next.lines.into_iter().map(|state| match state {
                LineState::Entry(e) => LineState::Entry(e + entries),
                state => state,
            }));
        self.entries.extend(next.entries.into_iter().map(|e| Entry {
            blocks: (e.blocks.0 + blocks, e.blocks.1 + blocks),
            line: e.line + lines,
            ..e
        }));
        let numbers = self.inventory.append(&next.inventory);
        let blocks = next.blocks.iter().map(|b| b.renamed(&numbers));
        self.blocks.extend(blocks);
    }

    /// Puts more lines behind those of a session, of which only the blocks are not here but in `linked`.
    fn continued(mut self, linked: Linked, more: Index, document: Document) -> Session {
        self.lines.reserve_exact(more.lines.len());
        self.entries.reserve_exact(more.entries.len());
        let links = more.entries.iter().any(Entry::is_chained) || !more.blocks.is_empty();
        let names_leaf = more.entries.iter().any(|e| e.kind == Kind::LastPrompt);
        if links {
            self.blocks = Arc::unwrap_or_clone(linked.blocks);
            drop((linked.graph, linked.calls, linked.turns));
            self.append(more);
            return self.finish(document);
        }
        let mut heads = linked.heads;
        heads.reserve_exact(more.entries.len());
        heads.extend(more.entries.iter().map(Entry::head));
        self.append(more);
        let explicit = explicit_leaf(&document, &self.entries);
        if names_leaf && !linked.graph.holds_for(&self.entries, &heads, explicit) {
            self.blocks = Arc::unwrap_or_clone(linked.blocks);
            return self.finish(document);
        }
        // All that was found out about the others still holds.
        Session {
            document,
            lines: self.lines,
            entries: self.entries,
            heads,
            blocks: linked.blocks,
            graph: linked.graph,
            calls: linked.calls,
            turns: linked.turns,
            inventory: self.inventory,
            unfinished: OnceLock::new(),
        }
    }

    /// Links what was taken.
    fn finish(self, document: Document) -> Session {
        let Self {
            lines,
            entries,
            mut blocks,
            inventory,
        } = self;
        let explicit = explicit_leaf(&document, &entries);
        let heads: Vec<EntryHead> = entries.par_iter().map(Entry::head).collect();
        let (graph, calls) = rayon::join(
            || Graph::build(&entries, &heads, explicit),
            || Calls::build(&entries, &mut blocks),
        );
        let turns = Turns::build(&heads, &graph);
        Session {
            document,
            lines,
            entries,
            heads,
            blocks: Arc::new(blocks),
            graph: Arc::new(graph),
            calls: Arc::new(calls),
            turns: Arc::new(turns),
            inventory,
            unfinished: OnceLock::new(),
        }
    }
}

/// Clients take a byte order mark off the file, not off its lines.
fn is_marked_wrongly(line: &[u8], first: bool) -> bool {
    !first && line.starts_with(BYTE_ORDER_MARK)
}

/// The leaf that the newest clients pin: a last prompt marked `explicit` with no chain entry behind it.
fn explicit_leaf(document: &Document, entries: &[Entry]) -> Option<Id> {
    let last = entries
        .iter()
        .rev()
        .take_while(|e| !e.is_chained())
        .find(|e| e.kind == Kind::LastPrompt)?;
    let text = document.text(last.line as usize);
    (lookup(text, &["explicit"])?.of(text) == b"true")
        .then_some(last.names)
        .filter(|id| id.is_some())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::json::Edit;
    use proptest::prelude::*;

    const PARTS: [&str; 18] = [
        "\n",
        "\r\n",
        "\r",
        " ",
        "\u{feff}",
        "\0",
        "{",
        "}",
        "{}",
        r#"{"a":"#,
        r#""text\\""#,
        r#"{"type":"user","uuid":"u","cwd":"/b","message":{"model":"m","content":[{"type":"text","text":"hi \u0041"}],"usage":{"input_tokens":3}}}"#,
        r#"{"type":"attachment","attachment":{"type":"date"},"uuid":"größe","cwd":"/a","version":"2"}"#,
        r#"{"type":"user","uuid":"v","parentUuid":"u","message":{"content":"x"}}"#,
        r#"{"type":"assistant","uuid":"w","parentUuid":"u","message":{"content":[{"type":"tool_use","id":"c","name":"Bash"},{"type":"tool_use","id":"d","name":"Grep"}]}}"#,
        r#"{"type":"last-prompt","leafUuid":"u"}"#,
        r#"{"type":"last-prompt","leafUuid":"v","explicit":true}"#,
        "\n\n",
    ];

    const EDITS: [&str; 18] = [
        "",
        "x",
        "é",
        "\\u0041",
        "\"",
        r#""uuid":"q","#,
        r#","parentUuid":"w""#,
        r#","message":{"content":[]}"#,
        r#","message":{"content":"y"},"cwd":"/c""#,
        r#","version":"9""#,
        r#","explicit":true"#,
        r#","isMeta":true"#,
        r#","isMeta":false"#,
        r#","isCompactSummary":true"#,
        r#","isCompactSummary":false"#,
        r#","promptSource":"system""#,
        r#","type":"assistant""#,
        r#","type":"user""#,
    ];

    /// A block, with the name of its tool in the place of its number.
    type Told<'a> = (Block, &'a [u8]);

    /// What is known of each entry, its blocks in the place of their numbers.
    fn told(session: &Session) -> Vec<(Entry, Vec<Told<'_>>)> {
        let plain = |e: &Entry| Entry {
            blocks: (0, 0),
            ..*e
        };
        let told = |e: &Entry| {
            let named = |b: &Block| (Block { named: 0, ..*b }, session.tool_json(e, b));
            let blocks = session.blocks(e).iter();
            (plain(e), blocks.map(named).collect())
        };
        session.entries.iter().map(told).collect()
    }

    fn are_alike(made: &Session, read: &Session) -> Result<(), TestCaseError> {
        prop_assert_eq!(&made.lines, &read.lines);
        prop_assert_eq!(told(made), told(read));
        let heads: Vec<EntryHead> = made.entries.iter().map(Entry::head).collect();
        prop_assert_eq!(&made.heads, &heads);
        for e in &made.entries {
            prop_assert!(made.may_have(e.kind));
            prop_assert_eq!(made.flags_of_any().or(e.flags), made.flags_of_any());
        }
        prop_assert_eq!(made.graph.path(), read.graph.path());
        let places = |s: &Session| {
            let all = 0..s.entries.len();
            all.map(|i| s.graph.place(i)).collect::<Vec<_>>()
        };
        prop_assert_eq!(places(made), places(read));
        prop_assert_eq!(made.turns.all(), read.turns.all());
        let calls = |s: &Session| {
            let all = s.calls.iter();
            all.map(|c| (c.id, c.uses.len(), c.results.len()))
                .collect::<Vec<_>>()
        };
        prop_assert_eq!(calls(made), calls(read));
        for key in ["cwd", "version", "slug"] {
            prop_assert_eq!(made.distinct(key), read.distinct(key));
        }
        Ok(())
    }

    #[test]
    fn a_document_may_be_two_steps_away() {
        let lines = [PARTS[11], PARTS[13], PARTS[14]].join("\n");
        let session = Session::new(Document::from_bytes(lines.into_bytes()));
        let step = |from: &Document| {
            let mut next = from.derived();
            let edit = Edit::new(Span::new(1, 1), r#""version":"9","#);
            next.edit(0, [edit].into_iter().collect()).expect("an edit");
            (1..from.lines().len()).for_each(|i| next.keep(i));
            next.finish()
        };
        let (middle, first) = step(session.document());
        let (document, second) = step(&middle);
        let read = Session::new(Document::from_bytes(document.to_vec()));
        let derived = session.derived(document, &first.then(&second));
        are_alike(&derived, &read).expect("the same session");
    }

    #[test]
    fn more_tools_than_have_numbers_are_told_apart() {
        let line = |n: usize| {
            format!(
                r#"{{"type":"assistant","message":{{"content":[{{"type":"tool_use","id":"c{n}","name":"tool {n}"}},{{"type":"tool_use","id":"d{n}"}}]}}}}"#
            ) + "\n"
        };
        let lines: String = (0..300).chain((0..300).rev()).map(line).collect();
        let session = Session::read(Source::Owned(lines.into_bytes()));
        for (i, e) in session.entries.iter().enumerate() {
            let names = session.blocks(e).iter().map(|b| session.tool_name(e, b));
            let number = i.min(599 - i);
            assert_eq!(names.collect::<Vec<_>>(), [&format!("tool {number}"), ""]);
        }
    }

    /// Lines with much in common, and what may be odd about that.
    const ALIKE: [&str; 17] = [
        r#"{"parentUuid":"11111111-2222-4333-8444-555555555555","userType":"external","type":"assistant","message":{"content":[{"type":"thinking","thinking":"x"},{"type":"text","text":" "},{"type":"image"}]},"uuid":"15111111-2222-4333-8444-555555555555"}"#,
        r#"{"parentUuid":"11111111-2222-4333-8444-555555555555","userType":"external","type":"assistant","message":{"content":"x"},"uuid":"16111111-2222-4333-8444-555555555555"}"#,
        r#"{"userType":"external","cwd":"/a","sessionId":"5e551000-aaaa-4bbb-8ccc-0123456789ab","sessionId":null,"type":"user","uuid":"12111111-2222-4333-8444-555555555555"}"#,
        r#"{"userType":"external","cwd":"/a","cwd":5,"sessionId":"5e551000-aaaa-4bbb-8ccc-0123456789ab","type":"user","uuid":"13111111-2222-4333-8444-555555555555"}"#,
        r#"{"userType":"external","cwd":"/a","sessionId":"5e551000-aaaa-4bbb-8ccc-0123456789ab","type":"user","uuid":"14111111-2222-4333-8444-555555555555"}"#,
        r#"{"type":"user","message":{"content":[{"type":"tool_result","tool_use_id":"c","content":"an output that is long enough to be compared with its copy, größe and all"}]},"toolUseResult":{"stdout":"an output that is long enough to be compared with its copy, größe and all","stderr":""},"uuid":"f1111111-2222-4333-8444-555555555555"}"#,
        r#"{"type":"user","message":{"content":[{"type":"tool_result","tool_use_id":"c","content":"an output that is long enough to be compared with its copy, \"größe\" and all"}]},"toolUseResult":{"stderr":"an output that is long enough to be compared with its copy, \"größe\" and all.","stdout":"an output that is long enough to be compared with its copy, \"größe\" and all","agentId":"a","again":"an output that is long enough to be compared with its copy, \"größe\" and all"},"uuid":"f2111111-2222-4333-8444-555555555555"}"#,
        r#"{"parentUuid":"11111111-2222-4333-8444-555555555555","isSidechain":false,"userType":"external","cwd":"/a","sessionId":"5e551000-aaaa-4bbb-8ccc-0123456789ab","version":"2.1.45","gitBranch":"main","type":"user","message":{"content":"x"},"uuid":"21111111-2222-4333-8444-555555555555","timestamp":"2026-01-02T03:04:05.678Z"}"#,
        r#"{"parentUuid":"21111111-2222-4333-8444-555555555555","isSidechain":false,"userType":"external","cwd":"/a","sessionId":"5e551000-aaaa-4bbb-8ccc-0123456789ab","version":"2.1.45","gitBranch":"main","type":"assistant","message":{"id":"m","content":[{"type":"tool_use","id":"c"}]},"uuid":"31111111-2222-4333-8444-555555555555","timestamp":"2026-01-02T03:04:06.000Z"}"#,
        r#"{"parentUuid":"31111111-2222-4333-8444-555555555555","type":"user","message":{"content":[{"type":"tool_result","tool_use_id":"c","content":"é"}]},"uuid":"41111111-2222-4333-8444-555555555555","timestamp":"2026-01-03T03:04:06.000Z","toolUseResult":{"persistedOutputPath":"/x"},"sourceToolAssistantUUID":"31111111-2222-4333-8444-555555555555","userType":"external","entrypoint":"cli","cwd":"/größe","sessionId":"5e551000-aaaa-4bbb-8ccc-0123456789ab","version":"2.1.325","gitBranch":"HEAD","slug":"calm"}"#,
        r#"{"parentUuid":"41111111-2222-4333-8444-555555555555","type":"attachment","attachment":{"type":"note","content":"some","x":"51111111-2222-4333-8444-555555555555"},"uuid":"61111111-2222-4333-8444-555555555555","userType":"external","entrypoint":"cli","cwd":"/größe","sessionId":"5e551000-aaaa-4bbb-8ccc-0123456789ab","version":"2.1.325","gitBranch":"HEAD","slug":"calm"}"#,
        r#"{"parentUuid":"41111111-2222-4333-8444-555555555555","userType":"external","entrypoint":{"id":"51111111-2222-4333-8444-555555555555"},"cwd":"/a","type":"system","uuid":"71111111-2222-4333-8444-555555555555"}"#,
        r#"{"parentUuid":"41111111-2222-4333-8444-555555555555","userType":"external","cwd":"/a","version":2,"type":"system","uuid":"81111111-2222-4333-8444-555555555555"}"#,
        r#"{"parentUuid":"41111111-2222-4333-8444-555555555555","userType":"external","cwd":"/a","version":"\u0032","type":"system","parentUuid":"61111111-2222-4333-8444-555555555555","uuid":"91111111-2222-4333-8444-555555555555"}"#,
        r#"{"userType":"external","userType":"external","cwd":"/a","cwd":"/b","type":"user","parentUuid":"41111111-2222-4333-8444-555555555555","uuid":"a1111111-2222-4333-8444-555555555555","timestamp":"2026-01-02T03:04:05Z"}"#,
        r#"{"parentUuid":"61111111-2222-4333-8444-555555555555","userType":"external","cwd":"/a","type":"user","message":{"content":"y"},"uuid":"b1111111-2222-4333-8444-555555555555","timestamp":"2026-99-02T03:04:05.678Z"}"#,
        r#"{"parentUuid":null,"type":"progress","uuid":"c1111111-2222-4333-8444-555555555555","userType":"external","cwd":"/a","toolUseID":"c","data":{"message":{"uuid":"d1111111-2222-4333-8444-555555555555","content":"e1111111-2222-4333-8444-555555555555"}}}"#,
    ];

    proptest! {
        #[test]
        fn what_is_usual_is_read_as_what_is_not(lines in proptest::collection::vec((prop::sample::select(&ALIKE[..]), any::<bool>(), any::<bool>()), 0..24)) {
            // Behind something long, ids are told from the line's end.
            let long = format!(r#"{{"long":"{}","#, "x".repeat(40_000));
            let bytes: Vec<u8> = lines.iter().flat_map(|&(line, windows, far)| {
                let line = if far { line.replacen('{', &long, 1) } else { line.to_owned() };
                let ending = if windows { "\r\n" } else { "\n" };
                (line + ending).into_bytes()
            }).collect();
            let each = Session::new(Document::from_bytes(bytes.clone()));
            let within = Session::read(Source::Owned(bytes));
            prop_assert_eq!(&each.inventory.cwds, &within.inventory.cwds);
            are_alike(&within, &each)?;
        }

        #[test]
        fn a_line_with_another_parent_is_read_as_it_is_written(
            lines in proptest::collection::vec(prop::sample::select(&ALIKE[..]), 1..12),
            parents in proptest::collection::vec(prop::sample::select(&[
                "\"61111111-2222-4333-8444-555555555555\"",
                "\"6111111A-2222-4333-8444-555555555555\"",
                "\"nobody\"",
                "null",
                "",
            ][..]), 12),
        ) {
            let before = Session::new(Document::from_bytes(lines.join("\n").into_bytes()));
            let mut next = before.document.derived();
            for (i, parent) in (0..lines.len()).zip(parents) {
                let span = Span::new(14, 52);
                match parent {
                    "" => next.keep(i),
                    _ => next.edit(i, [Edit::new(span, parent)].into_iter().collect()).expect("one edit"),
                }
            }
            let (document, lines) = next.finish();
            let read = Session::new(Document::from_bytes(document.to_vec()));
            are_alike(&before.derive(document, &lines), &read)?;
        }

        #[test]
        fn lines_may_be_split_before_or_while_they_are_read(parts in proptest::collection::vec(prop::sample::select(&PARTS[..]), 0..24)) {
            let bytes = parts.concat().into_bytes();
            let before = Session::new(Document::from_bytes(bytes.clone()));
            let within = Session::read(Source::Owned(bytes));
            prop_assert_eq!(before.document.lines(), within.document.lines());
            prop_assert_eq!(&before.lines, &within.lines);
            prop_assert_eq!(&before.entries, &within.entries);
            prop_assert_eq!(&before.blocks, &within.blocks);
        }

        #[test]
        fn a_successor_is_what_would_be_read(
            parts in proptest::collection::vec(prop::sample::select(&PARTS[..]), 0..24),
            kept in any::<bool>(),
            fates in proptest::collection::vec((0..4, prop::sample::select(&PARTS[11..17])), 24),
            more in proptest::collection::vec(prop::sample::select(&PARTS[11..17]), 0..3),
        ) {
            let before = Session::new(Document::from_bytes(parts.concat().into_bytes()));
            let mut next = before.document.derived();
            for (i, (fate, text)) in (0..before.lines.len()).zip(fates.iter().cycle()) {
                match fate {
                    _ if kept => next.keep(i),
                    0 => {}
                    1 => next.replace(i, text.as_bytes()),
                    2 => next.keep(i),
                    _ => {
                        next.insert(text.as_bytes());
                        next.insert(b"{}");
                        next.keep(i);
                    }
                }
            }
            for text in more {
                next.insert(text.as_bytes());
            }
            let (document, lines) = next.finish();
            let read = Session::new(document.clone());
            for made in [before.derived(document.clone(), &lines), before.derive(document, &lines)] {
                are_alike(&made, &read)?;
            }
        }

        #[test]
        fn an_edited_line_is_read_as_it_is_written(
            parts in proptest::collection::vec(prop::sample::select(&PARTS[8..17]), 1..12),
            edits in proptest::collection::vec((0..3u8, 0..400usize, 0..12usize, prop::sample::select(&EDITS[..])), 24),
            twice in any::<bool>(),
        ) {
            let mut made = Session::new(Document::from_bytes(parts.join("\n").into_bytes()));
            for edits in edits.chunks(12).take(1 + usize::from(twice)) {
                let mut next = made.document.derived();
                for (i, &(fate, at, len, with)) in (0..made.lines.len()).zip(edits.iter().cycle()) {
                    let text = made.document.text(i);
                    let start = at % (text.len() + 1);
                    let span = Span::new(start, (start + len).min(text.len()));
                    match fate {
                        0 => next.keep(i),
                        1 => next.edit(i, [Edit::new(span, with)].into_iter().collect()).expect("one edit"),
                        _ => {
                            let behind = text.len() - usize::from(text.ends_with(b"}"));
                            let more = Edit::new(Span::new(behind, behind), with);
                            next.edit(i, [more].into_iter().collect()).expect("one edit");
                        }
                    }
                }
                let (document, lines) = next.finish();
                let written = document.to_vec();
                prop_assert_eq!(document.len(), written.len() as u64);
                let read = Session::new(Document::from_bytes(written));
                made = made.derive(document, &lines);
                are_alike(&made, &read)?;
            }
        }
    }
}
