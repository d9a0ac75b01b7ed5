//! A turn's content as a person reads it.

use serde::Serialize;

use crate::json::{decode, lookup};

use super::call_summary::CallSummary;
use super::excerpt::{result_words, words_of};
use super::overview::{prompt_as_typed, prompt_text};
use super::turn_stats::is_error;
use crate::session::{Session, Standing};
use crate::transcript::{Block, BlockKind, Entry, Kind, PromptKind, Subtype};
use crate::window::{Picture, images};

/// One thing that happens in a turn. Texts are raw: neither cleaned nor masked.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase", tag = "kind")]
#[allow(missing_docs)]
pub enum TurnItem {
    /// A person's words.
    Prompt { text: String },
    /// The model's words.
    Answer { text: String },
    /// The model's thoughts; empty where they are redacted.
    Thinking { text: String },
    /// A call of a tool, with its input as JSON.
    Call {
        id: String,
        tool: String,
        gist: String,
        #[serde(skip)]
        input: String,
    },
    /// What a call brought.
    Result { text: String, error: bool },
    /// A picture, of a person's or of a result's.
    Image {
        format: String,
        width: Option<u32>,
        height: Option<u32>,
        bytes: u64,
    },
    /// What the client put in: a summary, output of a command, a reminder.
    Note { what: String, text: String },
}

/// What happens in one turn, in the order of the conversation, each call followed by its result.
pub fn turn_items(session: &Session, turn: u32) -> Vec<TurnItem> {
    let graph = session.graph();
    let mut members: Vec<(u32, u32)> = Vec::new();
    for i in 0..session.entries().len() {
        let (Standing::Path(p) | Standing::Beside(p)) = graph.place(i) else {
            continue;
        };
        if session.turns().at_position(p) == turn {
            members.push((p, i as u32));
        }
    }
    members.sort_unstable();
    let mut out = Vec::new();
    for (_, i) in members {
        tell(session, &session.entries()[i as usize], &mut out);
    }
    out
}

fn tell(session: &Session, e: &Entry, out: &mut Vec<TurnItem>) {
    match (e.kind, e.prompt) {
        (Kind::User, PromptKind::Words | PromptKind::Command) => {
            if e.flags.string_content() {
                let text = prompt_as_typed(&prompt_text(session, e).unwrap_or_default());
                out.push(TurnItem::Prompt { text });
            }
            blocks(session, e, out, |text| TurnItem::Prompt {
                text: prompt_as_typed(&text),
            });
        }
        (Kind::User, _) => {
            let what = if e.flags.compact_summary() {
                "summary"
            } else {
                "client"
            };
            let note = |text: String| TurnItem::Note {
                what: what.to_owned(),
                text,
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
                    let what = "error".to_owned();
                    TurnItem::Note { what, text }
                } else {
                    TurnItem::Answer { text }
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
                what: "compaction".to_owned(),
                text: text.unwrap_or_default(),
            });
        }
        (Kind::System, _) if e.subtype == Subtype::LocalCommand => {
            let text = session.string(e, &["content"]).unwrap_or_default();
            out.push(TurnItem::Note {
                what: "command".to_owned(),
                text,
            });
        }
        (Kind::Attachment, _) if e.subtype == Subtype::QueuedCommand => {
            let text = session.string(e, &["attachment", "prompt"]);
            out.push(TurnItem::Prompt {
                text: text.unwrap_or_default(),
            });
        }
        (Kind::Attachment, _) => {
            if let Some(found) = crate::transcript::attached(session.text(e), e) {
                let text = found.texts.iter().map(|t| decode(t).into_owned());
                out.push(TurnItem::Note {
                    what: session
                        .string(e, &["attachment", "type"])
                        .unwrap_or_default(),
                    text: text.collect::<Vec<_>>().join("\n"),
                });
            }
        }
        _ => {}
    }
}

/// Tells an entry's blocks; texts become what `text` makes of them.
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
                text: words_of(raw, "thinking"),
            }),
            BlockKind::RedactedThinking => out.push(TurnItem::Thinking {
                text: String::new(),
            }),
            kind if kind.is_call() => call(session, block, raw, out),
            kind if kind.is_result() => {
                // A result is told with its call; one without stands alone.
                let known = session.calls().of(block);
                if known.is_none_or(|c| c.uses.is_empty()) {
                    result(raw, out);
                }
            }
            BlockKind::Image => out.push(image(raw)),
            BlockKind::Document => out.push(TurnItem::Note {
                what: "document".to_owned(),
                text: words_of(raw, "title"),
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
        id: words_of(raw, "id"),
        tool,
        gist,
        input: String::from_utf8_lossy(input).into_owned(),
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
            text,
            error: is_error(raw),
        });
    }
    out.extend(pictures);
}

fn image(raw: &[u8]) -> TurnItem {
    let picture = Picture::of(raw);
    TurnItem::Image {
        format: picture.format,
        width: picture.size.map(|s| s.0),
        height: picture.size.map(|s| s.1),
        bytes: picture.bytes,
    }
}
