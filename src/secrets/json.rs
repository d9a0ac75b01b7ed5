//! Replaces secrets in JSON.

use std::borrow::Cow;

use crate::json::decode;

use super::find::find;
use super::mask::{MASK, mask};

/// Returns JSON text with the secrets in its strings replaced.
///
/// Strings are decoded, masked and encoded again, so valid JSON stays valid; a string without a secret keeps its
/// spelling. A string that is the value of a key such as `password` is judged together with its key.
pub fn mask_json(text: &str) -> Cow<'_, str> {
    let bytes = text.as_bytes();
    let mut out = String::new();
    let mut kept = 0;
    let mut key = String::new();
    let mut after_colon = false;
    let mut at = 0;
    while let Some(n) = memchr::memchr3(b'"', b':', b',', &bytes[at..]) {
        let start = at + n;
        if bytes[start] != b'"' {
            after_colon = bytes[start] == b':';
            at = start + 1;
            continue;
        }
        let end = string_end(bytes, start);
        let words = decode(&bytes[start..end]);
        let is_key = is_followed_by_colon(bytes, end);
        let safe = match masked_value(&words, (after_colon && !is_key).then_some(&key)) {
            Cow::Borrowed(_) => None,
            Cow::Owned(safe) => Some(safe),
        };
        if let Some(safe) = safe {
            out.push_str(&text[kept..start]);
            out.push_str(&encoded(&safe));
            kept = end;
        }
        if is_key {
            key = words.into_owned();
        }
        after_colon = false;
        at = end;
    }
    if kept == 0 {
        return Cow::Borrowed(text);
    }
    out.push_str(&text[kept..]);
    Cow::Owned(out)
}

/// Masks a decoded string; with a key, also what only its key tells to be a secret.
fn masked_value<'t>(words: &'t str, key: Option<&String>) -> Cow<'t, str> {
    if let Some(key) = key
        && key.len() < 100
        && (6..400).contains(&words.len())
        && words != MASK
    {
        let head = format!("{key}: \"");
        let pair = format!("{head}{words}\"");
        let covered = find(&pair)
            .iter()
            .any(|s| s.range.start <= head.len() && s.range.end >= head.len() + words.len());
        if covered {
            return Cow::Owned(MASK.to_owned());
        }
    }
    mask(words)
}

/// Returns where a string that begins at `start` ends, after its closing quote.
fn string_end(bytes: &[u8], start: usize) -> usize {
    let mut at = start + 1;
    while let Some(n) = memchr::memchr2(b'"', b'\\', &bytes[at.min(bytes.len())..]) {
        if bytes[at + n] == b'"' {
            return at + n + 1;
        }
        at += n + 2;
    }
    bytes.len()
}

fn is_followed_by_colon(bytes: &[u8], end: usize) -> bool {
    let mut rest = bytes[end..].iter();
    rest.find(|b| !b.is_ascii_whitespace()) == Some(&b':')
}

/// Returns a text as a JSON string.
fn encoded(text: &str) -> String {
    serde_json::Value::from(text).to_string()
}
