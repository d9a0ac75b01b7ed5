//! One entry of a transcript.

use std::ops::Deref;

use crate::document::LineIx;
use crate::json::{Span, lookup_around};

use super::head::{EntryHead, Kind};
use super::id::Id;
use super::ids::IdPositions;
use super::numbers::{BlockRange, EntryIx};

/// The model of answers that the client wrote, as JSON.
pub(crate) const SYNTHETIC: &[u8] = b"\"<synthetic>\"";

/// One entry of the transcript.
///
/// It dereferences to its [`EntryHead`], so that `entry.kind` and `head.kind` read alike.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Entry {
    /// `uuid`.
    pub uuid: Id,
    /// `parentUuid`.
    pub parent: Id,
    /// `sessionId`.
    pub session: Id,
    /// `message.id`, shared by the lines of one message of the model.
    pub message_id: Id,
    /// The other entry that it refers to: `logicalParentUuid` of a boundary, `leafUuid` of a last prompt or summary,
    /// `messageId` of file history, `sourceToolAssistantUUID` of a result.
    pub refers_to: Id,
    /// `timestamp`, in milliseconds since the epoch; `i64::MIN` where there is none.
    pub time: i64,
    /// `message.content`, in the line.
    pub content: Span,
    /// `toolUseResult`, in the line.
    pub result: Span,
    /// Its blocks; see [`Session::blocks`](crate::session::Session::blocks).
    pub blocks: BlockRange,
    /// Its line in the document.
    pub line: LineIx,
    /// See [`Entry::window_use`].
    window: u32,
    /// Where its ids are in the line.
    pub ids: IdPositions,
    /// What it is.
    pub head: EntryHead,
}

/// What an entry says about the context window.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum WindowUse {
    /// The tokens of the request that it answers, by `message.usage`; 0 where it does not say.
    RequestTokens(u32),
    /// The bytes of an attachment that are shown to the model: 0, or those of its only `content`.
    ShownBytes(u32),
    /// Reading the line once did not answer it: the usage is of several rounds or was lowered, or the attachment has a rarer form.
    NeedsFullParse,
}

/// Stands for [`WindowUse::NeedsFullParse`].
const NEEDS_FULL_PARSE: u32 = u32::MAX;

impl Entry {
    /// Returns an entry before anything of it was read.
    pub(super) fn without_time() -> Self {
        Self {
            time: i64::MIN,
            ..Self::default()
        }
    }

    /// Returns what it is.
    pub fn head(&self) -> EntryHead {
        self.head
    }

    /// Returns what it says about the context window.
    pub fn window_use(&self) -> WindowUse {
        match (self.window, self.kind) {
            (NEEDS_FULL_PARSE, _) => WindowUse::NeedsFullParse,
            (bytes, Kind::Attachment) => WindowUse::ShownBytes(bytes),
            (tokens, _) => WindowUse::RequestTokens(tokens),
        }
    }

    /// Records what it says about the context window: tokens or bytes, as befits its kind; `None` needs a full parse.
    pub(super) fn set_window_use(&mut self, amount: Option<u32>) {
        self.window = amount.unwrap_or(NEEDS_FULL_PARSE);
    }

    /// Returns the spans of the conversation in its line: the content, and the client's own copy of a result.
    pub fn words(&self) -> [Span; 2] {
        [self.content, self.result]
    }

    /// Returns the parts of its line around the conversation, each with its offset.
    pub fn outside_conversation<'a>(&self, line: &'a [u8]) -> [(u32, &'a [u8]); 3] {
        let [mut first, mut second] = self.words();
        if second < first {
            (first, second) = (second, first);
        }
        // A missing one is an empty span at the beginning.
        let middle = Span {
            start: first.end,
            end: second.start.max(first.end),
        };
        let rest = Span::new(second.end.max(first.end) as usize, line.len());
        let before = Span::new(0, first.start as usize);
        [before, middle, rest].map(|s| (s.start, s.of(line)))
    }

    /// Returns `message.model`, as JSON in its line.
    pub(crate) fn model<'a>(&self, line: &'a [u8]) -> Option<&'a [u8]> {
        lookup_around(line, self.words(), &["message", "model"]).map(|s| s.of(line))
    }

    /// Whether it differs from an older version of itself only in facts that no link, call or turn depends on.
    pub(crate) fn is_linked_like(&self, old: &Self) -> bool {
        let linked = Self {
            result: old.result,
            window: old.window,
            ids: old.ids,
            ..*self
        };
        // The graph reads more of a last prompt and of a boundary than their entries hold.
        linked == *old && old.kind != Kind::LastPrompt && !old.is_boundary()
    }
}

impl Deref for Entry {
    type Target = EntryHead;

    fn deref(&self) -> &EntryHead {
        &self.head
    }
}

/// What a line turned out to be.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum LineState {
    /// Nothing but white space.
    Blank,
    /// An entry; the index is into [`Session::entries`](crate::session::Session::entries).
    Entry(EntryIx),
    /// Not one JSON object: torn, glued to another, filled with NULs or worse. It is kept as it is.
    Opaque,
}

impl LineState {
    /// Returns the number of its entry, if it is one.
    pub fn entry(self) -> Option<EntryIx> {
        match self {
            LineState::Entry(number) => Some(number),
            LineState::Blank | LineState::Opaque => None,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::block::Block;
    use super::*;

    #[test]
    fn entries_and_blocks_stay_small() {
        let sizes = [
            size_of::<EntryHead>(),
            size_of::<Entry>(),
            size_of::<Block>(),
        ];
        assert_eq!(sizes, [8, 144, 36]);
    }
}
