//! Searches a text for secrets.

use std::ops::Range;

use super::ansi::readings;
use super::glance::is_clean;
use super::rules::{Rule, Rules, rules};

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
    let secret = |hit: Hit<'static>| Secret {
        range: hit.masked,
        rule: &hit.rule.id,
    };
    let (blanked, plain) = readings(text.as_bytes());
    search(rules(), &blanked, steps, |hit| found.push(secret(hit)));
    if let Some(plain) = plain {
        search(rules(), &plain.text, steps, |hit| {
            let secret = secret(hit);
            found.push(Secret {
                range: plain.origin(&secret.range),
                ..secret
            });
        });
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

/// What a rule found.
#[derive(Debug)]
pub(super) struct Hit<'r> {
    /// What is masked when the text is shown.
    pub(super) masked: Range<usize>,
    /// The whole token, with the part that tells its kind.
    pub(super) token: Range<usize>,
    pub(super) rule: &'r Rule,
}

/// Runs every rule whose keyword occurs.
pub(super) fn search<'r>(
    rules: &'r Rules,
    text: &[u8],
    steps: &mut usize,
    mut each: impl FnMut(Hit<'r>),
) {
    let mut wanted = vec![false; rules.all.len()];
    for &always in &rules.always {
        wanted[always] = true;
    }
    *steps += text.len();
    if let Some(keywords) = &rules.keywords {
        for hit in keywords.find_overlapping_iter(text) {
            for &owner in &rules.owners[hit.pattern().as_usize()] {
                wanted[owner] = true;
            }
        }
    }
    for (rule, _) in rules.all.iter().zip(wanted).filter(|(_, w)| *w) {
        let Some(regex) = rule.regex.regex() else {
            continue;
        };
        *steps += text.len();
        for captures in regex.captures_iter(text) {
            let mut groups = captures.iter().skip(1).flatten();
            let group = match rule.group {
                Some(number) => captures.get(number),
                None => groups.next(),
            };
            let (Some(value), Some(whole)) = (group.or_else(|| captures.get(0)), captures.get(0))
            else {
                continue;
            };
            if rule.accepts(value.as_bytes()) {
                let prefix = &text[whole.start()..value.start()];
                let start = if prefix.iter().all(|b| is_token_byte(*b)) {
                    whole.start()
                } else {
                    value.start()
                };
                each(Hit {
                    masked: value.range(),
                    token: start..value.end(),
                    rule,
                });
            }
        }
    }
}

/// Returns whether a byte can be part of a token's prefix, such as `sk-ant-` or `SG.`.
fn is_token_byte(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'-' | b'.' | b'~')
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
