//! Searches for values that are known to be secrets, whole or cut off.

use std::ops::Range;

use aho_corasick::AhoCorasick;

use super::around::Around;
use super::finding::Source;
use super::rules::{automaton, looks_random};
use super::sieve::Sieve;
use super::vault::KnownSecret;

/// The least number of bytes by which a secret that was cut off is recognised.
const LEAST: usize = 10;

/// An automaton for the beginnings and the ends of known secrets.
#[derive(Debug)]
pub(super) struct Known {
    automaton: AhoCorasick,
    /// The words of the automaton, and `\u`: most texts have none of them, and it finds that out faster.
    sieve: Sieve,
    secrets: Vec<KnownSecret>,
    /// What each pattern of the automaton is part of.
    parts: Vec<Part>,
    /// The secrets that are numbers of JSON as well.
    numbers: Vec<usize>,
}

/// A part of a secret by which it is recognised.
#[derive(Debug, Clone, Copy)]
enum Part {
    /// Its beginning, or all of it.
    Head(usize),
    /// Its end, after a cut.
    Tail(usize),
}

/// A known secret in a text.
pub(super) struct KnownHit<'k> {
    pub(super) range: Range<usize>,
    pub(super) secret: &'k KnownSecret,
    /// Whether only its beginning or its end is there.
    pub(super) is_cut: bool,
}

impl Known {
    /// Knows the secrets that are worth searching for without their context; `None` if there are none.
    pub(super) fn of(secrets: &[KnownSecret]) -> Option<Self> {
        let secrets: Vec<_> = secrets.iter().filter(|s| is_telling(s)).cloned().collect();
        if secrets.is_empty() {
            return None;
        }
        let mut words: Vec<&[u8]> = Vec::new();
        let mut parts = Vec::new();
        for (n, secret) in secrets.iter().enumerate() {
            words.push(head(secret));
            parts.push(Part::Head(n));
            if let Some(tail) = tail(secret) {
                words.push(tail);
                parts.push(Part::Tail(n));
            }
        }
        let automaton = automaton(&words, false)?;
        let mut sieve = Sieve::default();
        for word in words.iter().copied().chain([&br"\u"[..]]) {
            sieve.add(word, &Around::default(), 0);
        }
        let is_number = |s: &KnownSecret| s.source == Source::Given && is_json_number(&s.value);
        let numbers = (0..secrets.len()).filter(|&n| is_number(&secrets[n]));
        Some(Self {
            numbers: numbers.collect(),
            automaton,
            sieve,
            secrets,
            parts,
        })
    }

    /// Whether some secrets are numbers.
    pub(super) fn has_numbers(&self) -> bool {
        !self.numbers.is_empty()
    }

    /// Returns the secret that a number of JSON is, written with or without a sign.
    pub(super) fn number(&self, word: &[u8]) -> Option<&KnownSecret> {
        let digits = word.strip_prefix(b"-").unwrap_or(word);
        let all = self.numbers.iter().map(|&n| &self.secrets[n]);
        let mut same = all.filter(|s| s.value == word || s.value == digits);
        same.next()
    }

    /// Returns whether a text may have a part of a known secret. It may be JSON: an escape may hide one.
    pub(super) fn may_match(&self, text: &[u8]) -> bool {
        self.sieve.is_match(text)
    }

    /// Calls `each` with the known secrets in a text. Where several begin, that is the longest.
    pub(super) fn search<'k>(&'k self, text: &[u8], mut each: impl FnMut(KnownHit<'k>)) {
        if !self.may_match(text) {
            return;
        }
        let mut best: Option<KnownHit<'k>> = None;
        for hit in self.automaton.find_overlapping_iter(text) {
            let found = match self.parts[hit.pattern().as_usize()] {
                Part::Head(n) => from_head(&self.secrets[n], text, hit.start()),
                Part::Tail(n) => from_tail(&self.secrets[n], text, hit.end()),
            };
            let Some(found) = found else { continue };
            match &best {
                Some(other) if other.range.start == found.range.start => {
                    if other.range.end < found.range.end {
                        best = Some(found);
                    }
                }
                // The end of a secret that is there as a whole.
                Some(other) if found.range.end <= other.range.end => {}
                _ => {
                    if let Some(done) = best.replace(found) {
                        each(done);
                    }
                }
            }
        }
        if let Some(done) = best {
            each(done);
        }
    }
}

/// Returns a secret that begins at `start`, whole or cut off.
fn from_head<'k>(secret: &'k KnownSecret, text: &[u8], start: usize) -> Option<KnownHit<'k>> {
    let rest = &text[start..];
    let same = rest.iter().zip(&secret.value).take_while(|(a, b)| a == b);
    let len = same.count();
    let is_cut = len < secret.value.len();
    let goes_on = rest.get(len).is_some_and(|b| is_word(*b));
    if is_cut && (goes_on || head(secret).len() == secret.value.len()) {
        return None;
    }
    Some(KnownHit {
        range: start..start + len,
        secret,
        is_cut,
    })
}

/// Returns the end of a secret whose beginning was cut off before it.
fn from_tail<'k>(secret: &'k KnownSecret, text: &[u8], end: usize) -> Option<KnownHit<'k>> {
    let before = text[..end].iter().rev();
    let same = before.zip(secret.value.iter().rev());
    let len = same.take_while(|(a, b)| a == b).count();
    let start = end - len;
    let goes_on = start > 0 && is_word(text[start - 1]);
    let is_cut = len < secret.value.len();
    (is_cut && !goes_on).then_some(KnownHit {
        range: start..end,
        secret,
        is_cut,
    })
}

fn is_word(b: u8) -> bool {
    b.is_ascii_alphanumeric() || matches!(b, b'_' | b'-')
}

fn is_json_number(value: &[u8]) -> bool {
    serde_json::from_slice::<serde_json::Number>(value).is_ok()
}

/// Returns whether a secret's value alone tells that it is one. A password such as `postgres` does not.
fn is_telling(secret: &KnownSecret) -> bool {
    match secret.source {
        Source::Given | Source::Shape => !secret.value.is_empty(),
        Source::Context | Source::Guess => looks_random(&secret.value),
    }
}

/// Returns the bytes by which a secret is recognised: its beginning, or all of it if that is short.
fn head(secret: &KnownSecret) -> &[u8] {
    let value = &secret.value[..];
    let telling = match secret.source {
        Source::Given if !is_long_word(value) => value.len(),
        Source::Given => value.len() / 2,
        // All keys of a kind begin alike, for longer than their prefix.
        _ if secret.kind == "private-key" => 56,
        _ if value.starts_with(b"eyJ") => {
            let header = memchr::memchr(b'.', value).unwrap_or(value.len());
            header + LEAST
        }
        Source::Shape => (secret.prefix + 8).max(LEAST),
        Source::Context | Source::Guess => (value.len() * 2 / 3).max(LEAST),
    };
    value.get(..telling).unwrap_or(value)
}

/// Returns the bytes by which the end of a secret is recognised; `None` if other texts may end like it.
fn tail(secret: &KnownSecret) -> Option<&[u8]> {
    let value = &secret.value[..];
    let telling = match secret.source {
        // The last line is the same for all keys of a kind.
        _ if secret.kind.ends_with("private-key") => return None,
        Source::Given if !is_long_word(value) => return None,
        Source::Given => value.len() / 2,
        Source::Shape => LEAST,
        Source::Context | Source::Guess => (value.len() * 2 / 3).max(LEAST),
    };
    let tail = &value[value.len().checked_sub(telling)?..];
    (tail.len() < value.len() && tail.iter().all(u8::is_ascii_graphic)).then_some(tail)
}

/// Returns whether a given value is recognised by a part of it. Other texts begin or end like a short one, or like a sentence.
fn is_long_word(value: &[u8]) -> bool {
    value.len() >= 2 * LEAST && value.iter().all(u8::is_ascii_graphic)
}
