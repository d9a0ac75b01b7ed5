//! A secret that was found in a text.

use std::fmt;
use std::hash::BuildHasher as _;
use std::ops::Range;

use super::vault::KnownSecret;

/// How a secret was found.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Source {
    /// The user named it.
    Given,
    /// It has the form of a provider's keys.
    Shape,
    /// Its surroundings name it, and it looks random.
    Context,
    /// It may be a secret; a person must confirm it.
    Guess,
}

/// A secret in a text. Its value is never shown.
#[derive(Clone, PartialEq, Eq)]
pub struct Finding {
    /// The bytes to replace.
    pub range: Range<usize>,
    /// The rule that found it, or where it was given.
    pub kind: String,
    /// How it was found.
    pub source: Source,
    /// Whether only its beginning or its end is there.
    pub is_cut: bool,
    /// Whether it is a number of JSON, which only a number can replace.
    pub is_number: bool,
    /// How many bytes of the value tell its kind.
    pub(super) prefix: usize,
    pub(super) value: Vec<u8>,
}

impl Finding {
    /// Returns a number that is the same for findings of the same value.
    pub fn value_hash(&self) -> u64 {
        rustc_hash::FxBuildHasher.hash_one(&self.value)
    }

    /// Returns how many bytes the value has.
    pub fn value_len(&self) -> usize {
        self.value.len()
    }

    /// Returns the first characters, never enough to use the secret.
    pub fn beginning(&self) -> String {
        beginning(&self.value, self.prefix)
    }

    /// Returns enough for a person who knows the value to recognise it: its ends and its length.
    pub fn preview(&self) -> String {
        let value = String::from_utf8_lossy(&self.value);
        let letters: Vec<char> = value.chars().collect();
        let shown = (letters.len() / 5).min(3);
        let (first, last) = (&letters[..shown], &letters[letters.len() - shown..]);
        let text = |part: &[char]| part.iter().collect::<String>();
        format!(
            "{}…{} ({} characters)",
            text(first),
            text(last),
            letters.len()
        )
    }

    /// Returns what stands in its place. A number becomes 0: with a text instead, clients would not read the line.
    pub fn replacement(&self, secret: &KnownSecret) -> String {
        if self.is_number {
            "0".to_owned()
        } else {
            secret.placeholder()
        }
    }

    /// Whether it is only a suggestion.
    pub fn is_suggestion(&self) -> bool {
        self.source == Source::Guess
    }
}

impl fmt::Debug for Finding {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} at {:?}", self.kind, self.range)
    }
}

impl Finding {
    pub(super) fn shift(self, by: usize) -> Self {
        Self {
            range: shift(&self.range, by),
            ..self
        }
    }

    /// The better of two findings of the same place: surer, then whole, then longer.
    fn rank(&self) -> (Source, bool, std::cmp::Reverse<usize>) {
        let len = self.range.len();
        (self.source, self.is_cut, std::cmp::Reverse(len))
    }
}

pub(super) fn shift(range: &Range<usize>, by: usize) -> Range<usize> {
    range.start + by..range.end + by
}

/// Sorts findings and joins those that overlap. A suggestion that overlaps a sure finding is left out.
pub(super) fn merged(found: Vec<Finding>) -> Vec<Finding> {
    let (guesses, sure): (Vec<_>, Vec<_>) = found.into_iter().partition(Finding::is_suggestion);
    let mut out = joined(sure);
    for guess in joined(guesses) {
        let is_apart =
            |f: &Finding| guess.range.end <= f.range.start || f.range.end <= guess.range.start;
        if out.iter().all(is_apart) {
            out.push(guess);
        }
    }
    out.sort_by_key(|f| f.range.start);
    out
}

fn joined(mut found: Vec<Finding>) -> Vec<Finding> {
    found.retain(|f| !f.range.is_empty());
    found.sort_by_key(|f| (f.range.start, std::cmp::Reverse(f.range.end)));
    let mut out: Vec<Finding> = Vec::with_capacity(found.len());
    for next in found {
        match out.last_mut() {
            Some(last) if next.range.start < last.range.end => {
                let range = last.range.start..last.range.end.max(next.range.end);
                if next.rank() < last.rank() {
                    *last = next;
                }
                last.range = range;
            }
            _ => out.push(next),
        }
    }
    out
}

/// Returns the first characters of a secret: what tells its kind, and no more than three of the rest if that is long.
pub(super) fn beginning(value: &[u8], prefix: usize) -> String {
    let rest = value.len().saturating_sub(prefix);
    let shown = prefix.min(24) + if rest >= 20 { 3 } else { 0 };
    let shown = &value[..shown.min(value.len() / 2)];
    let plain = shown.iter().take_while(|b| b.is_ascii_graphic());
    plain.map(|b| char::from(*b)).collect()
}

/// Returns a value without the white space that differs between two copies of a key of several lines.
pub(super) fn normal(value: &[u8]) -> Vec<u8> {
    let mut out = Vec::with_capacity(value.len());
    let mut at = 0;
    while let Some(&byte) = value.get(at) {
        let is_escape = byte == b'\\' && matches!(value.get(at + 1), Some(b'n' | b'r' | b't'));
        if is_escape {
            at += 1;
        } else if !byte.is_ascii_whitespace() {
            out.push(byte);
        }
        at += 1;
    }
    out
}
