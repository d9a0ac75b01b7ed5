//! Text as it is read after something was taken out or resolved, and where each byte came from.

use std::ops::Range;

/// A text made from another one, with the place of each of its bytes in that one.
#[derive(Debug)]
pub(super) struct Reading {
    pub(super) text: Vec<u8>,
    /// Where the bytes begin and end that each byte was made from.
    places: Vec<(u32, u32)>,
    len: usize,
}

impl Reading {
    /// Begins a reading of a text of `len` bytes.
    pub(super) fn of(len: usize) -> Self {
        Self {
            text: Vec::with_capacity(len),
            places: Vec::with_capacity(len),
            len,
        }
    }

    /// Adds bytes that stand at `from` in the other text, unchanged.
    pub(super) fn copy(&mut self, bytes: &[u8], from: usize) {
        self.text.extend_from_slice(bytes);
        let places = (from as u32..).take(bytes.len()).map(|at| (at, at + 1));
        self.places.extend(places);
    }

    /// Adds bytes that were made from a range of the other text.
    pub(super) fn replace(&mut self, bytes: &[u8], range: Range<usize>) {
        self.text.extend_from_slice(bytes);
        let place = (range.start as u32, range.end as u32);
        self.places.extend(bytes.iter().map(|_| place));
    }

    /// Returns a range of this text as a range of the text that it was made from.
    pub(super) fn origin(&self, range: &Range<usize>) -> Range<usize> {
        let start = self.places.get(range.start);
        let start = start.map_or(self.len, |place| place.0 as usize);
        let last = range.end.checked_sub(1).filter(|last| *last >= range.start);
        let end = last.and_then(|last| self.places.get(last));
        start..end.map_or(start, |place| place.1 as usize)
    }
}

/// Returns a text with the escapes of JSON strings resolved; `None` if it has none.
///
/// A backslash that begins no such escape stays. Half a surrogate pair becomes U+FFFD.
pub(super) fn unescaped(text: &[u8]) -> Option<Reading> {
    let mut at = memchr::memchr(b'\\', text)?;
    let mut out = Reading::of(text.len());
    out.copy(&text[..at], 0);
    while at < text.len() {
        let plain = match text.get(at + 1) {
            Some(b'n') => b'\n',
            Some(b't') => b'\t',
            Some(b'r') => b'\r',
            Some(b'b') => 8,
            Some(b'f') => 12,
            Some(&c @ (b'"' | b'\\' | b'/')) => c,
            Some(b'u') if unit(text, at).is_some() => {
                let (character, len) = character(text, at);
                let mut bytes = [0; 4];
                let bytes = character.encode_utf8(&mut bytes);
                out.replace(bytes.as_bytes(), at..at + len);
                at = copy_plain(&mut out, text, at + len);
                continue;
            }
            _ => {
                out.copy(b"\\", at);
                at = copy_plain(&mut out, text, at + 1);
                continue;
            }
        };
        out.replace(&[plain], at..at + 2);
        at = copy_plain(&mut out, text, at + 2);
    }
    Some(out)
}

/// Copies what comes before the next backslash, and returns where that is.
fn copy_plain(out: &mut Reading, text: &[u8], from: usize) -> usize {
    let rest = &text[from.min(text.len())..];
    let len = memchr::memchr(b'\\', rest).unwrap_or(rest.len());
    out.copy(&rest[..len], from);
    from + len
}

/// Returns the unit of the `\u0041`-like escape at `at`.
fn unit(text: &[u8], at: usize) -> Option<u32> {
    let escape = text.get(at..at + 6)?;
    let digits = escape.strip_prefix(b"\\u")?;
    digits.iter().try_fold(0, |number, digit| {
        Some(number * 16 + char::from(*digit).to_digit(16)?)
    })
}

/// Returns the character of the escape at `at`, and how many bytes spell it.
fn character(text: &[u8], at: usize) -> (char, usize) {
    let first = unit(text, at).unwrap_or(0xfffd);
    if let (0xd800..=0xdbff, Some(second @ 0xdc00..=0xdfff)) = (first, unit(text, at + 6)) {
        let code = 0x10000 + ((first - 0xd800) << 10) + (second - 0xdc00);
        return (char::from_u32(code).unwrap_or('\u{fffd}'), 12);
    }
    (char::from_u32(first).unwrap_or('\u{fffd}'), 6)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn unescaped_text_knows_where_it_came_from() {
        let text = br"a\n\u0062c\\d \ud83d\ude00 \ud83d \x";
        let reading = unescaped(text).unwrap();
        assert_eq!(reading.text, "a\nbc\\d 😀 \u{fffd} \\x".as_bytes());
        assert_eq!(reading.origin(&(2..4)), 3..10);
        assert_eq!(reading.origin(&(1..2)), 1..3);
    }

    proptest! {
        #[test]
        fn unescaped_reads_as_serde_json_does(words in "[ -~é\n\u{1}😀]{0,30}") {
            let raw = crate::json::encode(&words);
            let inner = &raw.as_bytes()[1..raw.len() - 1];
            let read = unescaped(inner).map_or_else(|| inner.to_vec(), |r| r.text);
            prop_assert_eq!(read, words.as_bytes());
        }

        #[test]
        fn unescaped_takes_any_bytes(text in prop::collection::vec(prop::sample::select(&b"\\u0d8a\"n\xff"[..]), 0..40)) {
            if let Some(reading) = unescaped(&text) {
                let all = reading.origin(&(0..reading.text.len()));
                prop_assert_eq!(all, 0..text.len());
            }
        }
    }
}
