//! Decoding and encoding JSON strings.

use std::borrow::Cow;

use memchr::memmem;
use serde::de::{Deserializer as _, Visitor};

/// Returns the text of a JSON string (quotes included in `raw`) as JavaScript would read it: bytes that are not UTF-8 and
/// halves of surrogate pairs become U+FFFD. Any other value is returned as it is.
pub fn decode(raw: &[u8]) -> Cow<'_, str> {
    let Some(inner) = raw.strip_prefix(b"\"").and_then(|r| r.strip_suffix(b"\"")) else {
        return String::from_utf8_lossy(raw);
    };
    if memchr::memchr(b'\\', inner).is_none() {
        return String::from_utf8_lossy(inner);
    }
    struct Bytes;
    impl Visitor<'_> for Bytes {
        type Value = Vec<u8>;
        fn expecting(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
            f.write_str("a string")
        }
        fn visit_bytes<E>(self, v: &[u8]) -> Result<Vec<u8>, E> {
            Ok(v.to_vec())
        }
        fn visit_str<E>(self, v: &str) -> Result<Vec<u8>, E> {
            Ok(v.as_bytes().to_vec())
        }
    }
    // Read as bytes, serde_json accepts lone surrogates, which it refuses in a string; each becomes three bytes.
    let bytes = serde_json::Deserializer::from_slice(raw).deserialize_bytes(Bytes);
    match bytes {
        Ok(bytes) => {
            let words = String::from_utf8(bytes);
            Cow::Owned(words.unwrap_or_else(|e| lossy(e.as_bytes())))
        }
        Err(_) => String::from_utf8_lossy(inner),
    }
}

/// Returns how many bytes the decoded text of a JSON string has, mostly without decoding it.
pub fn decoded_len(raw: &[u8]) -> usize {
    let plain = || {
        let inner = raw.strip_prefix(b"\"")?.strip_suffix(b"\"")?;
        let countable = memmem::find(inner, b"\\u").is_none();
        let valid = countable && simdutf8::basic::from_utf8(inner).is_ok();
        valid.then(|| plain_len(raw)).flatten()
    };
    plain().unwrap_or_else(|| decode(raw).len())
}

/// Returns the same as [`decoded_len`] for a string that is UTF-8 and has no `\u0041`-like escapes; `None` where it must be
/// decoded after all.
pub fn plain_len(raw: &[u8]) -> Option<usize> {
    let inner = raw.strip_prefix(b"\"")?.strip_suffix(b"\"")?;
    // Of two backslashes in a row, only the first is an escape.
    let single = memmem::find(inner, br"\\").is_none();
    single.then(|| inner.len() - memchr::memchr_iter(b'\\', inner).count())
}

/// Returns the beginning of a JSON string (quotes included in `raw`): at least the text of its first `len` bytes.
pub fn decode_head(raw: &[u8], len: usize) -> Cow<'_, str> {
    if raw.first() != Some(&b'"') || raw.len() <= len + 16 {
        return decode(raw);
    }
    let mut cut = 1;
    while cut < len {
        cut += match (raw[cut], raw[cut + 1]) {
            // Do not separate a surrogate pair.
            (b'\\', b'u')
                if matches!(
                    raw[cut + 2..],
                    [b'd' | b'D', b'8' | b'9' | b'a'..=b'b' | b'A'..=b'B', ..]
                ) =>
            {
                12
            }
            (b'\\', b'u') => 6,
            (b'\\', _) => 2,
            _ => 1,
        };
    }
    // Do not cut a character of several bytes.
    while raw.get(cut).is_some_and(|b| b & 0xc0 == 0x80) {
        cut += 1;
    }
    let head = [raw.get(..cut).unwrap_or(raw), b"\""].concat();
    Cow::Owned(decode(&head).into_owned())
}

/// Whether a JSON string begins with a visible ASCII character, after white space. Nearly all strings that are not blank do.
pub fn begins_with_text(raw: &[u8]) -> bool {
    let mut rest = raw.get(1..).unwrap_or_default();
    loop {
        rest = match rest {
            [b' ', rest @ ..] | [b'\\', b'n' | b'r' | b't', rest @ ..] => rest,
            [b'\\', next, ..] => return matches!(next, b'"' | b'\\' | b'/'),
            [first, ..] => return first.is_ascii_graphic() && *first != b'"',
            [] => return false,
        }
    }
}

/// Returns a JSON string of this text, as JavaScript would write it.
pub fn encode(words: &str) -> String {
    serde_json::Value::from(words).to_string()
}

/// Converts like `from_utf8_lossy`, but half a surrogate pair becomes one U+FFFD instead of three.
fn lossy(bytes: &[u8]) -> String {
    let mut joined = String::with_capacity(bytes.len());
    for chunk in bytes.utf8_chunks() {
        joined.push_str(chunk.valid());
        match chunk.invalid() {
            [] => {}
            // Half a surrogate pair is ED A0..BF 80..BF; each of its bytes is a chunk of its own.
            [0x80..=0xbf] if joined.ends_with('\u{fffd}') && chunk.valid().is_empty() => {}
            _ => joined.push('\u{fffd}'),
        }
    }
    joined
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    const PARTS: [&[u8]; 8] = [
        b"a",
        b"\\n",
        b"\\\\",
        b"\\\"",
        b"\\u00e9",
        b"\\ud83d",
        "ü".as_bytes(),
        b"\xff",
    ];

    proptest! {
        #[test]
        fn decoded_len_is_the_length_of_the_decoded_text(inner in proptest::collection::vec(prop::sample::select(&PARTS[..]), 0..20)) {
            let raw = [b"\"", inner.concat().as_slice(), b"\""].concat();
            prop_assert_eq!(decoded_len(&raw), decode(&raw).len());
        }
    }

    #[test]
    fn decode_head_returns_the_beginning() {
        let words = "a\"b\n\u{1}ü漢😀".repeat(40);
        let raw = encode(&words);
        for len in 0..300 {
            let head = decode_head(raw.as_bytes(), len);
            assert!(
                words.starts_with(&*head) && head.len() * 6 + 1 >= len,
                "{len}: {head}"
            );
        }
    }

    #[test]
    fn decode_reads_as_javascript_does() {
        assert_eq!(decode(br#""plain""#), "plain");
        assert_eq!(decode(br#""a\n\u00e9\/""#), "a\né/");
        assert_eq!(decode(br#""cut \ud83d!""#), "cut \u{fffd}!");
        assert_eq!(decode(b"\"\xff\""), "\u{fffd}");
        assert_eq!(decode(br#""\ud83d\ude00""#), "😀");
        assert_eq!(decode(b"null"), "null");
    }
}
