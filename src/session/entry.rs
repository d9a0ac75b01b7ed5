//! The few facts of an entry that surgery reads, found in one pass over its line.

use std::borrow::Cow;

use crate::jsonl::{
    Cursor, Edit, Malformed, Span, Token, WATCHED, Watched, begins_with_words, decode, decode_head,
    lookup, lookup_around,
};

use super::attachment::{ANNOUNCED, HIDDEN};
use super::id::Id;
use super::prompt::{PromptKind, classify, combine};
use super::usage;
use super::usual::{Reading, Usual};

/// The model of what the client says in the model's name, as JSON.
pub(super) const SYNTHETIC: &[u8] = b"\"<synthetic>\"";

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
    fn of(name: &[u8]) -> Self {
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
    /// An attachment that holds a prompt which a person typed while the model worked.
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
            fn $set(&mut self, on: bool) { if on { self.0 |= 1 << $bit } else { self.0 &= !(1 << $bit) } })*
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
    /// Some text does not begin with words, and may have none.
    wordless set_wordless 24
    /// It is an answer whose content is a string.
    string_answer set_string_answer 25
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
    fn of(name: &[u8]) -> Self {
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
    pub(super) call: u32,
    /// Where it lies in its line.
    pub span: Span,
    /// Where in its line the string `name` begins, and how long it is, up to 255. Of a result: where its `content` begins,
    /// and how far from the block's end it ends.
    name_at: u32,
    name_len: u8,
    /// What it is.
    pub kind: BlockKind,
    /// Whether `is_error` is true.
    pub failed: bool,
    /// What else is true of it; each a bit.
    facts: u8,
}

/// The number of no call.
pub(super) const NO_CALL: u32 = u32::MAX;

/// `content` is there and no string, so that it may hold other blocks.
const NESTED: u8 = 1;
/// `text` says something, as its beginning tells.
const WORDY: u8 = 2;
/// `signature` is a string, and not empty.
const SIGNED: u8 = 4;
/// `thinking` is a string, and not empty.
const SPOKEN: u8 = 8;

impl Block {
    /// The name of the tool that it calls, as JSON in its line; empty where it has none.
    pub fn name<'a>(&self, line: &'a [u8]) -> &'a [u8] {
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

    /// The name of the tool that it calls; empty where it has none.
    pub fn tool_name<'a>(&self, line: &'a [u8]) -> Cow<'a, str> {
        match self.name(line) {
            raw if raw.starts_with(b"\"") => decode(raw),
            _ => Cow::Borrowed(""),
        }
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
    pub fn is_spoken(&self) -> bool {
        self.facts & SPOKEN != 0
    }

    /// Whether it has a signature.
    pub fn is_signed(&self) -> bool {
        self.facts & SIGNED != 0
    }

    /// The same block so many bytes further.
    fn moved(&self, by: i64) -> Self {
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

    fn set(&mut self, fact: u8, on: bool) {
        self.facts = self.facts & !fact | if on { fact } else { 0 };
    }
}

/// How many bytes an id has, nearly always.
pub const ID_LEN: usize = 36;

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

    fn of(watched: &Watched, len: usize) -> Self {
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
    /// bytes that it shows to the model, or [`usage::LOOK`] where that takes a closer look.
    pub(super) window: u32,
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

impl Entry {
    /// Whether it has a place in the graph.
    pub fn is_chained(&self) -> bool {
        self.uuid.is_some()
            && (matches!(
                self.kind,
                Kind::User | Kind::Assistant | Kind::System | Kind::Attachment | Kind::Progress
            ) || self.flags.has_parent_field())
    }

    /// Whether it is a user's or the model's.
    pub fn is_message(&self) -> bool {
        matches!(self.kind, Kind::User | Kind::Assistant)
    }

    /// The words of the conversation in its line: what was said, and the client's own copy of a result.
    pub fn words(&self) -> [Span; 2] {
        [self.content, self.result]
    }

    /// The parts of its line around the words of the conversation.
    pub fn around_words<'a>(&self, line: &'a [u8]) -> [(u32, &'a [u8]); 3] {
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
    pub(super) fn model<'a>(&self, line: &'a [u8]) -> Option<&'a [u8]> {
        lookup_around(line, self.words(), &["message", "model"]).map(|s| s.of(line))
    }

    /// Whether it marks a compaction.
    pub fn is_boundary(&self) -> bool {
        self.flags.boundary()
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

/// Fields that most lines repeat, as they stand in one of them; empty where they do not.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct Repeated {
    /// `cwd`.
    pub(super) cwd: Span,
    /// `slug`.
    pub(super) slug: Span,
    /// `version`.
    pub(super) version: Span,
    /// `message.model`.
    pub(super) model: Span,
}

/// Reads a line that holds one JSON object; its blocks go behind those that are in `blocks`.
pub(super) fn parse(line: &[u8], blocks: &mut Vec<Block>) -> Result<(Entry, Repeated), Malformed> {
    let end = |c: &mut Cursor<'_>| c.finish().map(|()| (line.len(), ()));
    let (entry, repeated, _, ()) = read(line, Cursor::new(line), blocks, Known::Nothing, end)?;
    Ok((entry, repeated))
}

/// Reads the first line of `rest`, whose end need not be known, by what is usual in its session. With it comes where its
/// newline is, if it has one.
pub(super) fn parse_first(
    rest: &[u8],
    blocks: &mut Vec<Block>,
    usual: &mut Usual,
) -> Result<(Entry, Repeated, Option<usize>), Malformed> {
    let rest = &rest[..rest.len().min(u32::MAX as usize)];
    let end = |c: &mut Cursor<'_>| {
        let (len, newline) = c.finish_line()?;
        // What is white space here is part of the line's ending.
        let ending = newline && rest[..len].ends_with(b"\r");
        Ok((len - usize::from(ending), newline.then_some(len)))
    };
    let known = Known::Usual(usual);
    let (entry, repeated, _, newline) = read(rest, Cursor::line(rest), blocks, known, end)?;
    Ok((entry, repeated, newline))
}

/// Reads a line that was made from another, to the same effect as [`parse`]. Words of the conversation that are the same
/// are not read again, nor are their blocks told again: true where they lie as they did.
pub(super) fn parse_made(
    line: &[u8],
    made_from: (&[u8], &Entry, &[Block]),
    blocks: &mut Vec<Block>,
) -> Result<(Entry, Repeated, bool), Malformed> {
    let (other, known, others) = made_from;
    // What is odd about it may be in words that would be passed over.
    if known.flags.not_utf8() || known.flags.numbered_characters() {
        return parse(line, blocks).map(|(entry, repeated)| (entry, repeated, false));
    }
    let first = blocks.len();
    let end = |c: &mut Cursor<'_>| c.finish().map(|()| (line.len(), ()));
    let known_line = Known::Line(other, known);
    let (mut entry, repeated, same, ()) = read(line, Cursor::new(line), blocks, known_line, end)?;
    // Whose words they are was judged by more than the words.
    let judged = |e: &Entry| {
        let flags = e.flags;
        (
            e.kind,
            flags.meta(),
            flags.compact_summary(),
            flags.not_by_person(),
        )
    };
    if same && judged(&entry) != judged(known) {
        return parse(line, blocks).map(|(entry, repeated)| (entry, repeated, false));
    }
    let stay = same && entry.content.start == known.content.start;
    if same && !stay {
        let by = i64::from(entry.content.start) - i64::from(known.content.start);
        blocks.extend(others.iter().map(|b| b.moved(by)));
        entry.blocks = (first as u32, blocks.len() as u32);
    }
    Ok((entry, repeated, stay))
}

/// The entry that a line is which was made from another by these edits alone, if they give it another parent and nothing else:
/// then it need not be read. Clients write the parent first.
pub(super) fn with_other_parent(edits: &[Edit], made_from: (&[u8], &Entry)) -> Option<Entry> {
    const HEAD: &[u8] = b"{\"parentUuid\":";
    let (line, known) = made_from;
    let [edit] = edits else {
        return None;
    };
    let quoted = Span::new(HEAD.len(), HEAD.len() + ID_LEN + 2);
    let id = |quoted: &[u8]| Id::of_uuid(unquoted(quoted));
    if edit.span != quoted || known.flags.several_parents() || !line.starts_with(HEAD) {
        return None;
    }
    let was = line.get(quoted.range()).and_then(id)?;
    let parent = id(&edit.with)?;
    (was == known.parent).then_some(Entry { parent, ..*known })
}

/// Reads a line that was made from another. Words of the conversation that are the same are not read again,
/// and their blocks not told again.
pub fn reread(line: &[u8], made_from: (&[u8], &Entry)) -> Result<Entry, Malformed> {
    let end = |c: &mut Cursor<'_>| c.finish().map(|()| (line.len(), ()));
    let mut blocks = Vec::new();
    let known = Known::Line(made_from.0, made_from.1);
    let read = read(line, Cursor::new(line), &mut blocks, known, end)?;
    Ok(read.0)
}

/// From how many bytes on an output is compared with the client's copy of it.
const LONG: usize = 64;

/// What is known before a line is read.
enum Known<'a> {
    Nothing,
    /// The line that this one was made from.
    Line(&'a [u8], &'a Entry),
    /// What lines before it had.
    Usual(&'a mut Usual),
}

/// Reads the object that `text` begins with; `end` tells how long its line is, and whatever else is wanted. Told, too, is
/// whether its content is that of the known line.
fn read<'a, T>(
    text: &'a [u8],
    mut cursor: Cursor<'a>,
    blocks: &mut Vec<Block>,
    known: Known<'_>,
    end: impl FnOnce(&mut Cursor<'a>) -> Result<(usize, T), Malformed>,
) -> Result<(Entry, Repeated, bool, T), Malformed> {
    if text.len() > u32::MAX as usize {
        return Err(Malformed {
            at: u32::MAX as usize,
        });
    }
    let first = blocks.len();
    let mut reader = Reader {
        line: text,
        entry: Entry {
            time: i64::MIN,
            ..Entry::default()
        },
        blocks,
        first,
        known: match known {
            Known::Line(line, entry) => Some((line, entry)),
            Known::Nothing | Known::Usual(_) => None,
        },
        usual: match known {
            Known::Usual(usual) => Some(usual),
            Known::Nothing | Known::Line(..) => None,
        },
        same_content: false,
        repeated: Repeated::default(),
        output: Span::default(),
        copied: Span::default(),
        shows: usage::LOOK,
        rendered: false,
    };
    cursor.watch(ID_LEN);
    let ended = reader.top(&mut cursor).and_then(|()| end(&mut cursor));
    let (mut entry, repeated, same) = (reader.entry, reader.repeated, reader.same_content);
    let copied = reader.copied;
    let (len, more) = ended.inspect_err(|_| blocks.truncate(first))?;
    if entry.blocks == (0, 0) {
        entry.blocks = (first as u32, blocks.len() as u32);
    }
    // A copy is whole between its quotes, and as good as what it is a copy of.
    let is_utf8 = |bytes: &[u8]| simdutf8::basic::from_utf8(bytes).is_ok();
    let (before, behind) = (
        &text[..copied.start as usize],
        &text[copied.end as usize..len],
    );
    let not_utf8 = cursor.saw_high_bytes() && !(is_utf8(before) && is_utf8(behind));
    entry.flags.set_not_utf8(not_utf8);
    let numbered = cursor.saw_numbered_characters();
    entry.flags.set_numbered_characters(numbered);
    entry.ids = IdsAt::of(cursor.watched(), len);
    Ok((entry, repeated, same, more))
}

struct Reader<'a> {
    line: &'a [u8],
    entry: Entry,
    blocks: &'a mut Vec<Block>,
    /// Where this entry's begin.
    first: usize,
    /// The line that this one was made from.
    known: Option<(&'a [u8], &'a Entry)>,
    usual: Option<&'a mut Usual>,
    /// Its content is that of the known line.
    same_content: bool,
    repeated: Repeated,
    /// What a call brought, as a string; and where the client's own copy of it was passed over, because it is the same.
    output: Span,
    copied: Span,
    /// How many bytes its attachment shows, were it not rendered; see [`Entry::window`].
    shows: u32,
    /// There is a `rendered`.
    rendered: bool,
}

type Step = Result<(), Malformed>;

impl Reader<'_> {
    fn top(&mut self, c: &mut Cursor<'_>) -> Step {
        let mut first = true;
        let mut run: Option<Reading> = None;
        let mut source = Id::NONE;
        c.enter_object()?;
        while let Some(key) = c.next_key(&mut first)? {
            if self.usual.is_some() && run.is_none() && Reading::begins(key.of(self.line)) {
                if self.pass_usual(key, c) {
                    continue;
                }
                run = Some(Reading::new(key, c));
            }
            let before = c.watched().count();
            match key.of(self.line) {
                b"type" => self.entry.kind = self.name(c, Kind::of)?,
                b"uuid" => self.entry.uuid = self.id(c)?,
                b"parentUuid" => {
                    let again = self.entry.flags.has_parent_field();
                    self.entry.flags.set_several_parents(again);
                    self.entry.flags.set_has_parent_field(true);
                    self.entry.parent = self.id(c)?;
                }
                b"sessionId" => self.entry.session = self.id(c)?,
                b"logicalParentUuid" | b"leafUuid" | b"messageId" => {
                    self.entry.names = self.id(c)?;
                }
                b"sourceToolAssistantUUID" => source = self.id(c)?,
                b"timestamp" => self.entry.time = self.time(c)?,
                b"subtype" => {
                    self.entry.subtype = self.name(c, |n| match n {
                        b"compact_boundary" => Subtype::CompactBoundary,
                        b"microcompact_boundary" => Subtype::MicrocompactBoundary,
                        b"local_command" => Subtype::LocalCommand,
                        _ => Subtype::Other,
                    })?;
                }
                b"promptSource" => self.origin(c, &[b"system"])?,
                b"turnOrigin" => {
                    self.origin(
                        c,
                        &[
                            b"task_notification",
                            b"scheduled",
                            b"peer",
                            b"auto_continuation",
                            b"host_synthetic",
                            b"system",
                        ],
                    )?;
                }
                b"origin" => self.origin_kind(c)?,
                b"attachment" => self.attachment(c)?,
                b"message" => self.message(c)?,
                b"isSidechain" => self.truth(c, Flags::set_sidechain)?,
                b"isMeta" => self.truth(c, Flags::set_meta)?,
                b"isCompactSummary" => self.truth(c, Flags::set_compact_summary)?,
                b"isVisibleInTranscriptOnly" => self.truth(c, Flags::set_transcript_only)?,
                b"isApiErrorMessage" => self.truth(c, Flags::set_api_error)?,
                b"permissionMode" => self.present(c, Flags::set_permission_mode)?,
                b"toolUseResult" => {
                    let watched = c.keep_watching(false);
                    self.result(c)?;
                    c.keep_watching(watched);
                    let there = self.entry.result.of(self.line) != b"null";
                    self.entry.flags.set_tool_use_result(there);
                }
                b"toolUseID" | b"parentToolUseID" | b"sourceToolUseID" => {
                    c.skip()?;
                    self.entry.flags.set_companion(true);
                }
                b"rendered" => {
                    c.skip()?;
                    self.rendered = true;
                }
                b"cwd" => self.repeated.cwd = c.skip()?,
                b"slug" => self.repeated.slug = c.skip()?,
                b"version" => self.repeated.version = c.skip()?,
                b"forkedFrom" => self.present(c, Flags::set_forked)?,
                _ => {
                    c.skip()?;
                }
            }
            // What ends with a quote is a string, and has nothing in it.
            if c.watched().count() > before && self.line[c.position() - 1] != b'"' {
                self.entry.flags.set_deep_ids(true);
            }
            if let Some(reading) = &mut run
                && !reading.take(self.line, key, c, (&self.entry, &self.repeated))
            {
                self.learn(run.take(), c);
            }
        }
        self.learn(run, c);
        if self.entry.kind != Kind::User || self.entry.flags.meta() {
            self.entry.prompt = PromptKind::None;
        } else if self.entry.flags.compact_summary()
            || self.entry.flags.not_by_person() && self.entry.prompt != PromptKind::None
        {
            self.entry.prompt = PromptKind::Machine;
        }
        if self.entry.kind == Kind::User && self.entry.is_chained() && !self.entry.names.is_some() {
            self.entry.names = source;
        }
        let boundary = self.entry.subtype == Subtype::CompactBoundary;
        let boundary = boundary && self.entry.kind == Kind::System;
        self.entry.flags.set_boundary(boundary);
        let answer = self.entry.kind == Kind::Assistant;
        let string = self.entry.flags.string_content();
        self.entry.flags.set_string_answer(answer && string);
        if self.entry.kind == Kind::Attachment {
            self.entry.window = if self.rendered {
                usage::LOOK
            } else {
                self.shows
            };
        }
        Ok(())
    }

    /// Passes over what most lines have from the key on that was just read; false where this one has something else.
    fn pass_usual(&mut self, key: Span, c: &mut Cursor<'_>) -> bool {
        let Some(usual) = &self.usual else {
            return false;
        };
        usual.pass(key, c, &mut self.entry, &mut self.repeated)
    }

    fn learn(&mut self, reading: Option<Reading>, c: &Cursor<'_>) {
        if let (Some(usual), Some(reading)) = (&mut self.usual, reading) {
            usual.learn(self.line, reading, c);
        }
    }

    /// Passes over the client's own copy of a result.
    fn result(&mut self, c: &mut Cursor<'_>) -> Step {
        let token = c.peek()?;
        let start = c.position();
        self.entry.flags.set_agent(false);
        self.entry.flags.set_persisted(false);
        if let Some((line, known)) = self.known
            && c.pass(known.result.of(line))
        {
            self.entry.flags.set_agent(known.flags.agent());
            self.entry.flags.set_persisted(known.flags.persisted());
        } else if token == Token::Object {
            let mut first = true;
            c.enter_object()?;
            while let Some(key) = c.next_key(&mut first)? {
                match key.of(self.line) {
                    b"agentId" => self.entry.flags.set_agent(true),
                    b"persistedOutputPath" => self.entry.flags.set_persisted(true),
                    _ => {}
                }
                if !self.pass_copy(c) {
                    c.skip()?;
                }
            }
        } else {
            c.skip()?;
        }
        self.entry.result = Span::new(start, c.position());
        Ok(())
    }

    /// Passes over the client's copy of what a call brought, if that is what comes next.
    fn pass_copy(&mut self, c: &mut Cursor<'_>) -> bool {
        let known = self.output.len() >= LONG && self.copied.is_empty();
        if !known || !c.pass(self.output.of(self.line)) {
            return false;
        }
        let end = c.position();
        self.copied = Span::new(end - self.output.len(), end);
        true
    }

    /// Notes that no person sent it, if the next string is one of `machines`.
    fn origin(&mut self, c: &mut Cursor<'_>, machines: &[&[u8]]) -> Step {
        let machine = self.name(c, |n| machines.contains(&n))?;
        if machine {
            self.entry.flags.set_not_by_person(true);
        }
        Ok(())
    }

    fn origin_kind(&mut self, c: &mut Cursor<'_>) -> Step {
        let span = c.skip()?;
        let raw = span.of(self.line);
        let kind = crate::jsonl::lookup(raw, &["kind"]).map(|k| k.of(raw));
        if kind.is_some_and(|k| k != b"\"human\"") {
            self.entry.flags.set_not_by_person(true);
        }
        Ok(())
    }

    fn attachment(&mut self, c: &mut Cursor<'_>) -> Step {
        self.shows = usage::LOOK;
        if c.peek()? != Token::Object {
            c.skip()?;
            return Ok(());
        }
        let mut first = true;
        let (mut hidden, mut content) = (false, Span::default());
        c.enter_object()?;
        while let Some(key) = c.next_key(&mut first)? {
            match key.of(self.line) {
                b"type" => {
                    let kind = c.skip()?;
                    hidden = HIDDEN.contains(&kind.of(self.line));
                    let (subtype, announced) = match unquoted(kind.of(self.line)) {
                        b"queued_command" => (Subtype::QueuedCommand, false),
                        name => (Subtype::Other, ANNOUNCED.contains(&name)),
                    };
                    self.entry.subtype = subtype;
                    self.entry.flags.set_announced(announced);
                }
                b"content" => content = c.skip()?,
                b"toolUseID" => {
                    c.skip()?;
                    self.entry.flags.set_companion(true);
                }
                _ => {
                    c.skip()?;
                }
            }
        }
        let words = content.of(self.line);
        if hidden {
            self.shows = 0;
        } else if says(words) {
            self.shows = words.len() as u32;
        }
        Ok(())
    }

    fn message(&mut self, c: &mut Cursor<'_>) -> Step {
        if c.peek()? != Token::Object {
            c.skip()?;
            return Ok(());
        }
        let mut first = true;
        self.entry.window = 0;
        self.repeated.model = Span::default();
        self.entry.flags.set_modelled(false);
        c.enter_object()?;
        while let Some(key) = c.next_key(&mut first)? {
            match key.of(self.line) {
                b"id" => self.entry.message_id = self.id(c)?,
                b"model" => {
                    self.repeated.model = c.skip()?;
                    let model = self.repeated.model.of(self.line);
                    self.entry.flags.set_synthetic(model == SYNTHETIC);
                    self.entry.flags.set_modelled(model.starts_with(b"\""));
                }
                b"usage" => {
                    let there = c.peek()? == Token::Object;
                    self.entry.window = if there {
                        usage::pass(self.line, c)?
                    } else {
                        c.skip()?;
                        0
                    };
                }
                b"content" => {
                    let watched = c.keep_watching(false);
                    self.content(c)?;
                    c.keep_watching(watched);
                }
                _ => {
                    c.skip()?;
                }
            }
        }
        Ok(())
    }

    fn content(&mut self, c: &mut Cursor<'_>) -> Step {
        self.blocks.truncate(self.first);
        self.entry.prompt = PromptKind::None;
        self.entry.flags.set_string_content(false);
        self.entry.blocks = (0, 0);
        self.same_content = false;
        let token = c.peek()?;
        let start = c.position();
        if let Some((line, entry)) = self.known
            && c.pass(entry.content.of(line))
        {
            self.entry.content = Span::new(start, c.position());
            self.entry.blocks = entry.blocks;
            self.entry.prompt = entry.prompt;
            let string = entry.flags.string_content();
            self.entry.flags.set_string_content(string);
            self.entry.flags.set_media(entry.flags.media());
            self.entry.flags.set_unsigned(entry.flags.unsigned());
            self.entry.flags.set_wordless(entry.flags.wordless());
            self.same_content = true;
            return Ok(());
        }
        match token {
            Token::String => {
                c.skip()?;
                self.entry.content = Span::new(start, c.position());
                self.entry.flags.set_string_content(true);
                self.entry.prompt = self.judge(self.entry.content);
            }
            Token::Array => {
                let mut first = true;
                c.enter_array()?;
                while c.next_element(&mut first)? {
                    self.block(c)?;
                }
                self.entry.content = Span::new(start, c.position());
                let blocks = &self.blocks[self.first..];
                if blocks.iter().any(|b| b.kind == BlockKind::ToolResult) {
                    self.entry.prompt = PromptKind::None;
                }
            }
            Token::Object | Token::Scalar => self.entry.content = c.skip()?,
        }
        let blocks = &self.blocks[self.first..];
        let unsigned = |b: &Block| b.kind == BlockKind::Thinking && !b.is_signed();
        let wordless = |b: &Block| b.kind == BlockKind::Text && !b.has_words();
        let flags = &mut self.entry.flags;
        flags.set_media(blocks.iter().any(Block::may_hold_media));
        flags.set_unsigned(blocks.iter().any(unsigned));
        flags.set_wordless(blocks.iter().any(wordless));
        Ok(())
    }

    fn block(&mut self, c: &mut Cursor<'_>) -> Step {
        let token = c.peek()?;
        let start = c.position();
        let mut block = Block {
            tool: Id::NONE,
            call: NO_CALL,
            span: Span::default(),
            name_at: 0,
            name_len: 0,
            kind: BlockKind::Other,
            failed: false,
            facts: 0,
        };
        if token == Token::Object {
            let mut first = true;
            let mut text = None;
            let mut content = Span::default();
            c.enter_object()?;
            while let Some(key) = c.next_key(&mut first)? {
                match key.of(self.line) {
                    b"type" => block.kind = self.name(c, BlockKind::of)?,
                    b"id" | b"tool_use_id" => block.tool = self.id(c)?,
                    b"text" => {
                        let words = c.skip()?;
                        block.set(WORDY, begins_with_words(words.of(self.line)));
                        text = Some(words);
                    }
                    b"signature" => block.set(SIGNED, says(c.skip()?.of(self.line))),
                    b"thinking" => block.set(SPOKEN, says(c.skip()?.of(self.line))),
                    b"name" => {
                        let span = c.skip()?;
                        block.name_at = span.start;
                        block.name_len = span.len().min(255) as u8;
                    }
                    b"content" => {
                        let nested = c.peek()? != Token::String;
                        block.set(NESTED, nested);
                        content = c.skip()?;
                        if !nested {
                            self.output = content;
                        }
                    }
                    b"is_error" => block.failed = c.skip()?.of(self.line) == b"true",
                    _ => {
                        c.skip()?;
                    }
                }
            }
            let judged = match (block.kind, text) {
                (BlockKind::Text, Some(text)) => self.judge(text),
                (BlockKind::Image | BlockKind::Document, _) => PromptKind::Words,
                _ => PromptKind::None,
            };
            self.entry.prompt = combine(self.entry.prompt, judged);
            if block.kind.is_result() {
                let tail = if content.is_empty() {
                    0
                } else {
                    c.position() - content.end as usize
                };
                block.name_at = content.start;
                block.name_len = tail.min(255) as u8;
            }
        } else {
            c.skip()?;
        }
        block.span = Span::new(start, c.position());
        self.blocks.push(block);
        Ok(())
    }

    /// Judges a text by its first words, however long it is.
    fn judge(&self, quoted: Span) -> PromptKind {
        let raw = quoted.of(self.line);
        let head = decode_head(raw, 256);
        // White space as far as was looked says nothing of the rest.
        if head.trim().is_empty() {
            classify(&decode(raw))
        } else {
            classify(&head)
        }
    }

    fn name<T>(&self, c: &mut Cursor<'_>, of: impl Fn(&[u8]) -> T) -> Result<T, Malformed> {
        let span = c.skip()?;
        Ok(of(unquoted(span.of(self.line))))
    }

    fn id(&self, c: &mut Cursor<'_>) -> Result<Id, Malformed> {
        if c.peek()? != Token::String {
            c.skip()?;
            return Ok(Id::NONE);
        }
        let span = c.skip()?;
        Ok(id_of_string(span.of(self.line)))
    }

    fn time(&mut self, c: &mut Cursor<'_>) -> Result<i64, Malformed> {
        static PARSER: jiff::fmt::temporal::DateTimeParser =
            jiff::fmt::temporal::DateTimeParser::new();
        let span = c.skip()?;
        let raw = span.of(self.line);
        let plain = raw.strip_prefix(b"\"").and_then(|r| r.strip_suffix(b"\""));
        let known = |usual: &&mut Usual| usual.time(plain?);
        if let Some(time) = self.usual.as_ref().and_then(known) {
            return Ok(time);
        }
        let time = match plain {
            Some(plain) if memchr::memchr(b'\\', plain).is_none() => PARSER.parse_timestamp(plain),
            _ => decode(raw).parse(),
        };
        let time = time.map(jiff::Timestamp::as_millisecond);
        if let (Some(usual), Some(plain), Ok(time)) = (&mut self.usual, plain, &time) {
            usual.learn_day(plain, *time);
        }
        Ok(time.unwrap_or(i64::MIN))
    }

    fn truth(&mut self, c: &mut Cursor<'_>, set: fn(&mut Flags, bool)) -> Step {
        let span = c.skip()?;
        set(&mut self.entry.flags, span.of(self.line) == b"true");
        Ok(())
    }

    fn present(&mut self, c: &mut Cursor<'_>, set: fn(&mut Flags, bool)) -> Step {
        let span = c.skip()?;
        set(&mut self.entry.flags, span.of(self.line) != b"null");
        Ok(())
    }
}

/// What stands between the quotes of a string; nothing where it is none.
fn unquoted(raw: &[u8]) -> &[u8] {
    let inner = raw.strip_prefix(b"\"").and_then(|r| r.strip_suffix(b"\""));
    inner.unwrap_or_default()
}

/// Whether it is a string, and not empty.
fn says(raw: &[u8]) -> bool {
    raw.starts_with(b"\"") && raw.len() > 2
}

/// The id that a JSON string (quotes included) spells.
pub(super) fn id_of_string(raw: &[u8]) -> Id {
    let inner = &raw[1..raw.len() - 1];
    if memchr::memchr(b'\\', inner).is_some() {
        Id::of(decode(raw).as_bytes())
    } else {
        Id::of(inner)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    struct Parsed {
        entry: Entry,
        blocks: Vec<Block>,
    }

    fn parse(line: &[u8]) -> Result<Parsed, Malformed> {
        let mut blocks = Vec::new();
        super::parse(line, &mut blocks).map(|(entry, _)| Parsed { entry, blocks })
    }

    #[test]
    fn reads_a_prompt() {
        let p = parse(br#"{"parentUuid":null,"type":"user","message":{"role":"user","content":"hi"},"uuid":"a","timestamp":"2026-01-03T10:00:00.000Z","permissionMode":"default"}"#).unwrap();
        assert_eq!(
            (p.entry.kind, p.entry.prompt),
            (Kind::User, PromptKind::Words)
        );
        assert_eq!(p.entry.uuid, Id::of(b"a"));
        assert!(
            p.entry.flags.has_parent_field()
                && p.entry.flags.permission_mode()
                && !p.entry.parent.is_some()
        );
        assert_eq!(p.entry.time, 1_767_434_400_000);
    }

    #[test]
    fn a_copy_is_no_better_than_what_it_is_a_copy_of() {
        let line = |content: &[u8], copy: &[u8]| {
            let parts: [&[u8]; 5] = [
                br#"{"type":"user","message":{"content":[{"type":"tool_result","content":""#,
                content,
                br#""}]},"toolUseResult":{"stdout":""#,
                copy,
                br#""},"uuid":"a"}"#,
            ];
            parse(&parts.concat()).expect("an entry").entry
        };
        let words = "größe ".repeat(20).into_bytes();
        let mut torn = words.clone();
        torn.push(0xc3);
        assert!(!line(&words, &words).flags.not_utf8());
        for (content, copy) in [(&torn, &torn), (&words, &torn), (&torn, &words)] {
            assert!(line(content, copy).flags.not_utf8());
        }
        let len = |e: Entry| e.result.len();
        assert_eq!(len(line(&words, &words)), len(line(b"", &words)));
    }

    #[test]
    fn reads_blocks_with_their_calls() {
        let line = br#"{"type":"assistant","uuid":"b","message":{"id":"m","content":[{"type":"thinking","thinking":"t","signature":"s"},{"type":"tool_use","id":"c","name":"Bash","input":{"id":"no"}}]}}"#;
        let p = parse(line).unwrap();
        let kinds: Vec<_> = p.blocks.iter().map(|b| (b.kind, b.tool)).collect();
        assert_eq!(
            kinds,
            [
                (BlockKind::Thinking, Id::NONE),
                (BlockKind::ToolUse, Id::of(b"c"))
            ]
        );
        assert!(
            p.blocks[1]
                .span
                .of(line)
                .starts_with(b"{\"type\":\"tool_use\"")
        );
    }

    #[test]
    fn a_result_knows_where_its_content_is() {
        let far = format!(r#","x":"{}""#, "y".repeat(300));
        for (content, behind) in [
            (r#","content":"out""#, ""),
            (r#","content":[{"type":"text"}]"#, r#","is_error":true"#),
            (r#","content":"a","content":"b""#, &far),
            (r#","content":"a""#, r#","name":"n""#),
            ("", ""),
        ] {
            let line = format!(
                r#"{{"type":"user","message":{{"content":[{{"type":"tool_result"{content}{behind}}}]}}}}"#
            );
            let (line, parsed) = (line.as_bytes(), parse(line.as_bytes()).unwrap());
            let block = &parsed.blocks[0];
            let expected =
                lookup(block.span.of(line), &["content"]).map(|s| s.of(block.span.of(line)));
            assert_eq!(block.content(line).map(|s| s.of(line)), expected);
            let name: &[u8] = if behind.contains("name") {
                b"\"n\""
            } else {
                b""
            };
            assert_eq!(block.name(line), name);
        }
    }

    #[test]
    fn results_are_no_prompts_and_fields_of_other_types_no_trouble() {
        let p = parse(br#"{"type":"user","uuid":7,"message":{"content":[{"type":"tool_result","tool_use_id":"c"},{"type":"text","text":"x"}]}}"#).unwrap();
        assert_eq!((p.entry.prompt, p.entry.uuid), (PromptKind::None, Id::NONE));
        assert!(parse(b"[1]").is_err() && parse(b"{} {}").is_err());
    }

    #[test]
    fn long_prompts_are_judged_by_their_head() {
        let line = format!(
            r#"{{"type":"user","message":{{"content":"{}<x>"}}}}"#,
            "\\n".repeat(900)
        );
        assert_eq!(
            parse(line.as_bytes()).unwrap().entry.prompt,
            PromptKind::Words
        );
        let line = format!(
            r#"{{"type":"user","message":{{"content":"<local-command-stdout>{}"}}}}"#,
            "y".repeat(900)
        );
        assert_eq!(
            parse(line.as_bytes()).unwrap().entry.prompt,
            PromptKind::Machine
        );
    }
}
