//! Searches a text for secrets.

use std::ops::Range;

use super::ansi::readings;
use super::keywords::{RULES, each_rule};
use super::rules::{Rule, Rules, built_in_rule};

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
    search_built_in(&blanked, steps, |hit| found.push(secret(hit)));
    if let Some(plain) = plain {
        search_built_in(&plain.text, steps, |hit| {
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
    *steps += text.len();
    for rule in rules.suspected(text) {
        search_for(rule, text, steps, &mut each);
    }
}

/// Runs every built-in rule whose keyword occurs. Finds what [`search`] finds with all of them, but reads only the rules
/// that are run.
fn search_built_in(text: &[u8], steps: &mut usize, mut each: impl FnMut(Hit<'static>)) {
    *steps += text.len();
    let mut wanted = [false; RULES];
    let mut any = false;
    each_rule(text, |rule| {
        wanted[rule] = true;
        any = true;
    });
    if !any {
        return;
    }
    for (number, _) in wanted.iter().enumerate().filter(|(_, w)| **w) {
        if let Some(rule) = built_in_rule(number) {
            search_for(rule, text, steps, &mut each);
        }
    }
}

/// Runs one rule.
fn search_for<'r>(rule: &'r Rule, text: &[u8], steps: &mut usize, each: &mut impl FnMut(Hit<'r>)) {
    let Some(regex) = rule.regex.regex() else {
        return;
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

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::super::rules::rules;
    use super::*;

    fn described(hit: &Hit<'_>) -> (Range<usize>, Range<usize>, String) {
        (hit.masked.clone(), hit.token.clone(), hit.rule.id.clone())
    }

    proptest! {
        #![proptest_config(ProptestConfig { cases: 200, failure_persistence: None, ..ProptestConfig::default() })]

        #[test]
        fn search_without_the_table_finds_the_same(
            words in prop::collection::vec(("[ -~é]{0,6}", 0..RULES, "[A-Za-z0-9]{0,30}"), 0..6)
        ) {
            let mut text = String::new();
            for (before, rule, after) in words {
                text.push_str(&before);
                text.push_str(&rules().all[rule].keywords[0]);
                text.push_str(&after);
            }
            let (mut all, mut few) = (Vec::new(), Vec::new());
            search(rules(), text.as_bytes(), &mut 0, |hit| all.push(described(&hit)));
            search_built_in(text.as_bytes(), &mut 0, |hit| few.push(described(&hit)));
            prop_assert_eq!(few, all);
        }
    }
}
