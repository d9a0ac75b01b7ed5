//! The rules of the messages API that a session can break, with the API's words for each.

use serde_json::Value;

use crate::ledger::EntryWeights;
use crate::{documents, images, signature};

/// A run of messages of one role; the API takes consecutive ones as one.
pub(crate) struct Merged<'a> {
    pub(crate) role: &'a str,
    pub(crate) blocks: Vec<Block<'a>>,
}

/// A block of content; a message whose content is a string is one block of text.
#[derive(Clone, Copy)]
pub(crate) enum Block<'a> {
    Text(&'a str),
    Other(&'a Value),
}

impl<'a> Block<'a> {
    fn new(value: &'a Value) -> Self {
        match value["text"].as_str() {
            Some(text) if value["type"] == "text" => Self::Text(text),
            _ => Self::Other(value),
        }
    }

    pub(crate) fn text(self) -> Option<&'a str> {
        match self {
            Self::Text(text) => Some(text),
            Self::Other(_) => None,
        }
    }

    /// The named field of a block of this type.
    pub(crate) fn field(self, kind: &str, name: &str) -> Option<&'a str> {
        match self {
            Self::Other(value) if value["type"] == kind => value[name].as_str(),
            _ => None,
        }
    }
}

pub(crate) fn blocks(message: &Value) -> Vec<Block<'_>> {
    match &message["content"] {
        Value::String(text) => vec![Block::Text(text)],
        Value::Array(list) => list.iter().map(Block::new).collect(),
        _ => Vec::new(),
    }
}

/// The conversation as the API reads it: system messages inside it are no turns.
pub(crate) fn merged(body: &Value) -> Vec<Merged<'_>> {
    let mut out: Vec<Merged> = Vec::new();
    for message in body["messages"].as_array().into_iter().flatten() {
        let role = message["role"].as_str().unwrap_or_default();
        match out.last_mut() {
            _ if role == "system" => {}
            Some(last) if last.role == role => last.blocks.extend(blocks(message)),
            _ => out.push(Merged {
                role,
                blocks: blocks(message),
            }),
        }
    }
    out
}

/// The size of a request, estimated as the client's own fallback does: four characters to a token.
pub(crate) fn tokens(body: &Value) -> usize {
    ["system", "tools", "messages"]
        .iter()
        .filter(|k| !body[**k].is_null())
        .map(|k| body[*k].to_string().len() / 4)
        .sum()
}

/// Whether the body escapes half of a surrogate pair, which no JSON parser of the API's takes.
pub(crate) fn lone_surrogate(raw: &[u8]) -> bool {
    let unit = |at: usize| -> Option<u16> {
        (raw.get(at..at + 2)? == br"\u").then_some(())?;
        u16::from_str_radix(std::str::from_utf8(raw.get(at + 2..at + 6)?).ok()?, 16).ok()
    };
    let mut at = 0;
    while at < raw.len() {
        if raw[at] != b'\\' {
            at += 1;
            continue;
        }
        match (unit(at), unit(at + 6)) {
            (Some(0xd800..=0xdbff), Some(0xdc00..=0xdfff)) => at += 12,
            (Some(0xd800..=0xdfff), _) => return true,
            (Some(_), _) => at += 6,
            (None, _) => at += 2,
        }
    }
    false
}

/// All that the API would refuse in this request.
///
/// Thinking is held to its calls in the latest message of the model's, and when `strict` in all: some clients lose
/// calls of earlier messages by themselves, and could not go on.
pub(crate) fn faults(
    body: &Value,
    ledger: &EntryWeights,
    limit: usize,
    strict: bool,
) -> Vec<String> {
    let mut found = Vec::new();
    let Some(messages) = body["messages"].as_array().filter(|m| !m.is_empty()) else {
        return vec!["messages: at least one message is required".to_owned()];
    };
    for (i, message) in messages.iter().enumerate() {
        let blocks = blocks(message);
        if blocks.is_empty() && message["role"] != "system" && i + 1 != messages.len() {
            found.push(format!(
                "messages.{i}: all messages must have non-empty content except for the optional final assistant message"
            ));
        }
        for (j, block) in blocks.iter().enumerate() {
            found
                .extend(of_block(*block).map(|fault| format!("messages.{i}.content.{j}: {fault}")));
        }
    }
    of_media(messages, &mut found);
    let merged = merged(body);
    if merged.first().is_some_and(|m| m.role != "user") {
        found.push("messages: first message must use the \"user\" role".to_owned());
    }
    pairing(&merged, &mut found);
    server_tools(&merged, &mut found);
    thinking(&merged, body, ledger, strict, &mut found);
    let tokens = tokens(body);
    if tokens > limit {
        found.push(format!(
            "prompt is too long: {tokens} tokens > {limit} maximum"
        ));
    }
    found
}

fn of_block(block: Block) -> Option<&'static str> {
    let mut zero = block.text().is_some_and(|t| t.contains('\0'));
    if let Block::Other(value) = block {
        strings(value, &mut |text| zero |= text.contains('\0'));
    }
    if zero {
        return Some("text must not contain null characters (\\u0000)");
    }
    if block.text().is_some_and(str::is_empty) {
        return Some("text content blocks must be non-empty");
    }
    if block.text().is_some_and(|t| t.trim().is_empty()) {
        return Some("text content blocks must contain non-whitespace text");
    }
    if let Some(shown) = block.field("thinking", "thinking")
        && !block
            .field("thinking", "signature")
            .is_some_and(|s| signature::fits(s, shown))
    {
        return Some("Invalid `signature` in `thinking` block");
    }
    if block
        .field("redacted_thinking", "data")
        .is_some_and(|d| !signature::sealed(d))
    {
        return Some("Invalid `data` in `redacted_thinking` block");
    }
    None
}

/// What is wrong with images and documents, those in results included.
fn of_media(messages: &[Value], found: &mut Vec<String>) {
    let mut images = Vec::new();
    for (i, message) in messages.iter().enumerate() {
        for (j, block) in message["content"]
            .as_array()
            .into_iter()
            .flatten()
            .enumerate()
        {
            let inner = block["content"].as_array().into_iter().flatten();
            for medium in std::iter::once(block).chain(inner) {
                let data = medium["source"]["data"].as_str();
                match (medium["type"].as_str(), data) {
                    (Some("image"), Some(data)) => images.push((i, j, data)),
                    (Some("document"), Some(data))
                        if medium["source"]["media_type"] == "application/pdf" =>
                    {
                        found.extend(documents::fault(data).map(|fault| {
                            format!("messages.{i}.content.{j}.pdf.source.base64.data: {fault}")
                        }));
                    }
                    _ => {}
                }
            }
        }
    }
    let many = images.len() > 20;
    found.extend(images.iter().filter_map(|(i, j, data)| {
        images::fault(data, many)
            .map(|fault| format!("messages.{i}.content.{j}.image.source.base64: {fault}"))
    }));
}

/// What the API itself calls must be answered in the same message.
fn server_tools(merged: &[Merged], found: &mut Vec<String>) {
    for (i, message) in merged.iter().enumerate() {
        let blocks = || message.blocks.iter().copied();
        let made: Vec<_> = blocks()
            .filter_map(|b| b.field("server_tool_use", "id"))
            .collect();
        let answered: Vec<_> = blocks()
            .filter_map(|b| match b {
                Block::Other(value) => value["type"]
                    .as_str()
                    .filter(|kind| kind.ends_with("_tool_result"))
                    .and_then(|_| value["tool_use_id"].as_str()),
                Block::Text(_) => None,
            })
            .collect();
        for id in made.iter().filter(|id| !answered.contains(id)) {
            found.push(format!(
                "messages.{i}: server tool use with id {id} was found without a corresponding result block in the same message"
            ));
        }
        for id in answered.iter().filter(|id| !made.contains(id)) {
            found.push(format!(
                "messages.{i}: unexpected `tool_use_id` found in a server tool's result: {id}"
            ));
        }
    }
}

fn pairing(merged: &[Merged], found: &mut Vec<String>) {
    let mut seen = Vec::new();
    let ids = |m: Option<&Merged>, kind: &str, name: &str| -> Vec<String> {
        m.map(|m| {
            m.blocks
                .iter()
                .filter_map(|b| b.field(kind, name))
                .map(str::to_owned)
                .collect()
        })
        .unwrap_or_default()
    };
    for (i, message) in merged.iter().enumerate() {
        if message.role == "assistant" {
            let calls = ids(Some(message), "tool_use", "id");
            let results = ids(merged.get(i + 1), "tool_result", "tool_use_id");
            for call in &calls {
                if seen.contains(call) {
                    found.push(format!(
                        "messages.{i}: `tool_use` ids must be unique ({call})"
                    ));
                }
                seen.push(call.clone());
            }
            let open: Vec<_> = calls.into_iter().filter(|c| !results.contains(c)).collect();
            if !open.is_empty() {
                found.push(format!(
                    "messages.{i}: `tool_use` ids were found without `tool_result` blocks immediately after: {}. Each \
                     `tool_use` block must have a corresponding `tool_result` block in the next message.",
                    open.join(", ")
                ));
            }
        } else {
            let calls = ids(i.checked_sub(1).map(|i| &merged[i]), "tool_use", "id");
            let mut answered = Vec::new();
            for result in ids(Some(message), "tool_result", "tool_use_id") {
                if answered.contains(&result) {
                    found.push(format!(
                        "messages.{i}: each tool_use must have a single result. Found multiple `tool_result` blocks \
                         with id: {result}"
                    ));
                } else if !calls.contains(&result) {
                    found.push(format!(
                        "messages.{i}: unexpected `tool_use_id` found in `tool_result` blocks: {result}. Each \
                         `tool_result` block must have a corresponding `tool_use` block in the previous message."
                    ));
                }
                answered.push(result);
            }
        }
    }
}

/// Thinking must stand with the calls that it led to, and calls that are still being answered behind their thinking.
fn thinking(
    merged: &[Merged],
    body: &Value,
    ledger: &EntryWeights,
    strict: bool,
    found: &mut Vec<String>,
) {
    let latest = merged.iter().rposition(|m| m.role == "assistant");
    for (i, message) in merged
        .iter()
        .enumerate()
        .filter(|(i, _)| strict || Some(*i) == latest)
    {
        let calls: Vec<_> = message
            .blocks
            .iter()
            .filter_map(|b| b.field("tool_use", "id"))
            .collect();
        let marks = message.blocks.iter().filter_map(|b| {
            b.field("thinking", "signature")
                .or_else(|| b.field("redacted_thinking", "data"))
        });
        for mark in marks {
            if !ledger.intact(mark, &calls) {
                found.push(format!(
                    "messages.{i}: `thinking` or `redacted_thinking` blocks in the latest assistant message cannot be \
                     modified. These blocks must remain as they were in the original response."
                ));
            }
        }
    }
    let on = matches!(
        body["thinking"]["type"].as_str(),
        Some("enabled" | "adaptive")
    );
    let [.., asked, answered] = merged else {
        return;
    };
    let unfinished = answered.role == "user"
        && answered
            .blocks
            .iter()
            .any(|b| b.field("tool_result", "tool_use_id").is_some())
        && answered
            .blocks
            .iter()
            .filter_map(|b| b.text())
            .all(|t| t.trim_start().starts_with("<system-reminder>"));
    let starts = asked.blocks.first().is_some_and(|b| {
        b.field("thinking", "signature").is_some() || b.field("redacted_thinking", "data").is_some()
    });
    let thought = asked
        .blocks
        .iter()
        .filter_map(|b| b.field("tool_use", "id"))
        .any(|id| ledger.was_thought_about(id));
    if on && unfinished && thought && !starts {
        found.push(format!(
            "messages.{}.content.0: Expected `thinking` or `redacted_thinking`, but found `tool_use`. When `thinking` is \
             enabled, a final `assistant` message must start with a thinking block (preceeding the lastmost set of \
             `tool_use` and `tool_result` blocks).",
            merged.len() - 2
        ));
    }
}

/// Calls `f` with every string in a value, names of fields included.
pub(crate) fn strings(value: &Value, f: &mut impl FnMut(&str)) {
    match value {
        Value::String(text) => f(text),
        Value::Array(list) => list.iter().for_each(|v| strings(v, f)),
        Value::Object(map) => map.iter().for_each(|(k, v)| {
            f(k);
            strings(v, f);
        }),
        _ => {}
    }
}
