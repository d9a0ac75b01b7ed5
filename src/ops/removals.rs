//! Removes blocks from messages, and their second copies from the lines that hold them.

use rustc_hash::FxHashSet;

use crate::json::{Edit, Span, decode, elements, fields, lookup, remove_elements};
use crate::session::{At, Session};
use crate::surgery::{Action, ChangeKind, Excerpt, Plan};
use crate::transcript::{Block, BlockKind, Entry, EntryIx, Id, Kind};

/// Blocks to remove.
#[derive(Debug, Default)]
pub(crate) struct BlockRemovals(Vec<At>);

impl BlockRemovals {
    /// Adds a block.
    pub(crate) fn add(&mut self, at: At) {
        self.0.push(at);
    }

    /// Plans the removal: an entry that is left without blocks is removed. Returns the entries that lose blocks.
    ///
    /// `what` returns the kind of a block and its excerpt, for the preview.
    pub(crate) fn plan(
        mut self,
        session: &Session,
        plan: &mut Plan,
        mut what: impl FnMut(&Entry, &Block) -> (ChangeKind, Excerpt),
    ) -> Vec<EntryIx> {
        // They come in a few runs that are in order, which are merged.
        self.0.sort();
        self.0.dedup();
        let mut losers = Vec::new();
        let said = !plan.wants_no_changes();
        for gone in self.0.chunk_by(|a, b| a.entry == b.entry) {
            let i = gone[0].entry;
            losers.push(i);
            let entry = session.entry(i);
            let blocks = session.blocks(entry);
            let shown = said && session.graph().is_shown(i);
            for at in gone.iter().filter(|_| said) {
                let block = session.block(at.block);
                let (what, gist) = what(entry, block);
                let len = block.span.len() as i64;
                plan.note(
                    session,
                    entry,
                    if gone.len() == blocks.len() {
                        Action::Drop
                    } else {
                        Action::Edit
                    },
                    what,
                    -len,
                    if shown { -len } else { 0 },
                    gist,
                );
            }
            if gone.len() == blocks.len() {
                plan.drop_line(entry.line);
            } else {
                let spans: Vec<Span> = blocks.iter().map(|b| b.span).collect();
                let within = |at: &At| at.block.index() - entry.blocks.start().index();
                let gone: Vec<usize> = gone.iter().map(within).collect();
                plan.edit_line(entry.line, remove_elements(&spans, &gone));
            }
        }
        losers
    }
}

impl Extend<At> for BlockRemovals {
    fn extend<I: IntoIterator<Item = At>>(&mut self, blocks: I) {
        self.0.extend(blocks);
    }
}

/// The blocks whose second copies are removed.
///
/// One line can hold copies of both, so they are removed together: the edits of two passes could overlap.
#[derive(Default)]
pub(crate) struct Copies {
    /// The signatures of thinking blocks, or their data where they are redacted.
    pub(crate) thinking: FxHashSet<Id>,
    /// The ids of calls.
    pub(crate) calls: FxHashSet<Id>,
}

impl Copies {
    fn matches(&self, block: &[u8]) -> bool {
        let id = |key: &str| lookup(block, &[key]).map(|s| Id::of(decode(s.of(block)).as_bytes()));
        let is_thinking = |key| id(key).is_some_and(|id| self.thinking.contains(&id));
        match lookup(block, &["type"]).map(|s| s.of(block)) {
            Some(b"\"thinking\"") => is_thinking("signature"),
            Some(b"\"redacted_thinking\"") => is_thinking("data"),
            _ if self.calls.is_empty() => false,
            _ => ["id", "tool_use_id"]
                .iter()
                .filter_map(|k| id(k))
                .any(|id| self.calls.contains(&id)),
        }
    }

    /// Whether a line may hold copies at all.
    fn may_be_in(&self, line: &[u8]) -> bool {
        let has = |words: &[u8]| memchr::memmem::find(line, words).is_some();
        !self.thinking.is_empty() && has(b"thinking\"") || !self.calls.is_empty() && has(b"tool_")
    }
}

/// Whether the session may have lines with second copies.
pub(crate) fn may_hold_copies(session: &Session) -> bool {
    let mut kinds = COPIED.into_iter();
    kinds.any(|kind| session.may_have(kind))
}

/// Entries in which the client keeps second copies.
const COPIED: [Kind; 2] = [Kind::ApiRequestBlob, Kind::Progress];

/// Whether an entry is one in which the client keeps second copies.
pub(crate) fn holds_copies(e: &Entry) -> bool {
    COPIED.contains(&e.kind)
}

/// Removes second copies of removed blocks from the lines that the client keeps for itself.
pub(crate) fn remove_copies(session: &Session, plan: &mut Plan, copies: &Copies) {
    if !may_hold_copies(session) {
        return;
    }
    for e in session.entries() {
        if !holds_copies(e) || plan.drops(e.line) {
            continue;
        }
        let text = session.text(e);
        if !copies.may_be_in(text) {
            continue;
        }
        let mut emptied = false;
        let mut edits: Vec<Edit> = Vec::new();
        for list in content_lists(text) {
            let inner = list.of(text);
            let Ok(all) = elements(inner) else { continue };
            let gone: Vec<usize> = (0..all.len())
                .filter(|&i| copies.matches(all[i].of(inner)))
                .collect();
            emptied |= !all.is_empty() && gone.len() == all.len();
            edits.extend(
                remove_elements(&all, &gone)
                    .into_iter()
                    .map(|e| Edit::new(e.span.shift(list.start), e.with)),
            );
        }
        if edits.is_empty() {
            continue;
        }
        if emptied && e.kind == Kind::ApiRequestBlob {
            plan.drop_entry(session, e, ChangeKind::DuplicateOutput);
        } else {
            plan.edit_entry(session, e, ChangeKind::DuplicateOutput, edits);
        }
    }
}

/// Returns every list of blocks in a line: the outermost arrays called `content`, at any depth.
pub(crate) fn content_lists(text: &[u8]) -> Vec<Span> {
    let mut out = Vec::new();
    let mut stack = vec![Span::new(0, text.len())];
    while let Some(span) = stack.pop() {
        let inner = span.of(text);
        match inner.first() {
            Some(b'{') => {
                for field in fields(inner).unwrap_or_default() {
                    let value = field.value.shift(span.start);
                    match (field.key.of(inner), value.of(text).first()) {
                        (b"content", Some(b'[')) => out.push(value),
                        (_, Some(b'{' | b'[')) => stack.push(value),
                        _ => {}
                    }
                }
            }
            Some(b'[') => stack.extend(
                elements(inner)
                    .unwrap_or_default()
                    .into_iter()
                    .map(|s| s.shift(span.start))
                    .filter(|s| matches!(s.of(text).first(), Some(b'{' | b'['))),
            ),
            _ => {}
        }
    }
    out
}

/// Returns what identifies a thinking block: its signature, or its data if it is redacted.
pub(crate) fn thinking_id(block: &Block, text: &[u8]) -> Option<Id> {
    let inner = block.span.of(text);
    let key = if block.kind == BlockKind::Thinking {
        "signature"
    } else {
        "data"
    };
    lookup(inner, &[key]).map(|s| Id::of(decode(s.of(inner)).as_bytes()))
}
