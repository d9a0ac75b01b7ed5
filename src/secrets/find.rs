//! Searches a text for secrets.

use std::ops::Range;

use super::ansi::readings;
use super::glance::is_clean;
use super::rules::rules;

/// A secret in a text.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Secret {
    /// The bytes to mask; the part of a token that tells its kind is not in them.
    pub range: Range<usize>,
    /// The id of the rule that found it.
    pub rule: &'static str,
}

/// Returns the secrets in a text, in order and without overlaps.
///
/// Terminal codes in the text hide nothing.
pub fn find(text: &str) -> Vec<Secret> {
    if is_clean(text) {
        return Vec::new();
    }
    let mut steps = 0;
    find_counting(text, &mut steps)
}

/// [`find`], counting the bytes that are handed to a pattern.
pub(super) fn find_counting(text: &str, steps: &mut usize) -> Vec<Secret> {
    let mut found = Vec::new();
    let (blanked, plain) = readings(text.as_bytes());
    search(&blanked, &mut found, steps);
    if let Some(plain) = plain {
        let mut joined = Vec::new();
        search(&plain.text, &mut joined, steps);
        found.extend(joined.into_iter().map(|s| Secret {
            range: plain.origin(&s.range),
            ..s
        }));
    }
    for secret in &mut found {
        let (mut start, mut end) = (secret.range.start, secret.range.end);
        while !text.is_char_boundary(start) {
            start -= 1;
        }
        while !text.is_char_boundary(end) {
            end += 1;
        }
        secret.range = start..end;
    }
    merged(found)
}

/// Runs every rule whose keyword occurs.
fn search(text: &[u8], found: &mut Vec<Secret>, steps: &mut usize) {
    let rules = rules();
    let Some(keywords) = &rules.keywords else {
        return;
    };
    let mut wanted = vec![false; rules.all.len()];
    *steps += text.len();
    for hit in keywords.find_overlapping_iter(text) {
        for &owner in &rules.owners[hit.pattern().as_usize()] {
            wanted[owner] = true;
        }
    }
    for (rule, _) in rules.all.iter().zip(wanted).filter(|(_, w)| *w) {
        let Some(regex) = rule.regex.regex() else {
            continue;
        };
        *steps += text.len();
        for captures in regex.captures_iter(text) {
            let Some(value) = captures.get(1).or_else(|| captures.get(0)) else {
                continue;
            };
            if rule.accepts(value.as_bytes()) {
                found.push(Secret {
                    range: value.range(),
                    rule: &rule.id,
                });
            }
        }
    }
}

/// Sorts secrets and joins those that overlap.
fn merged(mut found: Vec<Secret>) -> Vec<Secret> {
    found.sort_by_key(|s| (s.range.start, std::cmp::Reverse(s.range.end)));
    let mut out: Vec<Secret> = Vec::with_capacity(found.len());
    for secret in found {
        match out.last_mut() {
            Some(last) if secret.range.start < last.range.end => {
                last.range.end = last.range.end.max(secret.range.end);
            }
            _ => out.push(secret),
        }
    }
    out
}
