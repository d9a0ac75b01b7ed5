//! Searches for values that are known to be secrets, whole or cut off.

use std::ops::Range;

use aho_corasick::AhoCorasick;

use super::rules::{automaton, looks_random};
use super::scan::Source;
use super::vault::KnownSecret;

/// The least number of bytes by which a secret that was cut off is recognised.
const LEAST: usize = 10;

/// An automaton for the beginnings of known secrets.
#[derive(Debug)]
pub(super) struct Known {
    automaton: AhoCorasick,
    secrets: Vec<KnownSecret>,
}

/// A known secret in a text.
pub(super) struct KnownHit<'k> {
    pub(super) range: Range<usize>,
    pub(super) secret: &'k KnownSecret,
    /// Whether only its beginning is there.
    pub(super) is_cut: bool,
}

impl Known {
    /// Knows the secrets that are worth searching for without their context; `None` if there are none.
    pub(super) fn of(secrets: &[KnownSecret]) -> Option<Self> {
        let secrets: Vec<_> = secrets.iter().filter(|s| is_telling(s)).cloned().collect();
        if secrets.is_empty() {
            return None;
        }
        let heads: Vec<&[u8]> = secrets.iter().map(head).collect();
        Some(Self {
            automaton: automaton(&heads, false)?,
            secrets,
        })
    }

    /// Returns whether a text has the beginning of a known secret.
    pub(super) fn may_match(&self, text: &[u8]) -> bool {
        self.automaton.is_match(text)
    }

    /// Calls `each` with the known secrets in a text. Where several begin, that is the longest.
    pub(super) fn search<'k>(&'k self, text: &[u8], mut each: impl FnMut(KnownHit<'k>)) {
        let mut best: Option<KnownHit<'k>> = None;
        for hit in self.automaton.find_overlapping_iter(text) {
            let secret = &self.secrets[hit.pattern().as_usize()];
            let rest = &text[hit.start()..];
            let same = rest.iter().zip(&secret.value).take_while(|(a, b)| a == b);
            let len = same.count();
            let is_cut = len < secret.value.len();
            let goes_on = rest
                .get(len)
                .is_some_and(|b| b.is_ascii_alphanumeric() || matches!(b, b'_' | b'-'));
            if is_cut && (goes_on || !can_be_cut(secret)) {
                continue;
            }
            let found = KnownHit {
                range: hit.start()..hit.start() + len,
                secret,
                is_cut,
            };
            match &best {
                Some(other) if other.range.start == found.range.start => {
                    if other.range.end < found.range.end {
                        best = Some(found);
                    }
                }
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

/// Returns whether a secret's value alone tells that it is one. A password such as `postgres` does not.
fn is_telling(secret: &KnownSecret) -> bool {
    match secret.source {
        Source::Given | Source::Shape => !secret.value.is_empty(),
        Source::Context | Source::Guess => looks_random(&secret.value),
    }
}

/// Returns whether the beginning of a secret tells that it was cut off.
fn can_be_cut(secret: &KnownSecret) -> bool {
    head(secret).len() < secret.value.len()
}

/// Returns the bytes by which a secret is recognised: its beginning, or all of it if that is short.
fn head(secret: &KnownSecret) -> &[u8] {
    let value = &secret.value[..];
    let telling = match secret.source {
        Source::Given => (value.len() / 2).max(LEAST),
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
