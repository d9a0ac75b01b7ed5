//! Replaces secrets in JSON.

use std::borrow::Cow;

use crate::json::decode;

use super::find::find;
use super::keywords::is_clean;
use super::mask::{MASK, mask};

/// Returns JSON text with the secrets in its strings replaced.
///
/// Strings are decoded, masked and encoded again, so valid JSON stays valid; a string without a secret keeps its
/// spelling. A string that is the value of a key such as `password` is judged together with its key.
pub fn mask_json(text: &str) -> Cow<'_, str> {
    masked_json(text, true)
}

/// Masks JSON text. Strings without a keyword need not be decoded; if `may_skip` is false, all are.
pub(super) fn masked_json(text: &str, may_skip: bool) -> Cow<'_, str> {
    let bytes = text.as_bytes();
    let mut out = String::new();
    let mut kept = 0;
    let mut key = Key::default();
    let mut after_colon = false;
    let mut at = 0;
    while let Some(n) = memchr::memchr3(b'"', b':', b',', &bytes[at..]) {
        let start = at + n;
        if bytes[start] != b'"' {
            after_colon = bytes[start] == b':';
            at = start + 1;
            continue;
        }
        let mut string = RawString::at(bytes, start);
        string.is_open &= may_skip;
        let end = start + string.raw.len();
        let is_key = is_followed_by_colon(bytes, end);
        let named = (after_colon && !is_key).then_some(&key);
        if let Some(safe) = string.masked(named) {
            out.push_str(&text[kept..start]);
            out.push_str(&encoded(&safe));
            kept = end;
        }
        if is_key {
            key = Key::of(string);
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

/// A string of JSON text, as it is written.
struct RawString<'t> {
    /// Its text, quotes included.
    raw: &'t [u8],
    /// Whether every keyword of a rule that is in its text is also in `raw`. Only these escapes can hide one: `\u0041`,
    /// `\/`, and a backslash or an ESC, with which codes of a terminal begin.
    is_open: bool,
}

impl<'t> RawString<'t> {
    /// The string that begins at `start`.
    fn at(bytes: &'t [u8], start: usize) -> Self {
        let mut is_open = true;
        let mut at = start + 1;
        while let Some(n) = memchr::memchr2(b'"', b'\\', &bytes[at.min(bytes.len())..]) {
            if bytes[at + n] == b'"' {
                let raw = &bytes[start..=at + n];
                is_open &= memchr::memchr(0x1b, raw).is_none();
                return Self { raw, is_open };
            }
            is_open &= !matches!(bytes.get(at + n + 1), Some(b'u' | b'/' | b'\\'));
            at += n + 2;
        }
        Self {
            raw: &bytes[start..],
            is_open: false,
        }
    }

    /// Returns the text with its secrets masked, or `None` if it has none.
    ///
    /// A string without a keyword is not decoded: of 190 million instructions for a session of 2 MB, that saves 100.
    fn masked(&self, key: Option<&Key<'_>>) -> Option<String> {
        if self.is_open && key.is_none_or(|key| key.is_clean) && is_clean(self.raw) {
            return None;
        }
        let words = decode(self.raw);
        let key = key.map(|key| decode(key.raw));
        match masked_value(&words, key.as_deref()) {
            Cow::Borrowed(_) => None,
            Cow::Owned(safe) => Some(safe),
        }
    }
}

/// A key of JSON text.
#[derive(Default)]
struct Key<'t> {
    /// How it is written, quotes included.
    raw: &'t [u8],
    /// Whether no keyword of a rule is in it, or in it and the colon after it.
    is_clean: bool,
}

impl<'t> Key<'t> {
    fn of(string: RawString<'t>) -> Self {
        let inner = &string.raw[1..string.raw.len().max(2) - 1];
        let with_colon = || [inner, HEAD_END].concat();
        Self {
            is_clean: string.is_open && is_clean(&with_colon()),
            raw: string.raw,
        }
    }
}

/// What is between a key and its value where they are judged together. No keyword has a quotation mark in it, so a keyword
/// ends before the value or begins with it.
const HEAD_END: &[u8] = b": \"";

/// Masks a decoded string; with a key, also what only its key tells to be a secret.
fn masked_value<'t>(words: &'t str, key: Option<&str>) -> Cow<'t, str> {
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

fn is_followed_by_colon(bytes: &[u8], end: usize) -> bool {
    let mut rest = bytes[end..].iter();
    rest.find(|b| !b.is_ascii_whitespace()) == Some(&b':')
}

/// Returns a text as a JSON string.
fn encoded(text: &str) -> String {
    serde_json::Value::from(text).to_string()
}
