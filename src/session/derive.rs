//! Deriving a session from another one, whose document was changed.

use std::sync::{Arc, OnceLock};

use crate::document::{Document, LineIx, LineMap, LineSource};
use crate::json::BYTE_ORDER_MARK;
use crate::transcript::{Entry, EntryIx, Kind, LineState, Repeated, parse_edited};

use super::build::{Index, path_hints};
use super::merge::merged;
use super::session::Session;

/// An entry that was edited without changing how it is linked.
struct EditedEntry {
    number: EntryIx,
    entry: Entry,
    repeated: Repeated,
}

impl Session {
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
        let fits =
            lines.old_len() == self.lines.len() && lines.sources().len() == document.lines().len();
        if !fits || !lines.is_in_order() {
            return Self::new(document);
        }
        if let Some(edited) = self.edited_in_place(&document, lines) {
            return self.continued(edited, document);
        }
        let (old, index) = self.into_parts();
        merged(index, &old, &document, lines).finish(document)
    }

    /// Returns the edited entries of a document that has all of this session's lines where they were, and possibly more
    /// after them; `None` for any other document, and where an edit changes how an entry is linked.
    fn edited_in_place(&self, document: &Document, lines: &LineMap) -> Option<Vec<EditedEntry>> {
        let sources = lines.sources().get(..self.lines.len())?;
        let mut edited = Vec::new();
        for (i, &source) in self.document.numbers().zip(sources) {
            if source.old_line() != Some(i) {
                return None;
            }
            if source == LineSource::Kept(i) {
                continue;
            }
            let number = self.lines[i].entry()?;
            let (old, text) = (self.entry(number), document.text(i));
            if text.starts_with(BYTE_ORDER_MARK) {
                return None;
            }
            let known = (self.document.text(i), old, self.blocks(old));
            let (mut entry, repeated, same_blocks) =
                parse_edited(text, known, &mut Vec::new()).ok()?;
            entry.line = old.line;
            if !same_blocks || !entry.is_linked_like(old) {
                return None;
            }
            edited.push(EditedEntry {
                number,
                entry,
                repeated,
            });
        }
        Some(edited)
    }

    /// Takes over edited entries and the lines that the document has in addition. Graph, calls and turns are kept if
    /// nothing in the new lines changes them.
    fn continued(mut self, edited: Vec<EditedEntry>, document: Document) -> Self {
        for edit in edited {
            let text = document.text(edit.entry.line);
            self.inventory.complete = false;
            self.inventory.take(text, &edit.entry, edit.repeated);
            self.entries.set(edit.number, edit.entry);
        }
        let mut more = Index::with_capacity(0);
        for i in document.numbers().skip(self.lines.len()) {
            more.read(document.text(i), i == LineIx::default());
        }
        if more.entries.iter().any(|e| e.is_chained()) || !more.blocks.is_empty() {
            let (_, mut index) = self.into_parts();
            index.append(more);
            return index.finish(document);
        }
        let names_leaf = more.entries.iter().any(|e| e.kind == Kind::LastPrompt);
        self.append_unlinked(more);
        if names_leaf {
            let hints = path_hints(&document, self.entries(), self.inventory.flags);
            let (entries, heads) = (self.entries(), self.heads());
            if !self.graph.holds_for(entries, heads, &hints) {
                return self.into_parts().1.finish(document);
            }
        }
        Self {
            document,
            unfinished: OnceLock::new(),
            ..self
        }
    }

    /// Appends lines that no link, call or turn depends on.
    fn append_unlinked(&mut self, mut more: Index) {
        let (entries, lines) = (self.entries().len(), self.lines.len());
        self.lines.reserve_exact(more.lines.len());
        self.lines
            .extend(more.lines.iter().map(|state| match *state {
                LineState::Entry(e) => LineState::Entry(e.plus(entries)),
                state => state,
            }));
        for entry in &mut more.entries {
            entry.line = entry.line.plus(lines);
        }
        self.entries.extend(&more.entries);
        self.inventory.append(&more.inventory);
    }

    /// Returns the document and the index that the session was built from; the rest is dropped.
    fn into_parts(self) -> (Document, Index) {
        let index = Index {
            lines: self.lines,
            entries: self.entries.into_vec(),
            blocks: Arc::unwrap_or_clone(self.blocks),
            inventory: self.inventory,
        };
        (self.document, index)
    }
}
