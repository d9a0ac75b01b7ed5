//! What an entry is: its kind and the facts that are true or false of it.

use super::prompt::PromptKind;

/// The kind of an entry, by its `type`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
#[repr(u8)]
#[allow(missing_docs)]
#[non_exhaustive]
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
    /// States byte offsets into the transcript.
    ResumeHeadVouch,
    /// Any other kind, including those of later clients.
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

/// The kind of a system entry or an attachment, as far as surgery cares.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
#[repr(u8)]
#[allow(missing_docs)]
#[non_exhaustive]
pub enum Subtype {
    #[default]
    None,
    CompactBoundary,
    MicrocompactBoundary,
    LocalCommand,
    /// An attachment with a prompt that a person typed while the model worked.
    QueuedCommand,
    Other,
}

/// Facts about an entry, one bit each.
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
    /// `isMeta`: text of the client in the user's name.
    meta set_meta 1
    /// `isCompactSummary`.
    compact_summary set_compact_summary 2
    /// `isVisibleInTranscriptOnly`.
    transcript_only set_transcript_only 3
    /// `isApiErrorMessage`: an error shown as an answer of the model.
    api_error set_api_error 4
    /// The model is `<synthetic>`: the client wrote the answer.
    synthetic set_synthetic 5
    /// There is a `parentUuid`, possibly null.
    has_parent_field set_has_parent_field 6
    /// `message.content` is a string.
    string_content set_string_content 7
    /// There is a `toolUseResult`.
    tool_use_result set_tool_use_result 8
    /// There is a `permissionMode`, which only prompts have.
    permission_mode set_permission_mode 9
    /// The line is not valid UTF-8.
    not_utf8 set_not_utf8 10
    /// Some string in the line has a `\\u0041`-like escape.
    numbered_characters set_numbered_characters 11
    /// There is a `forkedFrom`.
    forked set_forked 12
    /// `promptSource`, `turnOrigin` or `origin.kind` says that no person sent it.
    not_by_person set_not_by_person 13
    /// An attachment that the client creates again where it is no longer in the context window.
    announced set_announced 14
    /// `toolUseResult` is that of a subagent: it has an `agentId`.
    agent set_agent 15
    /// `message.model` is a string.
    modelled set_modelled 16
    /// Some of [`Entry::ids`](super::Entry::ids) are inside nested objects or arrays.
    deep_ids set_deep_ids 17
    /// `toolUseResult` names a file with the full output: it has a `persistedOutputPath`.
    persisted set_persisted 18
    /// Belongs to a call, which it or its attachment names by `toolUseID` or the like.
    companion set_companion 19
    /// There is more than one `parentUuid`.
    several_parents set_several_parents 20
    /// Marks a compaction.
    boundary set_boundary 21
    /// Some block is or may contain an image or a document.
    media set_media 22
    /// Some thinking has no signature.
    unsigned set_unsigned 23
    /// Some text may be blank, because it does not begin with a letter; or the message is empty.
    wordless set_wordless 24
    /// An answer of the model whose content is a string.
    string_answer set_string_answer 25
    /// The line begins with its only `parentUuid`, which is a UUID, as clients write it; see [`LEADING_PARENT`](super::LEADING_PARENT).
    leading_parent set_leading_parent 26
    /// Is part of the graph.
    chained set_chained 27
    /// Its `uuid` or `sessionId` is not a UUID.
    odd_ids set_odd_ids 28
    /// Some block is thinking.
    thinking set_thinking 29
    /// `promptSource` or `origin.kind` says that a person sent it.
    by_person set_by_person 30
}

impl Flags {
    /// Returns the facts that are true in at least one of both.
    #[must_use]
    pub fn or(self, other: Self) -> Self {
        Self(self.0 | other.0)
    }
}

/// What an entry is, in eight bytes.
///
/// A session keeps a column of these, so that passes over all entries which need no more read 8 bytes for each instead
/// of the 144 of an [`Entry`](super::Entry).
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct EntryHead {
    /// The kind.
    pub kind: Kind,
    /// The kind of a system entry or an attachment.
    pub subtype: Subtype,
    /// Who wrote the text of a user entry.
    pub prompt: PromptKind,
    /// Facts that are true or false.
    pub flags: Flags,
}

impl EntryHead {
    /// Whether it is part of the graph.
    pub fn is_chained(self) -> bool {
        self.flags.chained()
    }

    /// Whether it is a message of the user or the model.
    pub fn is_message(self) -> bool {
        matches!(self.kind, Kind::User | Kind::Assistant)
    }

    /// Whether it marks a compaction.
    pub fn is_boundary(self) -> bool {
        self.flags.boundary()
    }
}
