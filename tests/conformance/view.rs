//! What the model is shown: the messages of a request as pairs of role and block, free of what differs between runs.

use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

use crate::job::Outcome;
use crate::record::{Recording, slug};

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub(crate) struct PayloadBlock {
    pub(crate) role: String,
    pub(crate) block: Value,
}

impl PayloadBlock {
    pub(crate) fn is(&self, kind: &str) -> bool {
        self.block["type"] == kind
    }

    pub(crate) fn text(&self) -> Option<&str> {
        self.block["text"].as_str()
    }

    /// The client's own additions: reminders, and messages in the system's name.
    pub(crate) fn is_reminder(&self) -> bool {
        self.role == "system"
            || self
                .text()
                .is_some_and(|t| t.trim_start().starts_with("<system-reminder>"))
    }

    /// The call that this block is, or is the result of.
    pub(crate) fn call(&self) -> Option<&str> {
        let field = if self.is("tool_use") {
            "id"
        } else {
            "tool_use_id"
        };
        self.block[field].as_str()
    }

    /// Itself without a reminder that the client glued to an output.
    pub(crate) fn without_reminder(&self) -> Self {
        let mut out = self.clone();
        let content = self.block["content"].as_str();
        if let Some((own, _)) = content.and_then(|c| c.split_once("\n\n<system-reminder>")) {
            out.block["content"] = json!(own);
        }
        out
    }

    /// One line for people.
    pub(crate) fn line(&self) -> String {
        let block = self.block.to_string();
        let short: String = block.chars().take(160).collect();
        format!(
            "{:9} {short}{}",
            self.role,
            if short.len() < block.len() { "…" } else { "" }
        )
    }
}

/// A request's messages as the model reads them.
pub(crate) fn of(body: &Value, names: &[(String, String)]) -> Vec<PayloadBlock> {
    let mut out = Vec::new();
    for message in body["messages"].as_array().into_iter().flatten() {
        let role = message["role"].as_str().unwrap_or_default();
        let blocks = match &message["content"] {
            Value::String(text) => vec![json!({"type": "text", "text": text})],
            Value::Array(list) => list.clone(),
            _ => Vec::new(),
        };
        out.extend(blocks.iter().map(|block| PayloadBlock {
            role: role.to_owned(),
            block: plain(block, names),
        }));
    }
    out
}

/// The request that carried this prompt.
pub(crate) fn request<'a>(outcome: &'a Outcome, prompt: &str) -> Option<&'a Value> {
    let asks = |body: &Value| {
        let last = of(body, &[])
            .into_iter()
            .rev()
            .find(|s| s.role == "user" && !s.is_reminder());
        body["tools"].is_array()
            && last.is_some_and(|s| s.text().is_some_and(|t| t.trim() == prompt))
    };
    let mut bodies = outcome
        .requests
        .iter()
        .filter(|r| !r.path.contains("count_tokens"))
        .map(|r| &r.body);
    bodies.find(|body| asks(body))
}

/// The names under which a session's own id and places are compared.
pub(crate) fn names(
    recording: &Recording,
    session: &str,
    work: &std::path::Path,
) -> Vec<(String, String)> {
    vec![
        (session.to_owned(), "SESSION".to_owned()),
        (slug(work), "PROJECT".to_owned()),
        (work.to_string_lossy().into_owned(), "WORK".to_owned()),
        (
            recording.home().to_string_lossy().into_owned(),
            "HOME".to_owned(),
        ),
    ]
}

fn plain(value: &Value, names: &[(String, String)]) -> Value {
    match value {
        Value::String(text) => json!(
            names
                .iter()
                .fold(text.clone(), |t, (from, to)| t.replace(from, to))
        ),
        Value::Array(list) => list.iter().map(|v| plain(v, names)).collect(),
        Value::Object(map) => {
            let kept = map.iter().filter(|(k, _)| *k != "cache_control");
            Value::Object(kept.map(|(k, v)| (k.clone(), plain(v, names))).collect())
        }
        other => other.clone(),
    }
}
