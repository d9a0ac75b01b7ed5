//! Text with terminal codes in it, as the rules should read it.

use std::borrow::Cow;
use std::ops::Range;

use memchr::{memchr, memchr2};

use super::reading::Reading;

/// The byte that begins a terminal code.
pub(super) const ESC: u8 = 0x1b;

/// How an ESC is spelt in a string of a program, after the backslash.
const SPELT: [&[u8]; 6] = [b"u001b", b"u001B", b"x1b", b"x1B", b"033", b"e"];

/// Returns up to two readings of a text: one with a blank for every byte of a code or escape, so that a word may
/// begin after it, and one without the codes, so that a word that is interrupted by them is whole.
pub(super) fn readings(text: &[u8]) -> (Cow<'_, [u8]>, Option<Reading>) {
    let codes = codes(text);
    let escapes = escapes(text);
    if codes.is_empty() && escapes.is_empty() {
        return (Cow::Borrowed(text), None);
    }
    let mut blanked = text.to_vec();
    for hidden in codes.iter().cloned().chain(escapes) {
        blanked[hidden].fill(b' ');
    }
    let plain = (!codes.is_empty()).then(|| without(text, &codes));
    (Cow::Owned(blanked), plain)
}

/// Returns where the codes of a terminal are: CSI and OSC sequences and two-character escapes, as bytes or spelt with an
/// escape of a string.
fn codes(text: &[u8]) -> Vec<Range<usize>> {
    let mut found = Vec::new();
    let mut at = 0;
    while let Some(n) = memchr2(ESC, b'\\', &text[at..]) {
        let start = at + n;
        let rest = &text[start + 1..];
        let code = if text[start] == ESC {
            code_len(rest)
        } else {
            spelt_len(rest)
        };
        at = start + 1 + code.unwrap_or(0);
        if code.is_some() {
            found.push(start..at);
        }
    }
    found
}

/// Returns how long the code is that begins with an ESC before `rest`.
fn code_len(rest: &[u8]) -> Option<usize> {
    let body = rest.get(1..)?;
    let count = |from: usize, least: u8, most: u8| {
        let bytes = body[from..].iter();
        from + bytes.take_while(|b| (least..=most).contains(b)).count()
    };
    match rest[0] {
        b'[' => {
            let end = count(count(0, b'0', b'?'), b' ', b'/');
            let is_final = body.get(end).is_some_and(|b| (b'@'..=b'~').contains(b));
            is_final.then_some(end + 2)
        }
        b']' => {
            let end = memchr2(7, ESC, body)?;
            match body[end] {
                7 => Some(end + 2),
                _ => (body.get(end + 1) == Some(&b'\\')).then_some(end + 3),
            }
        }
        b'@'..=b'Z' | b'\\' | b'^' | b'_' => Some(1),
        _ => None,
    }
}

/// Returns how long the code is that begins with a backslash before `rest`.
fn spelt_len(rest: &[u8]) -> Option<usize> {
    let name = SPELT.iter().find(|name| rest.starts_with(name))?.len();
    let body = rest[name..].strip_prefix(b"[")?;
    let digits = body.iter();
    let digits = digits.take_while(|b| b.is_ascii_digit() || **b == b';');
    let digits = digits.count();
    (body.get(digits) == Some(&b'm')).then_some(name + digits + 2)
}

/// Returns where line breaks and tabs are that are spelt with an escape.
fn escapes(text: &[u8]) -> Vec<Range<usize>> {
    let mut found = Vec::new();
    let mut at = 0;
    while let Some(n) = memchr(b'\\', &text[at..]) {
        let start = at + n;
        at = start + 1;
        if matches!(text.get(at), Some(b'n' | b'r' | b't')) {
            at += 1;
            found.push(start..at);
        }
    }
    found
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

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use regex::bytes::Regex;

    use super::*;

    proptest! {
        #![proptest_config(ProptestConfig { cases: 2000, failure_persistence: None, ..ProptestConfig::default() })]

        #[test]
        fn codes_and_escapes_are_those_of_their_patterns(
            text in "(\x1b|\x1b\\[|\x1b\\]|\x07|\\\\|\\\\e\\[|u001b|u001B\\[|x1b|033|[0-9;]|[mnrt?! A@Z^_~\\[\\]]|é){0,12}"
        ) {
            let all = |pattern: &str| -> Vec<Range<usize>> {
                let pattern = Regex::new(pattern).expect("a pattern");
                pattern.find_iter(text.as_bytes()).map(|m| m.range()).collect()
            };
            let code = r"(?-u)\x1b(?:\[[0-?]*[ -/]*[@-~]|\][^\x07\x1b]*(?:\x07|\x1b\\)|[@-Z\\^_])|\\(?:u001[bB]|x1[bB]|033|e)\[[0-9;]*m";
            prop_assert_eq!(codes(text.as_bytes()), all(code));
            prop_assert_eq!(escapes(text.as_bytes()), all(r"(?-u)\\[nrt]"));
        }
    }
}
