//! One content block that the model is shown, as spans of the file.

use std::borrow::Cow;

use crate::json::{Edit, apply_edits, begins_with_text, encode, lookup};

use super::weight::{Weight, block_weight, media_block};
use crate::transcript::{AttachedMedia, Block, BlockKind, EntryIx, Id, NO_CALL};

/// How the client wraps a reminder that it sends in a user message, as JSON text.
const OPEN: &[u8] = br"<system-reminder>\n";
const CLOSE: &[u8] = br"\n</system-reminder>";

/// One content block of an API message.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PayloadBlock<'a> {
    /// The entry that it comes from; for joined reminders, the first of them.
    pub entry: EntryIx,
    /// What it is.
    pub kind: BlockKind,
    /// The call that it is or answers.
    pub tool: Id,
    /// The number of that call.
    pub(crate) call: u32,
    /// Whether the client adds a line break to its text, to separate it from the next.
    pub(crate) newline: bool,
    /// Whether it may contain images or documents.
    pub(crate) media: bool,
    /// The length of a result's `content`.
    content: u32,
    /// Whether it is known not to be blank.
    wordy: bool,
    pub(crate) form: Form<'a>,
}

/// Where the JSON of a block comes from.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Form<'a> {
    /// A block, as the file has it.
    Raw(&'a [u8]),
    /// A JSON string that is the text of a block.
    Words(&'a [u8]),
    /// JSON strings of reminders; the client joins them to one text without their wrapping.
    Reminders(Vec<&'a [u8]>),
    /// A block that the client invents.
    Made(Vec<u8>),
    /// A picture or document of an attachment.
    Media(AttachedMedia<'a>),
}

impl<'a> PayloadBlock<'a> {
    /// A block of an entry, whose line this is.
    pub(crate) fn block(entry: EntryIx, block: &Block, line: &'a [u8]) -> Self {
        Self {
            entry,
            kind: block.kind,
            tool: block.tool,
            call: block.call,
            newline: false,
            media: block.may_hold_media(),
            content: if block.kind.is_result() {
                block.content(line).map_or(0, |c| c.len() as u32)
            } else {
                0
            },
            wordy: block.has_words(),
            form: Form::Raw(block.span.of(line)),
        }
    }

    /// The reminders that are joined to one text of an entry.
    pub(crate) fn reminders(entry: EntryIx, all: Vec<&'a [u8]>) -> Self {
        Self::text(entry, false, Form::Reminders(all))
    }

    /// A JSON string of an entry that is a text.
    pub(crate) fn words(entry: EntryIx, raw: &'a [u8]) -> Self {
        Self::text(entry, begins_with_text(raw), Form::Words(raw))
    }

    fn text(entry: EntryIx, wordy: bool, form: Form<'a>) -> Self {
        Self {
            entry,
            kind: BlockKind::Text,
            tool: Id::NONE,
            call: NO_CALL,
            newline: false,
            media: false,
            content: 0,
            wordy,
            form,
        }
    }

    /// A picture or document of an attachment.
    pub(crate) fn attached(entry: EntryIx, media: AttachedMedia<'a>) -> Self {
        let is_document = match media {
            AttachedMedia::Block(raw) => {
                lookup(raw, &["type"]).is_some_and(|s| s.of(raw) == b"\"document\"")
            }
            AttachedMedia::File { .. } => false,
        };
        Self {
            kind: if is_document {
                BlockKind::Document
            } else {
                BlockKind::Image
            },
            media: true,
            ..Self::text(entry, false, Form::Media(media))
        }
    }

    /// Whether the client invents it, so that no line of the file holds it.
    pub fn is_made_up(&self) -> bool {
        matches!(self.form, Form::Made(_))
    }

    /// The number of bytes of the file that it consists of.
    pub fn len(&self) -> usize {
        match &self.form {
            Form::Raw(raw) | Form::Words(raw) | Form::Media(AttachedMedia::Block(raw)) => raw.len(),
            Form::Reminders(all) => all.iter().map(|r| r.len()).sum(),
            Form::Made(made) => made.len(),
            Form::Media(AttachedMedia::File { data, .. }) => data.len(),
        }
    }

    /// Whether it consists of no bytes of the file.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// The block as JSON, in the file's own spelling.
    pub fn json(&self) -> Cow<'a, [u8]> {
        match &self.form {
            Form::Raw(raw) if self.newline => Cow::Owned(with_newline(raw)),
            Form::Raw(raw) => renamed(raw, self.kind),
            Form::Words(raw) => {
                let inner = raw.strip_suffix(b"\"").unwrap_or(raw);
                let ending: &[u8] = if self.newline { br"\n" } else { b"" };
                Cow::Owned([br#"{"type":"text","text":"#, inner, ending, b"\"}"].concat())
            }
            Form::Reminders(all) => {
                let mut out = br#"{"type":"text","text":""#.to_vec();
                for (i, raw) in all.iter().enumerate() {
                    if i > 0 {
                        out.extend_from_slice(br"\n\n");
                    }
                    out.extend_from_slice(unwrapped(raw));
                }
                out.extend_from_slice(b"\"}");
                Cow::Owned(out)
            }
            Form::Made(made) => Cow::Owned(made.clone()),
            Form::Media(media) => media_block(media),
        }
    }

    /// Its weight in the context window.
    pub fn weight(&self) -> Weight {
        match &self.form {
            Form::Raw(raw) => block_weight(self.kind, raw, self.content as usize, self.media),
            Form::Words(raw) => Weight::of_text(raw.len().saturating_sub(2)),
            Form::Reminders(all) => all
                .iter()
                .map(|r| Weight::of_text(unwrapped(r).len()))
                .sum(),
            Form::Media(media) => Weight::of_media(&media_block(media)),
            Form::Made(made) => Weight::of_result(made.len()),
        }
    }

    /// Whether it is a text of nothing but white space, which the API refuses.
    pub(crate) fn is_blank(&self) -> bool {
        if self.kind != BlockKind::Text || self.wordy {
            return false;
        }
        let words = match &self.form {
            Form::Raw(raw) => lookup(raw, &["text"]).map(|s| s.of(raw)),
            Form::Words(raw) => Some(*raw),
            Form::Reminders(_) | Form::Made(_) | Form::Media(_) => return false,
        };
        // A longer text is practically never blank, so it is not decoded.
        words.is_none_or(|w| w.len() < 4096 && crate::json::decode(w).trim().is_empty())
    }
}

/// Returns a result for a call that was never answered, as the client invents one. The client's own text is longer.
pub(crate) fn made_up_result(
    entry: EntryIx,
    block: &Block,
    line: &[u8],
) -> Option<PayloadBlock<'static>> {
    let call = block.span.of(line);
    let id = lookup(call, &["id"])?.of(call);
    let words = encode("[no result was recorded; the client makes one up]");
    let made = [
        br#"{"type":"tool_result","content":"#,
        words.as_bytes(),
        br#","is_error":true,"tool_use_id":"#,
        id,
        b"}",
    ]
    .concat();
    Some(PayloadBlock {
        entry,
        kind: BlockKind::ToolResult,
        tool: block.tool,
        call: block.call,
        newline: false,
        media: false,
        content: 0,
        wordy: false,
        form: Form::Made(made),
    })
}

fn with_newline(raw: &[u8]) -> Vec<u8> {
    let Some(text) = lookup(raw, &["text"]) else {
        return raw.to_vec();
    };
    let words = text.of(raw);
    let ended = [words.strip_suffix(b"\"").unwrap_or(words), br#"\n""#].concat();
    apply_edits(raw, &[Edit::new(text, ended)]).unwrap_or_else(|_| raw.to_vec())
}

/// Replaces the old name of the tool that starts subagents with the new one, as the newest client does.
fn renamed(raw: &[u8], kind: BlockKind) -> Cow<'_, [u8]> {
    if kind == BlockKind::ToolUse
        && let Some(name) = lookup(raw, &["name"])
        && name.of(raw) == b"\"Task\""
        && let Ok(made) = apply_edits(raw, &[Edit::new(name, *b"\"Agent\"")])
    {
        return Cow::Owned(made);
    }
    Cow::Borrowed(raw)
}

/// Returns the text of a reminder, still escaped, without quotes and wrapping.
fn unwrapped(raw: &[u8]) -> &[u8] {
    let inner = raw
        .strip_prefix(b"\"")
        .and_then(|r| r.strip_suffix(b"\""))
        .unwrap_or(raw);
    inner
        .strip_prefix(OPEN)
        .and_then(|r| r.strip_suffix(CLOSE))
        .unwrap_or(inner)
}
