//! A turn's content as a person reads it.

use serde::Serialize;

use crate::json::{decode, lookup};

use super::call_summary::CallSummary;
use super::excerpt::{result_words, words_of};
use super::overview::{prompt_as_typed, prompt_text};
use super::session_text::{SessionJson, SessionText};
use super::turn_stats::is_error;
use crate::session::{Session, Standing};
use crate::transcript::{Block, BlockKind, Entry, Kind, PromptKind, Subtype};
use crate::window::{Picture, images};

/// One thing that happens in a turn.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case", tag = "kind")]
#[allow(missing_docs)]
#[non_exhaustive]
pub enum TurnItem {
    /// A person's prompt.
    Prompt { text: SessionText },
    /// Text of the model.
    Answer { text: SessionText },
    /// Thinking of the model; empty if it is redacted.
    Thinking { text: SessionText },
    /// A call of a tool, with its input as JSON.
    Call {
        id: SessionText,
        tool: SessionText,
        gist: SessionText,
        input: SessionJson,
    },
    /// The result of a call.
    Result {
        call_id: SessionText,
        text: SessionText,
        error: bool,
    },
    /// An image in a prompt or a result.
    Image {
        format: SessionText,
        width: Option<u32>,
        height: Option<u32>,
        bytes: u64,
    },
    /// Something that the client added: a summary, the output of a command, a reminder.
    Note {
        what: SessionText,
        text: SessionText,
    },
}

/// A turn with everything in it that a person reads.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct TurnContent {
    /// Its number; 0 is what comes before the first prompt.
    pub turn: u32,
    /// The items in the order of the conversation, each call followed by its result.
    pub items: Vec<TurnItem>,
}

impl TurnContent {
    /// Returns the turns `from` to `to`, both included, in one pass over the entries.
    pub fn of(session: &Session, from: u32, to: u32) -> Vec<Self> {
        let (graph, turns) = (session.graph(), session.turns());
        let mut members: Vec<(u32, u32)> = Vec::new();
        for i in 0..session.entries().len() {
            if let Standing::Path(p) | Standing::Beside(p) = graph.place(i)
                && (from..=to).contains(&turns.at_position(p))
            {
                members.push((p, i as u32));
            }
        }
        members.sort_unstable();
        let empty = |turn| Self {
            turn,
            items: Vec::new(),
        };
        let mut out: Vec<Self> = (from..=to).map(empty).collect();
        for (position, i) in members {
            let content = &mut out[(turns.at_position(position) - from) as usize];
            add_entry(session, &session.entries()[i as usize], &mut content.items);
        }
        out
    }
}

fn add_entry(session: &Session, e: &Entry, out: &mut Vec<TurnItem>) {
    match (e.kind, e.prompt) {
        (Kind::User, PromptKind::Words | PromptKind::Command) => {
            if e.flags.string_content() {
                let text = prompt_as_typed(&prompt_text(session, e).unwrap_or_default());
                out.push(TurnItem::Prompt { text: text.into() });
            }
            blocks(session, e, out, |text| TurnItem::Prompt {
                text: prompt_as_typed(&text).into(),
            });
        }
        (Kind::User, _) => {
            let what = if e.flags.compact_summary() {
                "summary"
            } else {
                "client"
            };
            let note = |text: String| TurnItem::Note {
                what: what.into(),
                text: text.into(),
            };
            if e.flags.string_content() {
                out.push(note(prompt_text(session, e).unwrap_or_default()));
            }
            blocks(session, e, out, note);
        }
        (Kind::Assistant, _) => {
            let api_error = e.flags.api_error();
            let answer = |text: String| {
                if api_error {
                    TurnItem::Note {
                        what: "error".into(),
                        text: text.into(),
                    }
                } else {
                    TurnItem::Answer { text: text.into() }
                }
            };
            if e.flags.string_content() {
                out.push(answer(prompt_text(session, e).unwrap_or_default()));
            }
            blocks(session, e, out, answer);
        }
        (Kind::System, _) if e.is_boundary() => {
            let text = session.string(e, &["compactMetadata", "trigger"]);
            out.push(TurnItem::Note {
                what: "compaction".into(),
                text: text.unwrap_or_default().into(),
            });
        }
        (Kind::System, _) if e.subtype == Subtype::LocalCommand => {
            let text = session.string(e, &["content"]).unwrap_or_default();
            out.push(TurnItem::Note {
                what: "command".into(),
                text: text.into(),
            });
        }
        (Kind::Attachment, _) if e.subtype == Subtype::QueuedCommand => {
            let text = session.string(e, &["attachment", "prompt"]);
            out.push(TurnItem::Prompt {
                text: text.unwrap_or_default().into(),
            });
        }
        (Kind::Attachment, _) => {
            if let Some(found) = crate::transcript::attached(session.text(e), e) {
                let text = found.texts.iter().map(|t| decode(t).into_owned());
                out.push(TurnItem::Note {
                    what: session
                        .string(e, &["attachment", "type"])
                        .unwrap_or_default()
                        .into(),
                    text: text.collect::<Vec<_>>().join("\n").into(),
                });
            }
        }
        _ => {}
    }
}

/// Adds the blocks of an entry; `text` makes the items of text blocks.
fn blocks(
    session: &Session,
    e: &Entry,
    out: &mut Vec<TurnItem>,
    text: impl Fn(String) -> TurnItem,
) {
    let line = session.text(e);
    for block in session.blocks(e) {
        let raw = block.span.of(line);
        match block.kind {
            BlockKind::Text => out.push(text(words_of(raw, "text"))),
            BlockKind::Thinking => out.push(TurnItem::Thinking {
                text: words_of(raw, "thinking").into(),
            }),
            BlockKind::RedactedThinking => out.push(TurnItem::Thinking {
                text: SessionText::default(),
            }),
            kind if kind.is_call() => call(session, block, raw, out),
            kind if kind.is_result() => {
                // A result is listed after its call; only a result without a call is listed here.
                let known = session.calls().of(block);
                if known.is_none_or(|c| c.uses.is_empty()) {
                    result(raw, out);
                }
            }
            BlockKind::Image => out.push(image(raw)),
            BlockKind::Document => out.push(TurnItem::Note {
                what: "document".into(),
                text: words_of(raw, "title").into(),
            }),
            _ => {}
        }
    }
}

fn call(session: &Session, block: &Block, raw: &[u8], out: &mut Vec<TurnItem>) {
    let CallSummary { tool, gist } = CallSummary::of(raw);
    let input = lookup(raw, &["input"])
        .map(|s| s.of(raw))
        .unwrap_or_default();
    out.push(TurnItem::Call {
        id: words_of(raw, "id").into(),
        tool,
        gist,
        input: String::from_utf8_lossy(input).into_owned().into(),
    });
    let results = session
        .calls()
        .find(block.tool)
        .map(|c| c.results.as_slice())
        .unwrap_or_default();
    for at in results.iter().take(1) {
        let line = session.text(&session.entries()[at.entry as usize]);
        result(session.block(at.block).span.of(line), out);
    }
}

fn result(raw: &[u8], out: &mut Vec<TurnItem>) {
    let text = result_words(raw);
    let pictures: Vec<TurnItem> = images(raw).into_iter().map(image).collect();
    if !text.is_empty() || pictures.is_empty() {
        out.push(TurnItem::Result {
            call_id: words_of(raw, "tool_use_id").into(),
            text: text.into(),
            error: is_error(raw),
        });
    }
    out.extend(pictures);
}

fn image(raw: &[u8]) -> TurnItem {
    let picture = Picture::of(raw);
    TurnItem::Image {
        format: picture.format.into(),
        width: picture.size.map(|s| s.0),
        height: picture.size.map(|s| s.1),
        bytes: picture.bytes,
    }
}
