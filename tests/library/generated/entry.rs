//! What one line of a transcript means.

use serde_json::{Value, json};

pub(crate) fn str_of<'a>(value: &'a Value, key: &str) -> &'a str {
    value[key].as_str().unwrap_or_default()
}

pub(crate) fn is_chained(e: &Value) -> bool {
    matches!(
        str_of(e, "type"),
        "user" | "assistant" | "system" | "attachment" | "progress"
    ) && e["uuid"].is_string()
}

pub(crate) fn is_message(e: &Value) -> bool {
    matches!(str_of(e, "type"), "user" | "assistant")
}

pub(crate) fn is_boundary(e: &Value) -> bool {
    e["subtype"] == "compact_boundary"
}

/// The blocks of an entry's content; a string is one text.
pub(crate) fn content(e: &Value) -> Vec<Value> {
    match &e["message"]["content"] {
        Value::String(words) => vec![json!({"type": "text", "text": words})],
        Value::Array(blocks) => blocks.clone(),
        _ => Vec::new(),
    }
}

/// What an attachment shows the model, and in whose name. Without a recorded role it is the system's: the model of
/// generated sessions takes messages of the system.
pub(crate) fn attached(e: &Value) -> (&'static str, Vec<Value>) {
    let role = if e["renderedRole"] == "user" {
        "user"
    } else {
        "system"
    };
    let attachment = &e["attachment"];
    let words: Vec<&Value> = match e["rendered"].as_array() {
        Some(rendered) => rendered.iter().map(|r| &r["content"]).collect(),
        None if attachment["type"] == "prompt_snapshot" || attachment["type"] == "hook_success" => {
            Vec::new()
        }
        None => ["content", "prompt"]
            .map(|k| &attachment[k])
            .into_iter()
            .filter(|v| v.is_string())
            .take(1)
            .collect(),
    };
    (
        role,
        words
            .into_iter()
            .map(|w| json!({"type": "text", "text": w}))
            .collect(),
    )
}

/// Whether an entry is a prompt of a person; a command or a queued prompt is one only if the model answers.
pub(crate) fn begins_turn(e: &Value, answered: impl Fn() -> bool) -> bool {
    let attachment = &e["attachment"];
    if attachment["type"] == "queued_command" {
        return attachment["commandMode"] != "task-notification" && answered();
    }
    if str_of(e, "type") != "user" || e["isMeta"] == true || e["isCompactSummary"] == true {
        return false;
    }
    let blocks = content(e);
    if blocks.iter().any(|b| b["type"] == "tool_result") {
        return false;
    }
    if e["origin"]["kind"] == "human" {
        return true;
    }
    let words = blocks
        .iter()
        .find(|b| b["type"] == "text")
        .map(|b| str_of(b, "text").to_owned())
        .unwrap_or_default();
    if words.starts_with("<command-") {
        return answered();
    }
    ![
        "[Request interrupted",
        "<local-command-",
        "<task-notification>",
    ]
    .iter()
    .any(|m| words.starts_with(m))
}
