//! Text with terminal codes in it, as the rules should read it.

use std::borrow::Cow;
use std::ops::Range;
use std::sync::LazyLock;

use regex::bytes::Regex;

/// CSI and OSC sequences and two-character escapes, as bytes or spelt with an escape of a string.
static CODES: LazyLock<Option<Regex>> = LazyLock::new(|| {
    Regex::new(
        r"(?-u)\x1b(?:\[[0-?]*[ -/]*[@-~]|\][^\x07\x1b]*(?:\x07|\x1b\\)|[@-Z\\^_])|\\(?:u001[bB]|x1[bB]|033|e)\[[0-9;]*m",
    )
    .ok()
});

/// Line breaks and tabs that are spelt with an escape.
static ESCAPES: LazyLock<Option<Regex>> = LazyLock::new(|| Regex::new(r"(?-u)\\[nrt]").ok());

/// A text without its terminal codes, and where each byte came from.
pub(super) struct Plain {
    pub(super) text: Vec<u8>,
    origins: Vec<usize>,
    len: usize,
}

impl Plain {
    /// Returns a range of the plain text as a range of the text that it was made of.
    pub(super) fn origin(&self, range: &Range<usize>) -> Range<usize> {
        let start = self.origins.get(range.start).copied().unwrap_or(self.len);
        let end = match range.end.checked_sub(1) {
            Some(last) if last >= range.start => {
                self.origins.get(last).map_or(self.len, |at| at + 1)
            }
            _ => start,
        };
        start..end
    }
}

/// Returns up to two readings of a text: one with a blank for every byte of a code or escape, so that a word may
/// begin after it, and one without the codes, so that a word that is interrupted by them is whole.
pub(super) fn readings(text: &[u8]) -> (Cow<'_, [u8]>, Option<Plain>) {
    if memchr::memchr2(0x1b, b'\\', text).is_none() {
        return (Cow::Borrowed(text), None);
    }
    let mut blanked = text.to_vec();
    let mut codes: Vec<Range<usize>> = Vec::new();
    if let Some(regex) = CODES.as_ref() {
        codes.extend(regex.find_iter(text).map(|m| m.range()));
    }
    for code in &codes {
        blanked[code.clone()].fill(b' ');
    }
    if let Some(regex) = ESCAPES.as_ref() {
        for escape in regex.find_iter(text) {
            blanked[escape.range()].fill(b' ');
        }
    }
    let plain = (!codes.is_empty()).then(|| without(text, &codes));
    (Cow::Owned(blanked), plain)
}

/// Removes some ranges from a text.
fn without(text: &[u8], codes: &[Range<usize>]) -> Plain {
    let mut plain = Plain {
        text: Vec::with_capacity(text.len()),
        origins: Vec::with_capacity(text.len()),
        len: text.len(),
    };
    let mut from = 0;
    for code in codes {
        plain.text.extend_from_slice(&text[from..code.start]);
        plain.origins.extend(from..code.start);
        from = code.end;
    }
    plain.text.extend_from_slice(&text[from..]);
    plain.origins.extend(from..text.len());
    plain
}
