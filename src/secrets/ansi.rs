//! Text with terminal codes in it, as the rules should read it.

use std::borrow::Cow;
use std::ops::Range;
use std::sync::LazyLock;

use regex::bytes::Regex;

use super::reading::Reading;

/// CSI and OSC sequences and two-character escapes, as bytes or spelt with an escape of a string.
static CODES: LazyLock<Option<Regex>> = LazyLock::new(|| {
    Regex::new(
        r"(?-u)\x1b(?:\[[0-?]*[ -/]*[@-~]|\][^\x07\x1b]*(?:\x07|\x1b\\)|[@-Z\\^_])|\\(?:u001[bB]|x1[bB]|033|e)\[[0-9;]*m",
    )
    .ok()
});

/// Line breaks and tabs that are spelt with an escape.
static ESCAPES: LazyLock<Option<Regex>> = LazyLock::new(|| Regex::new(r"(?-u)\\[nrt]").ok());

/// Returns up to two readings of a text: one with a blank for every byte of a code or escape, so that a word may
/// begin after it, and one without the codes, so that a word that is interrupted by them is whole.
pub(super) fn readings(text: &[u8]) -> (Cow<'_, [u8]>, Option<Reading>) {
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
fn without(text: &[u8], codes: &[Range<usize>]) -> Reading {
    let mut plain = Reading::of(text.len());
    let mut from = 0;
    for code in codes {
        plain.copy(&text[from..code.start], from);
        from = code.end;
    }
    plain.copy(&text[from..], from);
    plain
}
