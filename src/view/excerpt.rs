//! Short descriptions of an entry, and its whole text.

use crate::json::{decode, elements, lookup};

use super::call_summary::CallSummary;
use super::overview::{prompt_as_typed, prompt_text};
use super::session_text::SessionText;
use crate::session::Session;
use crate::transcript::{BlockKind, Entry, Kind, PromptKind};

/// Returns what an entry is, and text by which a person recognises it.
pub fn entry_summary(session: &Session, e: &Entry) -> (SessionText, SessionText) {
    let (what, gist) = summary(session, e);
    (what.into(), gist.into())
}

fn summary(session: &Session, e: &Entry) -> (String, String) {
    let text = session.text(e);
    for block in session.blocks(e) {
        let raw = block.span.of(text);
        if block.kind.is_thinking() {
            return ("thinking".to_owned(), words_of(raw, "thinking"));
        }
        let maker = session
            .calls()
            .find(block.tool)
            .filter(|_| block.tool.is_some())
            .and_then(|c| c.uses.first());
        if let Some(at) = maker {
            let line = session.text(session.entry(at.entry));
            let call = CallSummary::of(session.block(at.block).span.of(line));
            let half = if block.kind.is_call() {
                "call"
            } else {
                "result"
            };
            return (format!("{} {half}", call.tool.raw()), call.gist.into_raw());
        }
        if block.kind.is_result() {
            return ("result without a call".to_owned(), result_words(raw));
        }
    }
    let own = || prompt_text(session, e).unwrap_or_default();
    match (e.kind, e.prompt) {
        (Kind::Assistant, _) => ("answer".to_owned(), own()),
        (Kind::User, _) if e.flags.compact_summary() => ("summary".to_owned(), own()),
        (Kind::User, PromptKind::Words | PromptKind::Command) => {
            ("prompt".to_owned(), prompt_as_typed(&own()))
        }
        (Kind::User, _) => ("note".to_owned(), own()),
        _ => {
            let name = session.string(e, &["type"]).unwrap_or_default();
            let sub = session
                .string(e, &["attachment", "type"])
                .or_else(|| session.string(e, &["subtype"]));
            (
                sub.map_or(name.clone(), |s| format!("{name} {s}")),
                String::new(),
            )
        }
    }
}

/// Returns all text of an entry: its texts, thinking, inputs and outputs.
pub fn entry_text(session: &Session, e: &Entry) -> SessionText {
    let text = session.text(e);
    if e.flags.string_content() {
        return decode(e.content.of(text)).into_owned().into();
    }
    let mut out = Vec::new();
    for block in session.blocks(e) {
        let raw = block.span.of(text);
        out.push(match block.kind {
            BlockKind::Text => words_of(raw, "text"),
            BlockKind::Thinking => words_of(raw, "thinking"),
            kind if kind.is_call() => lookup(raw, &["input"])
                .map(|s| String::from_utf8_lossy(s.of(raw)).into_owned())
                .unwrap_or_default(),
            kind if kind.is_result() => result_words(raw),
            _ => String::new(),
        });
    }
    if !e.is_message() {
        out.extend(session.string(e, &["content"]));
    }
    out.retain(|t| !t.is_empty());
    out.join("\n").into()
}

/// Returns the text of a result, whether it is a string or a list of blocks.
pub(crate) fn result_words(raw: &[u8]) -> String {
    let content = lookup(raw, &["content"])
        .map(|s| s.of(raw))
        .unwrap_or_default();
    if !content.starts_with(b"[") {
        return if content.starts_with(b"\"") {
            decode(content).into_owned()
        } else {
            String::new()
        };
    }
    let parts = elements(content).unwrap_or_default();
    let texts = parts.into_iter().map(|s| words_of(s.of(content), "text"));
    texts
        .filter(|t| !t.is_empty())
        .collect::<Vec<_>>()
        .join("\n")
}

/// Returns the value of a string field, or an empty string.
pub(crate) fn words_of(raw: &[u8], key: &str) -> String {
    let found = lookup(raw, &[key]).map(|s| s.of(raw));
    let found = found.filter(|r| r.starts_with(b"\""));
    found.map(|r| decode(r).into_owned()).unwrap_or_default()
}

/// Returns a short label for an entry: the input of its call, else its own text, else its kind.
pub fn entry_label(session: &Session, e: &Entry) -> SessionText {
    let (what, gist) = entry_summary(session, e);
    if gist.is_empty() { what } else { gist }
}
