//! What stands in place of a secret after it was redacted.

use std::ops::Range;
use std::sync::LazyLock;

use regex::bytes::Regex;

/// Placeholders of `redact`, and what is shown in place of secrets.
static PLACEHOLDER: LazyLock<Option<Regex>> = LazyLock::new(|| {
    Regex::new(r"(?-u)\[redacted:([A-Za-z0-9_.-]{1,80}):([0-9]{1,9})\]|\[masked\]").ok()
});

/// Returns the placeholder of a secret: its kind, and a number that tells it from others of the kind.
pub fn placeholder(kind: &str, number: u32) -> String {
    format!("[redacted:{kind}:{number}]")
}

/// Returns the form of a kind that can stand in a placeholder.
pub(super) fn kind_name(id: &str) -> String {
    let plain = |c: char| if c.is_ascii_alphanumeric() { c } else { '-' };
    let name: String = id.chars().take(60).map(plain).collect();
    let name = name.trim_matches('-').to_ascii_lowercase();
    if name.is_empty() {
        "secret".to_owned()
    } else {
        name
    }
}

/// Returns the ranges of a text between its placeholders.
pub(super) fn between_placeholders(text: &[u8]) -> Vec<Range<usize>> {
    let mut out = Vec::new();
    let mut from = 0;
    if let (Some(regex), Some(_)) = (PLACEHOLDER.as_ref(), memchr::memchr(b'[', text)) {
        for found in regex.find_iter(text) {
            out.push(from..found.start());
            from = found.end();
        }
    }
    out.push(from..text.len());
    out.retain(|range| !range.is_empty());
    out
}

/// Returns the kind and number of every placeholder in a text.
pub fn placeholders(text: &[u8]) -> Vec<(String, u32)> {
    let (Some(regex), Some(_)) = (
        PLACEHOLDER.as_ref(),
        memchr::memmem::find(text, b"[redacted:"),
    ) else {
        return Vec::new();
    };
    let all = regex.captures_iter(text).filter_map(|captures| {
        let word = |n: usize| std::str::from_utf8(captures.get(n)?.as_bytes()).ok();
        Some((word(1)?.to_owned(), word(2)?.parse().ok()?))
    });
    all.collect()
}
