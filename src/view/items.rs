//! What happens in a turn, item by item.

use serde::Serialize;

use crate::document::LineIx;
use crate::json::{Span, decode, lookup};

use super::call_summary::CallSummary;
use super::excerpt::{result_words, words_of};
use super::file_edit::FileEdit;
use super::overview::{prompt_as_typed, prompt_text};
use super::session_text::{SessionJson, SessionText};
use super::turn_stats::is_error;
use crate::session::{At, Session};
use crate::transcript::{Block, BlockKind, Entry, Kind, PromptKind, Subtype};
use crate::window::{Picture, images};

/// One thing that happens in a turn.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct TurnItem {
    /// The uuid of the entry that holds it, by which other commands name the message.
    pub uuid: Option<String>,
    /// When it was written.
    pub time: Option<String>,
    /// What it is.
    #[serde(flatten)]
    pub content: ItemContent,
}

/// What an item is.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case", tag = "kind")]
#[non_exhaustive]
pub enum ItemContent {
    /// A prompt, as a person typed it.
    Prompt {
        /// The text.
        text: SessionText,
    },
    /// Text of the model, mostly Markdown.
    Answer {
        /// The text.
        text: SessionText,
    },
    /// Thinking of the model; empty if it is redacted.
    Thinking {
        /// The text.
        text: SessionText,
    },
    /// A call of a tool.
    Call(Box<CallItem>),
    /// The result of a call.
    Result {
        /// The id of the call.
        call_id: SessionText,
        /// Its text.
        text: SessionText,
        /// Whether the call failed.
        error: bool,
    },
    /// An image in a prompt or a result.
    Image(MediaItem),
    /// A document in a prompt or a result, for example a PDF.
    Document(MediaItem),
    /// A compaction: the model is shown a summary instead of what precedes it.
    Compaction {
        /// What started it: `manual` or `auto`.
        trigger: SessionText,
        /// The tokens in the context window before it, if they were recorded.
        tokens: Option<u64>,
    },
    /// The summary that replaces the history after a compaction.
    Summary {
        /// The text.
        text: SessionText,
    },
    /// Something else that the client added: the output of a command, a reminder, an error.
    Note {
        /// What it is.
        what: SessionText,
        /// The text.
        text: SessionText,
    },
}

/// Returns a heading for a note: its kind in words.
pub fn note_heading(what: &SessionText) -> SessionText {
    match what.raw() {
        "client" => "Claude Code".into(),
        kind => kind.replace('_', " ").into(),
    }
}

/// A call of a tool.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize)]
pub struct CallItem {
    /// Its id, by which other commands name it.
    pub id: SessionText,
    /// The tool.
    pub tool: SessionText,
    /// The input that says most: a command, a file, a pattern.
    pub gist: SessionText,
    /// The whole input.
    pub input: SessionJson,
    /// The subagent that the call started.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub agent_id: Option<SessionText>,
    /// The changes that it makes to a file. They repeat the input, so documents leave them out.
    #[serde(skip)]
    pub edits: Vec<FileEdit>,
}

/// An image or a document.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize)]
pub struct MediaItem {
    /// Its format, as the media type names it: `png`.
    pub format: SessionText,
    /// The title of a document.
    #[serde(skip_serializing_if = "SessionText::is_empty")]
    pub title: SessionText,
    /// The width of an image in pixels.
    pub width: Option<u32>,
    /// The height of an image in pixels.
    pub height: Option<u32>,
    /// The bytes of the picture or document itself.
    pub bytes: u64,
    /// Where its base64 text is: the line of the transcript, and the span in that line.
    #[serde(skip)]
    pub data: Option<(LineIx, Span)>,
}

/// Adds what an entry holds. A result is listed after its call, wherever its entry is.
pub(super) fn add_entry(session: &Session, e: &Entry, out: &mut Vec<TurnItem>) {
    add_parts(session, e, None, out);
}

/// Adds what an entry holds, or only one of its blocks.
pub(super) fn add_parts(
    session: &Session,
    e: &Entry,
    only: Option<&Block>,
    out: &mut Vec<TurnItem>,
) {
    let mut reader = EntryReader {
        session,
        entry: e,
        only: only.map(|block| block.span),
        uuid: session.uuid(e),
        time: time_text(e.time),
        out,
    };
    match (e.kind, e.prompt) {
        (Kind::User, PromptKind::Words | PromptKind::Command) => {
            reader.texts_and_blocks(|text| ItemContent::Prompt {
                text: prompt_as_typed(&text).into(),
            });
        }
        (Kind::User, _) if e.flags.compact_summary() => {
            reader.texts_and_blocks(|text| ItemContent::Summary { text: text.into() });
        }
        (Kind::User, _) => reader.texts_and_blocks(|text| note("client", text)),
        (Kind::Assistant, _) if e.flags.api_error() => {
            reader.texts_and_blocks(|text| note("error", text));
        }
        (Kind::Assistant, _) => {
            reader.texts_and_blocks(|text| ItemContent::Answer { text: text.into() });
        }
        (Kind::System, _) if e.is_boundary() => reader.compaction(),
        (Kind::System, _) if e.subtype == Subtype::LocalCommand => {
            let text = session.string(e, &["content"]).unwrap_or_default();
            reader.push(note("command", text));
        }
        (Kind::Attachment, _) if e.subtype == Subtype::QueuedCommand => {
            let text = session.string(e, &["attachment", "prompt"]);
            reader.push(ItemContent::Prompt {
                text: text.unwrap_or_default().into(),
            });
        }
        (Kind::Attachment, _) => reader.attachment(),
        _ => {}
    }
}

/// Returns a time of the transcript, which is in milliseconds since 1970, as text.
pub(super) fn time_text(milliseconds: i64) -> Option<String> {
    let known = (milliseconds != i64::MIN).then_some(milliseconds)?;
    let time = jiff::Timestamp::from_millisecond(known).ok()?;
    Some(time.to_string())
}

fn note(what: &str, text: String) -> ItemContent {
    ItemContent::Note {
        what: what.into(),
        text: text.into(),
    }
}

/// Makes items of one entry.
struct EntryReader<'a> {
    session: &'a Session,
    entry: &'a Entry,
    /// The only block that is wanted, if not all are.
    only: Option<Span>,
    uuid: Option<String>,
    time: Option<String>,
    out: &'a mut Vec<TurnItem>,
}

impl EntryReader<'_> {
    fn push(&mut self, content: ItemContent) {
        self.out.push(TurnItem {
            uuid: self.uuid.clone(),
            time: self.time.clone(),
            content,
        });
    }

    /// Adds the content of a message; `text` makes the items of its texts.
    fn texts_and_blocks(&mut self, text: impl Fn(String) -> ItemContent) {
        let (session, e) = (self.session, self.entry);
        if e.flags.string_content() {
            self.push(text(prompt_text(session, e).unwrap_or_default()));
        }
        let line = session.text(e);
        let only = self.only;
        let is_wanted = |block: &&Block| only.is_none_or(|only| only == block.span);
        for block in session.blocks(e).iter().filter(is_wanted) {
            let raw = block.span.of(line);
            match block.kind {
                BlockKind::Text => self.push(text(words_of(raw, "text"))),
                BlockKind::Thinking => self.push(ItemContent::Thinking {
                    text: words_of(raw, "thinking").into(),
                }),
                BlockKind::RedactedThinking => self.push(ItemContent::Thinking {
                    text: SessionText::default(),
                }),
                kind if kind.is_call() => self.call(block, raw),
                kind if kind.is_result() => {
                    // A result is listed after its call; only a result without a call is listed here.
                    let known = session.calls().of(block);
                    if known.is_none_or(|c| c.uses.is_empty()) {
                        self.result(e, raw);
                    }
                }
                BlockKind::Image => self.push(ItemContent::Image(media(line, raw, e.line))),
                BlockKind::Document => self.push(ItemContent::Document(media(line, raw, e.line))),
                _ => {}
            }
        }
    }

    fn call(&mut self, block: &Block, raw: &[u8]) {
        let session = self.session;
        let CallSummary { tool, gist } = CallSummary::of(raw);
        let input = lookup(raw, &["input"])
            .map(|s| s.of(raw))
            .unwrap_or_default();
        let input = SessionJson::from(String::from_utf8_lossy(input).into_owned());
        let results = session.calls().find(block.tool);
        let result: Option<At> = results.and_then(|c| c.results.first()).copied();
        let result = result.map(|at| (session.entry(at.entry), at.block));
        // What the client keeps about the result beside the message.
        let kept = result.map(|(e, _)| e.result.of(session.text(e)));
        let agent = result.filter(|(e, _)| e.flags.agent());
        let agent_id = agent.and(kept).map(|kept| words_of(kept, "agentId"));
        self.push(ItemContent::Call(Box::new(CallItem {
            id: words_of(raw, "id").into(),
            edits: FileEdit::of_call(tool.raw(), &input, kept.unwrap_or_default()),
            agent_id: agent_id.filter(|id| !id.is_empty()).map(SessionText::from),
            tool,
            gist,
            input,
        })));
        if let Some((e, block)) = result {
            self.result(e, session.block(block).span.of(session.text(e)));
        }
    }

    /// Adds a result, which another entry may hold.
    fn result(&mut self, e: &Entry, raw: &[u8]) {
        let line = self.session.text(e);
        let mut own = EntryReader {
            session: self.session,
            entry: e,
            only: None,
            uuid: self.session.uuid(e),
            time: time_text(e.time),
            out: &mut *self.out,
        };
        let text = result_words(raw);
        let pictures = images(raw);
        if !text.is_empty() || pictures.is_empty() {
            own.push(ItemContent::Result {
                call_id: words_of(raw, "tool_use_id").into(),
                text: text.into(),
                error: is_error(raw),
            });
        }
        for picture in pictures {
            own.push(ItemContent::Image(media(line, picture, e.line)));
        }
    }

    fn compaction(&mut self) {
        let metadata = |key: &str| {
            let span = self.session.lookup(self.entry, &["compactMetadata", key]);
            span.map(|s| s.of(self.session.text(self.entry)))
        };
        let tokens = metadata("preTokens").and_then(|raw| std::str::from_utf8(raw).ok());
        let tokens = tokens.and_then(|text| text.parse().ok());
        let trigger = self
            .session
            .string(self.entry, &["compactMetadata", "trigger"]);
        self.push(ItemContent::Compaction {
            trigger: trigger.unwrap_or_default().into(),
            tokens,
        });
    }

    fn attachment(&mut self) {
        let Some(found) = crate::transcript::attached(self.session.text(self.entry), self.entry)
        else {
            return;
        };
        let text = found.texts.iter().map(|t| decode(t).into_owned());
        let what = self.session.string(self.entry, &["attachment", "type"]);
        self.push(note(
            &what.unwrap_or_default(),
            text.collect::<Vec<_>>().join("\n"),
        ));
    }
}

/// Describes an image or document; `raw` is its block, a part of `line`.
fn media(line: &[u8], raw: &[u8], number: LineIx) -> MediaItem {
    let picture = Picture::of(raw);
    let start = raw.as_ptr() as usize - line.as_ptr() as usize;
    let data = lookup(raw, &["source", "data"]).map(|span| {
        let (from, to) = (span.start as usize, span.end as usize);
        (number, Span::new(start + from, start + to))
    });
    MediaItem {
        format: picture.format.into(),
        title: words_of(raw, "title").into(),
        width: picture.size.map(|s| s.0),
        height: picture.size.map(|s| s.1),
        bytes: picture.bytes,
        data,
    }
}
