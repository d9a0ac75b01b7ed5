//! The texts of an entry that can be searched.

use serde::Serialize;

use crate::json::{Cursor, Token, elements, lookup};
use crate::transcript::{Block, BlockKind, Entry, Kind, PromptKind, Subtype, attached};

/// What a text of a session is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum TextKind {
    /// What a person asked.
    Prompt,
    /// What the model answered.
    Answer,
    /// What the model thought.
    Thinking,
    /// The input of a tool call.
    Call,
    /// The output of a tool call.
    Result,
    /// What the client added: summaries, reminders, output of commands.
    Note,
}

/// A text of an entry: a JSON string in its line.
#[derive(Debug, Clone, Copy)]
pub(super) struct EntryText<'a> {
    pub(super) kind: TextKind,
    /// The string, with its quotes.
    pub(super) raw: &'a [u8],
    /// The block that it is in.
    pub(super) block: Option<&'a Block>,
}

/// Calls `take` with every text of an entry, in the order of the line.
pub(super) fn visit_texts<'a>(
    line: &'a [u8],
    e: &Entry,
    blocks: &'a [Block],
    mut take: impl FnMut(EntryText<'a>),
) {
    let own = own_kind(e);
    let mut text = |kind, raw: &'a [u8], block| {
        if raw.starts_with(b"\"") {
            take(EntryText { kind, raw, block });
        }
    };
    if e.flags.string_content() {
        text(own, e.content.of(line), None);
    }
    for block in blocks {
        let raw = block.span.of(line);
        let field = |name: &str| lookup(raw, &[name]).map_or(&b""[..], |s| s.of(raw));
        match block.kind {
            BlockKind::Text => text(own, field("text"), Some(block)),
            BlockKind::Thinking => text(TextKind::Thinking, field("thinking"), Some(block)),
            kind if kind.is_call() => {
                let mut take = |raw| text(TextKind::Call, raw, Some(block));
                strings(field("input"), &mut take);
            }
            kind if kind.is_result() => {
                let content = field("content");
                text(TextKind::Result, content, Some(block));
                if content.starts_with(b"[") {
                    for part in elements(content).unwrap_or_default() {
                        let part = part.of(content);
                        let found = lookup(part, &["text"]).map_or(&b""[..], |s| s.of(part));
                        text(TextKind::Result, found, Some(block));
                    }
                }
            }
            BlockKind::Document => text(TextKind::Note, field("title"), Some(block)),
            _ => {}
        }
    }
    let value = |path: &[&str]| lookup(line, path).map_or(&b""[..], |s| s.of(line));
    match e.kind {
        Kind::System => text(TextKind::Note, value(&["content"]), None),
        Kind::Attachment if e.subtype == Subtype::QueuedCommand => {
            text(TextKind::Prompt, value(&["attachment", "prompt"]), None);
        }
        Kind::Attachment => {
            for raw in attached(line, e).map(|a| a.texts).unwrap_or_default() {
                text(TextKind::Note, raw, None);
            }
        }
        _ => {}
    }
}

/// Returns what the plain text of an entry is.
fn own_kind(e: &Entry) -> TextKind {
    match (e.kind, e.prompt) {
        (Kind::Assistant, _) if !e.flags.api_error() => TextKind::Answer,
        (Kind::User, PromptKind::Words | PromptKind::Command) => TextKind::Prompt,
        _ => TextKind::Note,
    }
}

/// Calls `take` with every string value in a JSON value, but not with the keys.
fn strings<'a>(value: &'a [u8], take: &mut impl FnMut(&'a [u8])) {
    let mut cursor = Cursor::new(value);
    // The line was read before, so the value is valid; if it were not, the rest of it would not be searched.
    let _ = strings_at(value, &mut cursor, take, 0);
}

/// Deeper values are not searched. Claude Code and the model never nest this deeply.
const DEEPEST: usize = 64;

fn strings_at<'a>(
    value: &'a [u8],
    cursor: &mut Cursor<'a>,
    take: &mut impl FnMut(&'a [u8]),
    depth: usize,
) -> Result<(), crate::json::Malformed> {
    match cursor.peek()? {
        Token::String => take(cursor.string()?.of(value)),
        Token::Object if depth < DEEPEST => {
            cursor.enter_object()?;
            let mut first = true;
            while cursor.next_key(&mut first)?.is_some() {
                strings_at(value, cursor, take, depth + 1)?;
            }
        }
        Token::Array if depth < DEEPEST => {
            cursor.enter_array()?;
            let mut first = true;
            while cursor.next_element(&mut first)? {
                strings_at(value, cursor, take, depth + 1)?;
            }
        }
        _ => {
            cursor.skip()?;
        }
    }
    Ok(())
}
