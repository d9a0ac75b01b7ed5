//! One block of a message's content.

use crate::json::{Span, lookup};

use super::id::Id;
use super::inventory::Renumbered;

/// The kind of a content block.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
#[repr(u8)]
#[allow(missing_docs)]
#[non_exhaustive]
pub enum BlockKind {
    Text,
    Thinking,
    RedactedThinking,
    ToolUse,
    ToolResult,
    ServerToolUse,
    /// `web_search_tool_result` and the like: the result of a server's tool.
    ServerToolResult,
    Image,
    Document,
    #[default]
    Other,
}

impl BlockKind {
    pub(crate) fn of(name: &[u8]) -> Self {
        match name {
            b"text" => BlockKind::Text,
            b"thinking" => BlockKind::Thinking,
            b"redacted_thinking" => BlockKind::RedactedThinking,
            b"tool_use" => BlockKind::ToolUse,
            b"tool_result" => BlockKind::ToolResult,
            b"server_tool_use" | b"mcp_tool_use" => BlockKind::ServerToolUse,
            b"image" => BlockKind::Image,
            b"document" => BlockKind::Document,
            _ if name.ends_with(b"_tool_result") => BlockKind::ServerToolResult,
            _ => BlockKind::Other,
        }
    }

    /// Whether it is thinking, readable or redacted.
    pub fn is_thinking(self) -> bool {
        matches!(self, BlockKind::Thinking | BlockKind::RedactedThinking)
    }

    /// Whether it calls a tool, the client's or a server's.
    pub fn is_call(self) -> bool {
        matches!(self, BlockKind::ToolUse | BlockKind::ServerToolUse)
    }

    /// Whether it is the result of a call.
    pub fn is_result(self) -> bool {
        matches!(self, BlockKind::ToolResult | BlockKind::ServerToolResult)
    }
}

/// One block of `message.content`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Block {
    /// The id of the call that it is, or that it is the result of.
    pub tool: Id,
    /// The number of that call; see [`Calls`](crate::session::Calls).
    pub(crate) call: u32,
    /// Where it is in its line.
    pub span: Span,
    // Where the `name` of a call or the `content` of a result is; see `Block::known_field`. Two fields, because a struct
    // of them would be padded.
    field_at: u32,
    field_size: u8,
    /// The kind.
    pub kind: BlockKind,
    /// The number of its tool's name in the session's inventory, counted from 1; 0 if it is not there.
    pub(crate) named: u8,
    facts: u8,
}

/// What the reader knows of the field that callers ask for most.
enum KnownField {
    /// The `name` of a call, or of any block but a result.
    Name(Span),
    /// The `content` of a result.
    Content(Span),
    /// There is no such field.
    Absent,
    /// The field must be looked up.
    Unknown,
}

/// The number of no call.
pub(crate) const NO_CALL: u32 = u32::MAX;

impl Block {
    /// `content` is there and not a string, so that it may hold other blocks.
    pub(super) const NESTED: u8 = 1;
    /// `text` begins with a letter or the like.
    pub(super) const HAS_TEXT: u8 = 2;
    /// `signature` is a string that is not empty.
    pub(super) const SIGNED: u8 = 4;
    /// `thinking` is a string that is not empty.
    pub(super) const READABLE: u8 = 8;
    /// `is_error` is true.
    pub(super) const FAILED: u8 = 16;

    pub(super) fn new() -> Self {
        Self {
            tool: Id::NONE,
            call: NO_CALL,
            span: Span::default(),
            field_at: 0,
            field_size: 0,
            kind: BlockKind::Other,
            named: 0,
            facts: 0,
        }
    }

    /// Sets or clears one of the facts.
    pub(super) fn set(&mut self, fact: u8, on: bool) {
        self.facts = self.facts & !fact | if on { fact } else { 0 };
    }

    /// Records where the `name` is.
    pub(super) fn set_name(&mut self, span: Span) {
        self.field_at = span.start;
        self.field_size = span.len().min(usize::from(u8::MAX)) as u8;
    }

    /// Records where the `content` of a result is, if it has one; its span must be known.
    pub(super) fn set_content(&mut self, content: Span) {
        let tail = if content.is_empty() {
            0
        } else {
            self.span.end - content.end
        };
        self.field_at = content.start;
        self.field_size = tail.min(u32::from(u8::MAX)) as u8;
    }

    fn known_field(&self) -> KnownField {
        let (start, size) = (self.field_at, u32::from(self.field_size));
        match self.field_size {
            u8::MAX => KnownField::Unknown,
            0 => KnownField::Absent,
            // A result is long and its content mostly the last field: the size counts from the end of the block.
            _ if self.kind.is_result() => KnownField::Content(Span {
                start,
                end: self.span.end - size,
            }),
            _ => KnownField::Name(Span {
                start,
                end: start + size,
            }),
        }
    }

    /// Returns the name of the tool that it calls, as JSON in its line; empty where it has none. See
    /// [`Session::tool_name`](crate::session::Session::tool_name).
    pub(crate) fn name<'a>(&self, line: &'a [u8]) -> &'a [u8] {
        match self.known_field() {
            KnownField::Name(span) => span.of(line),
            KnownField::Absent if !self.kind.is_result() => &[],
            _ => {
                let block = self.span.of(line);
                lookup(block, &["name"]).map_or(&[], |s| s.of(block))
            }
        }
    }

    /// Returns where in its line the `content` of a result is, if it has one.
    pub fn content(&self, line: &[u8]) -> Option<Span> {
        match self.known_field() {
            KnownField::Content(span) => Some(span),
            KnownField::Absent if self.kind.is_result() => None,
            _ => {
                let content = lookup(self.span.of(line), &["content"])?;
                Some(content.shift(self.span.start))
            }
        }
    }

    /// Whether it is or may contain an image or a document.
    pub fn may_hold_media(&self) -> bool {
        match self.kind {
            BlockKind::Image | BlockKind::Document => true,
            BlockKind::ToolResult => self.is_nested(),
            _ => false,
        }
    }

    /// Whether its `content` may hold other blocks.
    pub fn is_nested(&self) -> bool {
        self.facts & Self::NESTED != 0
    }

    /// Whether its text is known to be more than white space. False does not mean that it is blank.
    pub fn has_words(&self) -> bool {
        self.facts & Self::HAS_TEXT != 0
    }

    /// Whether it is thinking that can be read.
    pub fn has_readable_thinking(&self) -> bool {
        self.facts & Self::READABLE != 0
    }

    /// Whether `is_error` is true.
    pub fn is_failed(&self) -> bool {
        self.facts & Self::FAILED != 0
    }

    /// Whether it has a signature.
    pub fn is_signed(&self) -> bool {
        self.facts & Self::SIGNED != 0
    }

    /// Returns the same block for an inventory in which names have other numbers.
    pub(crate) fn renamed(&self, numbers: &Renumbered) -> Self {
        Self {
            named: numbers[usize::from(self.named)],
            ..*self
        }
    }

    /// Returns the same block `by` bytes further on in its line.
    pub(crate) fn moved(&self, by: i64) -> Self {
        let moved = |at: u32| (i64::from(at) + by) as u32;
        Self {
            span: Span {
                start: moved(self.span.start),
                end: moved(self.span.end),
            },
            field_at: if self.field_size > 0 {
                moved(self.field_at)
            } else {
                0
            },
            ..*self
        }
    }
}
