//! The few facts of an entry that surgery reads.

use crate::json::{Span, WATCHED, Watched, lookup, lookup_around};

use super::id::Id;
use super::inventory::Renumbered;
use super::prompt::PromptKind;

/// The model of what the client says in the model's name, as JSON.
pub(crate) const SYNTHETIC: &[u8] = b"\"<synthetic>\"";

/// What an entry is, by its `type`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
#[repr(u8)]
#[allow(missing_docs)]
pub enum Kind {
    User,
    Assistant,
    System,
    Attachment,
    Progress,
    Summary,
    FileHistorySnapshot,
    FileHistoryDelta,
    QueueOperation,
    LastPrompt,
    CustomTitle,
    AiTitle,
    ApiRequest,
    ApiRequestBlob,
    ApiRequestShape,
    /// It vouches for byte offsets into the transcript.
    ResumeHeadVouch,
    /// Any other kind, now or next month.
    #[default]
    Other,
}

impl Kind {
    pub(crate) fn of(name: &[u8]) -> Self {
        match name {
            b"user" => Kind::User,
            b"assistant" => Kind::Assistant,
            b"system" => Kind::System,
            b"attachment" => Kind::Attachment,
            b"progress" => Kind::Progress,
            b"summary" => Kind::Summary,
            b"file-history-snapshot" => Kind::FileHistorySnapshot,
            b"file-history-delta" => Kind::FileHistoryDelta,
            b"queue-operation" => Kind::QueueOperation,
            b"last-prompt" => Kind::LastPrompt,
            b"custom-title" => Kind::CustomTitle,
            b"ai-title" => Kind::AiTitle,
            b"api-request" => Kind::ApiRequest,
            b"api-request-blob" => Kind::ApiRequestBlob,
            b"api-request-shape" => Kind::ApiRequestShape,
            b"resume-head-vouch" => Kind::ResumeHeadVouch,
            _ => Kind::Other,
        }
    }
}

/// What a system entry or an attachment is, as far as surgery cares.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
#[repr(u8)]
#[allow(missing_docs)]
pub enum Subtype {
    #[default]
    None,
    CompactBoundary,
    MicrocompactBoundary,
    LocalCommand,
    /// An attachment that holds a prompt which was queued while the model worked. A person typed it
    /// unless [`Flags::not_by_person`] is set.
    QueuedCommand,
    Other,
}

/// Facts that are true or not.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Flags(u32);

macro_rules! flags {
    ($($(#[$doc:meta])* $name:ident $set:ident $bit:literal)*) => {
        impl Flags {
            $($(#[$doc])* pub fn $name(self) -> bool { self.0 & (1 << $bit) != 0 }
            pub(crate) fn $set(&mut self, on: bool) { if on { self.0 |= 1 << $bit } else { self.0 &= !(1 << $bit) } })*
        }
    };
}

flags! {
    /// `isSidechain`: part of a subagent's conversation.
    sidechain set_sidechain 0
    /// `isMeta`: the client's words in the user's name.
    meta set_meta 1
    /// `isCompactSummary`.
    compact_summary set_compact_summary 2
    /// `isVisibleInTranscriptOnly`.
    transcript_only set_transcript_only 3
    /// `isApiErrorMessage`: an error shown as if the model had said it.
    api_error set_api_error 4
    /// The model is `<synthetic>`: the client spoke for it.
    synthetic set_synthetic 5
    /// There is a `parentUuid`, be it null.
    has_parent_field set_has_parent_field 6
    /// `message.content` is a string.
    string_content set_string_content 7
    /// There is a `toolUseResult`.
    tool_use_result set_tool_use_result 8
    /// There is a `permissionMode`, which only prompts have.
    permission_mode set_permission_mode 9
    /// The line is not UTF-8 throughout.
    not_utf8 set_not_utf8 10
    /// Some string in the line spells a character by its number (`\\u0041`).
    numbered_characters set_numbered_characters 11
    /// There is a `forkedFrom`.
    forked set_forked 12
    /// By `promptSource`, `turnOrigin` or `origin.kind`, no person sent it.
    not_by_person set_not_by_person 13
    /// An attachment that the client makes anew where it is no longer shown.
    announced set_announced 14
    /// `toolUseResult` is that of a subagent: it has an `agentId`.
    agent set_agent 15
    /// `message.model` is a string.
    modelled set_modelled 16
    /// Some of [`Entry::ids`] stand in a field's own fields.
    deep_ids set_deep_ids 17
    /// `toolUseResult` says where more of it is: it has a `persistedOutputPath`.
    persisted set_persisted 18
    /// It names a call to which it belongs, by `toolUseID` or the like, itself or in its attachment.
    companion set_companion 19
    /// There is more than one `parentUuid`.
    several_parents set_several_parents 20
    /// It marks a compaction.
    boundary set_boundary 21
    /// Some block is or may hold a picture or a document.
    media set_media 22
    /// Some thinking has no signature.
    unsigned set_unsigned 23
    /// Some text of its content does not begin with words and may have none; or it is a message with nothing in it.
    wordless set_wordless 24
    /// It is an answer whose content is a string.
    string_answer set_string_answer 25
    /// The line begins with its only `parentUuid`, a UUID, as clients write it: [`LEADING_PARENT`] is where.
    leading_parent set_leading_parent 26
    /// It has a place in the graph.
    chained set_chained 27
    /// Its `uuid` or `sessionId` is no UUID.
    odd_ids set_odd_ids 28
    /// Some block is thinking.
    thinking set_thinking 29
    /// By `promptSource` or `origin.kind`, a person sent it.
    by_person set_by_person 30
}

impl Flags {
    /// What is true of one of them, or of both.
    #[must_use]
    pub fn or(self, other: Self) -> Self {
        Self(self.0 | other.0)
    }
}

/// What a content block is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
#[repr(u8)]
#[allow(missing_docs)]
pub enum BlockKind {
    Text,
    Thinking,
    RedactedThinking,
    ToolUse,
    ToolResult,
    ServerToolUse,
    /// `web_search_tool_result` and its like: the result of a server's tool.
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

    /// Whether it answers a call.
    pub fn is_result(self) -> bool {
        matches!(self, BlockKind::ToolResult | BlockKind::ServerToolResult)
    }
}

/// One block of `message.content`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Block {
    /// The call that it is or answers.
    pub tool: Id,
    /// The number of that call; see [`Calls`](super::Calls).
    pub(crate) call: u32,
    /// Where it lies in its line.
    pub span: Span,
    /// Where in its line the string `name` begins, and how long it is, up to 255. Of a result: where its `content` begins,
    /// and how far from the block's end it ends.
    pub(crate) name_at: u32,
    pub(crate) name_len: u8,
    /// What it is.
    pub kind: BlockKind,
    /// The number of `name` among those of its session, counted from 1; 0 where it is not told.
    pub(crate) named: u8,
    /// What else is true of it; each a bit.
    pub(crate) facts: u8,
}

/// The number of no call.
pub(crate) const NO_CALL: u32 = u32::MAX;

/// `content` is there and no string, so that it may hold other blocks.
pub(crate) const NESTED: u8 = 1;
/// `text` says something, as its beginning tells.
pub(crate) const WORDY: u8 = 2;
/// `signature` is a string, and not empty.
pub(crate) const SIGNED: u8 = 4;
/// `thinking` is a string, and not empty.
pub(crate) const SPOKEN: u8 = 8;
/// `is_error` is true.
pub(crate) const FAILED: u8 = 16;

impl Block {
    /// The name of the tool that it calls, as JSON in its line; empty where it has none. See
    /// [`Session::tool_name`](super::Session::tool_name).
    pub(crate) fn name<'a>(&self, line: &'a [u8]) -> &'a [u8] {
        if self.name_len < u8::MAX && !self.kind.is_result() {
            let start = self.name_at as usize;
            return &line[start..start + usize::from(self.name_len)];
        }
        let block = self.span.of(line);
        lookup(block, &["name"]).map_or(&[], |s| s.of(block))
    }

    /// Where in its line the `content` of a result lies, if it has one.
    pub fn content(&self, line: &[u8]) -> Option<Span> {
        if !self.kind.is_result() || self.name_len == u8::MAX {
            let content = lookup(self.span.of(line), &["content"])?;
            return Some(content.shift(self.span.start));
        }
        let known = Span {
            start: self.name_at,
            end: self.span.end - u32::from(self.name_len),
        };
        (self.name_len > 0).then_some(known)
    }

    /// Whether it is or may hold a picture or a document.
    pub fn may_hold_media(&self) -> bool {
        match self.kind {
            BlockKind::Image | BlockKind::Document => true,
            BlockKind::ToolResult => self.is_nested(),
            _ => false,
        }
    }

    /// Whether its `content` may hold other blocks.
    pub fn is_nested(&self) -> bool {
        self.facts & NESTED != 0
    }

    /// Whether its text is known to be more than white space; of most texts, the first word tells.
    pub fn has_words(&self) -> bool {
        self.facts & WORDY != 0
    }

    /// Whether it is thinking that can be read.
    pub fn has_readable_thinking(&self) -> bool {
        self.facts & SPOKEN != 0
    }

    /// Whether `is_error` is true.
    pub fn is_failed(&self) -> bool {
        self.facts & FAILED != 0
    }

    /// Whether it has a signature.
    pub fn is_signed(&self) -> bool {
        self.facts & SIGNED != 0
    }

    /// The same block where names have other numbers.
    pub(crate) fn renamed(&self, numbers: &Renumbered) -> Self {
        Self {
            named: numbers[usize::from(self.named)],
            ..*self
        }
    }

    /// The same block so many bytes further.
    pub(crate) fn moved(&self, by: i64) -> Self {
        let further = |at: u32| (i64::from(at) + by) as u32;
        Self {
            span: Span {
                start: further(self.span.start),
                end: further(self.span.end),
            },
            name_at: if self.name_len > 0 {
                further(self.name_at)
            } else {
                0
            },
            ..*self
        }
    }

    pub(crate) fn set(&mut self, fact: u8, on: bool) {
        self.facts = self.facts & !fact | if on { fact } else { 0 };
    }
}

/// How many bytes an id has, nearly always.
pub const ID_LEN: usize = 36;

/// How a line begins whose parent comes first.
pub(crate) const LEADING: &[u8] = b"{\"parentUuid\":\"";

/// Where in a line the parent lies that comes first, its quotes left out.
pub const LEADING_PARENT: Span = Span {
    start: LEADING.len() as u32,
    end: (LEADING.len() + ID_LEN) as u32,
};

/// Where strings of [`ID_LEN`] bytes stand in a line, but for the words of the conversation: in all likelihood its ids.
///
/// They are near the beginning or the end of the line, and so fifteen bits suffice, with one more for which of them it is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct IdsAt([u16; WATCHED]);

impl IdsAt {
    /// No more follow.
    const END: u16 = 0x7fff;
    /// It is not told where all of them are.
    const UNTOLD: Self = Self([u16::MAX; WATCHED]);
    const FROM_END: u16 = 0x8000;

    pub(crate) fn of(watched: &Watched, len: usize) -> Self {
        let mut all = [Self::END; WATCHED];
        let Some(places) = watched.all() else {
            return Self::UNTOLD;
        };
        for (slot, &at) in all.iter_mut().zip(places) {
            let from_end = len - at as usize;
            *slot = match (at as usize, from_end) {
                (at, _) if at < usize::from(Self::END) => at as u16,
                (_, at) if at < usize::from(Self::END) => at as u16 | Self::FROM_END,
                _ => return Self::UNTOLD,
            };
        }
        Self(all)
    }

    /// How many there are, if that is told.
    pub fn count(&self) -> Option<usize> {
        let end = self.0.iter().position(|at| *at == Self::END);
        (*self != Self::UNTOLD).then_some(end.unwrap_or(WATCHED))
    }

    /// Where each begins in the line, which has so many bytes; `None` where that is not told of all.
    pub fn places(&self, len: usize) -> Option<impl Iterator<Item = usize> + '_> {
        let place = move |&at: &u16| match at & Self::FROM_END {
            0 => usize::from(at),
            _ => len - usize::from(at ^ Self::FROM_END),
        };
        let told = self.0.iter().take_while(|at| **at != Self::END);
        (*self != Self::UNTOLD).then(|| told.map(place))
    }
}

impl Default for IdsAt {
    fn default() -> Self {
        Self([Self::END; WATCHED])
    }
}

/// One record of the transcript.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Entry {
    /// `uuid`.
    pub uuid: Id,
    /// `parentUuid`.
    pub parent: Id,
    /// `sessionId`.
    pub session: Id,
    /// `message.id`, shared by the lines of one answer of the model's.
    pub message_id: Id,
    /// What else it names: `logicalParentUuid` of a boundary, `leafUuid` of a last prompt or
    /// summary, `messageId` of file history, `sourceToolAssistantUUID` of a result.
    pub names: Id,
    /// `timestamp`, in milliseconds of the epoch; `i64::MIN` where there is none.
    pub time: i64,
    /// `message.content`, in the line.
    pub content: Span,
    /// `toolUseResult`, in the line.
    pub result: Span,
    /// Its blocks, in [`Session::blocks`](super::Session::blocks).
    pub blocks: (u32, u32),
    /// The line's index in the document.
    pub line: u32,
    /// The tokens of the request that it answers, by `message.usage`; see [`usage`](super::usage). Of an attachment, the
    /// bytes that it shows to the model: none, or its one `content`; or [`usage::NEEDS_FULL_PARSE`] where that takes a closer look.
    pub(crate) window: u32,
    /// Where its ids stand in the line.
    pub ids: IdsAt,
    /// What it is.
    pub kind: Kind,
    /// What it is, more closely.
    pub subtype: Subtype,
    /// Whose words a user entry's are.
    pub prompt: PromptKind,
    /// Facts that are true or not.
    pub flags: Flags,
}

/// What an entry is, without what it holds. A session keeps these beside its entries: who asks no more of all of them walks
/// eight bytes for each instead of 144.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct EntryHead {
    /// [`Entry::kind`].
    pub kind: Kind,
    /// [`Entry::subtype`].
    pub subtype: Subtype,
    /// [`Entry::prompt`].
    pub prompt: PromptKind,
    /// [`Entry::flags`].
    pub flags: Flags,
}

impl EntryHead {
    /// [`Entry::is_chained`].
    pub fn is_chained(self) -> bool {
        self.flags.chained()
    }

    /// [`Entry::is_message`].
    pub fn is_message(self) -> bool {
        matches!(self.kind, Kind::User | Kind::Assistant)
    }

    /// [`Entry::is_boundary`].
    pub fn is_boundary(self) -> bool {
        self.flags.boundary()
    }
}

impl Entry {
    /// What it is.
    pub fn head(&self) -> EntryHead {
        EntryHead {
            kind: self.kind,
            subtype: self.subtype,
            prompt: self.prompt,
            flags: self.flags,
        }
    }

    /// Whether it has a place in the graph.
    pub fn is_chained(&self) -> bool {
        self.head().is_chained()
    }

    /// Whether it is a user's or the model's.
    pub fn is_message(&self) -> bool {
        self.head().is_message()
    }

    /// The words of the conversation in its line: what was said, and the client's own copy of a result.
    pub fn words(&self) -> [Span; 2] {
        [self.content, self.result]
    }

    /// The parts of its line around the words of the conversation.
    pub fn outside_conversation<'a>(&self, line: &'a [u8]) -> [(u32, &'a [u8]); 3] {
        let [mut first, mut second] = self.words();
        if second < first {
            (first, second) = (second, first);
        }
        // One that is missing lies at the beginning, and nothing before it.
        let middle = Span {
            start: first.end,
            end: second.start.max(first.end),
        };
        let rest = Span::new(second.end.max(first.end) as usize, line.len());
        let before = Span::new(0, first.start as usize);
        [before, middle, rest].map(|s| (s.start, s.of(line)))
    }

    /// `message.model`, as JSON in its line.
    pub(crate) fn model<'a>(&self, line: &'a [u8]) -> Option<&'a [u8]> {
        lookup_around(line, self.words(), &["message", "model"]).map(|s| s.of(line))
    }

    /// Whether it marks a compaction.
    pub fn is_boundary(&self) -> bool {
        self.head().is_boundary()
    }
}

/// What a line turned out to be.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum LineState {
    /// Nothing but white space.
    Blank,
    /// A record; the index is into [`Session::entries`](super::Session::entries).
    Entry(u32),
    /// Not one JSON object: torn, glued, filled with NULs or worse. Kept as it is.
    Opaque,
}

impl LineState {
    /// The number of its entry, if it is one.
    pub fn entry(self) -> Option<usize> {
        match self {
            LineState::Entry(number) => Some(number as usize),
            LineState::Blank | LineState::Opaque => None,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn there_are_many_of_them_and_so_they_are_small() {
        let sizes = [
            size_of::<EntryHead>(),
            size_of::<Entry>(),
            size_of::<Block>(),
        ];
        assert_eq!(sizes, [8, 144, 36]);
    }
}
