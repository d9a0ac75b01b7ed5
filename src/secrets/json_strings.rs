//! The strings of JSON text, with the keys that name them.

use std::ops::Range;

/// A string of JSON text.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct JsonString {
    /// Where it is, quotes included.
    pub(super) span: Range<usize>,
    /// Where its key is, without quotes, if it is the value of one.
    pub(super) key: Option<Range<usize>>,
    /// Whether it is a key itself.
    pub(super) is_key: bool,
}

/// How far a string may be changed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Protection {
    /// It may be changed.
    None,
    /// Only if it holds a key of a provider's: the field mostly names a kind or an id.
    Shape,
    /// It stays as it is: a session does not work with another string in its place.
    Whole,
}

/// Fields whose strings are ids and signatures.
const PROTECTED: [&[u8]; 21] = [
    b"signature",
    b"encrypted_content",
    b"uuid",
    b"parentUuid",
    b"logicalParentUuid",
    b"leafUuid",
    b"sessionId",
    b"session_id",
    b"messageId",
    b"snapshotMessageId",
    b"sourceToolAssistantUUID",
    b"sourceToolUseID",
    b"toolUseID",
    b"tool_use_id",
    b"parentToolUseID",
    b"headUuid",
    b"anchorUuid",
    b"tailUuid",
    b"agentId",
    b"requestId",
    b"promptId",
];

/// Fields whose strings are mostly kinds, times and ids.
const KINDS: [&[u8]; 10] = [
    b"id",
    b"type",
    b"subtype",
    b"role",
    b"model",
    b"timestamp",
    b"version",
    b"stop_reason",
    b"userType",
    b"media_type",
];

/// Fields whose strings can be binary data in base64.
const BINARY: [&[u8]; 3] = [b"data", b"base64", b"bytes"];

/// The length from which on a string of such a field is taken for binary data.
const LONG: usize = 64;

impl JsonString {
    /// Returns what is between the quotes.
    pub(super) fn inner<'r>(&self, raw: &'r [u8]) -> &'r [u8] {
        &raw[self.span.start + 1..self.span.end - 1]
    }

    /// Returns how far the string may be changed.
    pub(super) fn protection(&self, raw: &[u8]) -> Protection {
        let Some(key) = self.key.as_ref().map(|key| &raw[key.clone()]) else {
            return Protection::None;
        };
        let is_digit = |b: &u8| b.is_ascii_alphanumeric() || matches!(b, b'+' | b'/' | b'=');
        let inner = self.inner(raw);
        let is_binary =
            || BINARY.contains(&key) && inner.len() >= LONG && inner.iter().all(is_digit);
        if PROTECTED.contains(&key) || is_binary() {
            Protection::Whole
        } else if KINDS.contains(&key) {
            Protection::Shape
        } else {
            Protection::None
        }
    }
}

/// Returns the strings of JSON text, keys included, in order. Text that is not JSON may yield anything.
pub(super) fn json_strings(raw: &[u8]) -> impl Iterator<Item = JsonString> + '_ {
    let mut at = 0;
    let mut key: Option<Range<usize>> = None;
    let mut after_colon = false;
    std::iter::from_fn(move || {
        loop {
            let start = at + memchr::memchr3(b'"', b':', b',', raw.get(at..)?)?;
            if raw[start] != b'"' {
                after_colon = raw[start] == b':';
                at = start + 1;
                continue;
            }
            let end = string_end(raw, start)?;
            at = end;
            let is_key = is_followed_by_colon(raw, end);
            let named = (after_colon && !is_key).then(|| key.clone()).flatten();
            after_colon = false;
            if is_key {
                key = Some(start + 1..end - 1);
            }
            return Some(JsonString {
                span: start..end,
                key: named,
                is_key,
            });
        }
    })
}

/// Returns where a string that begins at `start` ends, after its closing quote.
fn string_end(raw: &[u8], start: usize) -> Option<usize> {
    let mut at = start + 1;
    loop {
        let next = at + memchr::memchr2(b'"', b'\\', raw.get(at..)?)?;
        if raw[next] == b'"' {
            return Some(next + 1);
        }
        at = next + 2;
    }
}

fn is_followed_by_colon(raw: &[u8], end: usize) -> bool {
    let mut rest = raw[end..].iter();
    rest.find(|b| !b.is_ascii_whitespace()) == Some(&b':')
}
