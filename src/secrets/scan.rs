//! Searches text and JSON for secrets that are to be redacted: by rules, and by values that are known.

use std::ops::Range;

use super::ansi::readings;
use super::base64_text::base64_texts;
use super::find::search;
use super::finding::{Finding, Source, merged, normal, shift};
use super::json_strings::{JsonString, Protection, json_strings};
use super::known::Known;
use super::placeholder::{between_placeholders, kind_name};
use super::reading::{Reading, unescaped};
use super::rules::{Certainty, Rule, Rules, built_in, rules};
use super::vault::{KnownSecret, Vault};

/// How many times escapes are resolved: JSON in a string of JSON has two levels, and so on.
const LEVELS: usize = 3;

/// How often the rest of a text is searched again after something was found in it.
const ROUNDS: usize = 4;

/// Finds secrets.
#[derive(Debug, Default)]
pub struct Scanner {
    /// The built-in rules with those of the user; `None` if the user has none.
    own: Option<Rules>,
    given: Vec<KnownSecret>,
    known: Option<Known>,
    base64: bool,
}

impl Scanner {
    /// Finds what the built-in rules find.
    pub fn new() -> Self {
        Self::default()
    }

    /// Also finds what rules of the user find.
    #[must_use]
    pub fn with_rules(mut self, rules: UserRules) -> Self {
        if !rules.0.is_empty() {
            let mut all = built_in();
            all.extend(rules.0);
            self.own = Some(Rules::new(all));
        }
        self
    }

    /// Also finds values that the user gives; `kind` says where they are from.
    #[must_use]
    pub fn with_values(mut self, kind: &str, values: impl IntoIterator<Item = String>) -> Self {
        for value in values.into_iter().filter(|v| !v.trim().is_empty()) {
            self.given.push(KnownSecret {
                kind: kind_name(kind),
                number: 0,
                source: Source::Given,
                prefix: 0,
                value: value.into_bytes(),
            });
        }
        self.known = Known::of(&self.given);
        self
    }

    /// Also looks into text that is encoded in base64.
    #[must_use]
    pub fn with_base64(mut self, base64: bool) -> Self {
        self.base64 = base64;
        self
    }

    /// Finds only what was found before, wherever it occurs.
    pub fn of_known(vault: &Vault) -> Self {
        let mut scanner = Self {
            own: Some(Rules::new(Vec::new())),
            ..Self::default()
        };
        scanner.learn(vault);
        scanner
    }

    /// Also finds what was found before, wherever it occurs and if only its beginning does.
    pub fn learn(&mut self, vault: &Vault) {
        let all: Vec<KnownSecret> = self.given.iter().chain(vault.secrets()).cloned().collect();
        self.known = Known::of(&all);
    }

    /// Takes a suggestion that a person confirmed for a secret.
    pub fn accept(&mut self, suggestion: &Finding) {
        self.given.push(KnownSecret {
            kind: suggestion.kind.clone(),
            number: 0,
            source: Source::Given,
            prefix: suggestion.prefix,
            value: suggestion.value.clone(),
        });
        self.known = Known::of(&self.given);
    }

    /// Returns what a kind is, in words.
    pub fn description(&self, kind: &str) -> &str {
        let own = || self.rules().all.iter().find(|r| kind_name(&r.id) == kind);
        match kind {
            "literal" => "Text that you gave",
            "pattern" => "Match of a pattern that you gave",
            "env-file" => "Value of an environment file",
            _ => own().map_or("Secret", |rule| rule.description.as_str()),
        }
    }

    fn rules(&self) -> &Rules {
        self.own.as_ref().unwrap_or_else(|| rules())
    }

    /// Returns whether a text may have a secret, at the speed of the disk: raw JSON is fine.
    pub fn may_hold(&self, raw: &[u8]) -> bool {
        self.base64
            || self.rules().may_match(raw)
            || self.known.as_ref().is_some_and(|k| k.may_match(raw))
    }

    /// Returns whether the bytes contain a known value as it is, whole or its telling beginning.
    pub fn holds_known(&self, raw: &[u8]) -> bool {
        let mut any = false;
        if let Some(known) = &self.known {
            known.search(raw, |_| any = true);
        }
        any
    }

    /// Returns the secrets in a text, in order and without overlaps.
    pub fn scan(&self, text: &[u8]) -> Vec<Finding> {
        let mut found = Vec::new();
        let mut pieces = between_placeholders(text);
        for _ in 0..ROUNDS {
            let mut rest = Vec::new();
            for piece in std::mem::take(&mut pieces) {
                let mut here = self.scan_piece(&text[piece.clone()]);
                if here.iter().all(Finding::is_suggestion) {
                    found.extend(here.into_iter().map(|f| f.shift(piece.start)));
                    continue;
                }
                here.retain(|f| !f.is_suggestion());
                let mut from = piece.start;
                for finding in here {
                    let finding = finding.shift(piece.start);
                    rest.push(from..finding.range.start);
                    from = finding.range.end;
                    found.push(finding);
                }
                rest.push(from..piece.end);
            }
            rest.retain(|range| !range.is_empty());
            pieces = rest;
            if pieces.is_empty() {
                break;
            }
        }
        found.sort_by_key(|f| f.range.start);
        found
    }

    fn scan_piece(&self, text: &[u8]) -> Vec<Finding> {
        let mut found = Vec::new();
        let (blanked, plain) = readings(text);
        self.search(&blanked, &mut found);
        if let Some(plain) = plain {
            self.search_reading(&plain, &mut found, &|range| range);
        }
        self.search_levels(text, LEVELS, &mut found, &|range| range);
        merged(found)
    }

    /// Searches a text with its escapes resolved, several times over. `place` tells where a range of it is in the whole.
    fn search_levels(
        &self,
        text: &[u8],
        levels: usize,
        found: &mut Vec<Finding>,
        place: &dyn Fn(Range<usize>) -> Range<usize>,
    ) {
        let Some(reading) = unescaped(text).filter(|_| levels > 0) else {
            return;
        };
        let within = |range: Range<usize>| place(reading.origin(&range));
        self.search_reading(&reading, found, place);
        if let (_, Some(plain)) = readings(&reading.text) {
            self.search_reading(&plain, found, &within);
        }
        self.search_levels(&reading.text, levels - 1, found, &within);
    }

    fn search_reading(
        &self,
        reading: &Reading,
        found: &mut Vec<Finding>,
        place: &dyn Fn(Range<usize>) -> Range<usize>,
    ) {
        let mut here = Vec::new();
        self.search(&reading.text, &mut here);
        found.extend(here.into_iter().map(|f| Finding {
            range: place(reading.origin(&f.range)),
            ..f
        }));
    }

    /// Runs the rules, and looks for known values.
    fn search(&self, text: &[u8], found: &mut Vec<Finding>) {
        search(self.rules(), text, &mut 0, |hit| {
            found.push(Finding {
                source: source_of(hit.rule, &text[hit.masked.clone()]),
                kind: kind_name(&hit.rule.id),
                is_cut: false,
                is_number: false,
                prefix: hit.masked.start - hit.token.start,
                value: normal(&text[hit.token.clone()]),
                range: hit.token,
            });
        });
        if let Some(known) = &self.known {
            known.search(text, |hit| {
                found.push(Finding {
                    range: hit.range,
                    kind: hit.secret.kind.clone(),
                    source: hit.secret.source.min(Source::Context),
                    is_cut: hit.is_cut,
                    is_number: false,
                    prefix: hit.secret.prefix,
                    value: hit.secret.value.clone(),
                });
            });
        }
        if self.base64 {
            for (range, words) in base64_texts(text) {
                let inner = self.scan_piece(&words);
                if let Some(first) = inner.into_iter().find(|f| !f.is_suggestion()) {
                    found.push(Finding { range, ..first });
                }
            }
        }
    }

    /// Returns the secrets in the strings and keys of JSON text, as ranges of the raw text, in order.
    ///
    /// Ids, signatures and binary data are left alone.
    pub fn scan_json(&self, raw: &[u8]) -> Vec<Finding> {
        let mut found = Vec::new();
        let mut after = 0;
        for string in json_strings(raw) {
            self.scan_numbers(raw, after..string.span.start, &mut found);
            after = string.span.end;
            let protection = string.protection(raw);
            if protection == Protection::Whole {
                continue;
            }
            let before = found.len();
            let inner = string.inner(raw);
            let start = string.span.start + 1;
            if let Some(finding) = self.named_by_key(raw, &string) {
                found.push(finding);
            } else if self.may_hold(inner) {
                match unescaped(inner) {
                    None => found.extend(self.scan(inner).into_iter().map(|f| f.shift(start))),
                    Some(reading) => {
                        found.extend(self.scan(&reading.text).into_iter().map(|f| Finding {
                            range: shift(&reading.origin(&f.range), start),
                            ..f
                        }));
                    }
                }
            }
            if protection == Protection::Shape {
                let mut at = 0..;
                found.retain(|f| at.next() < Some(before) || f.source == Source::Shape);
            }
        }
        self.scan_numbers(raw, after..raw.len(), &mut found);
        found
    }

    /// Adds the numbers of JSON that are values the user gave. `range` has no string in it.
    fn scan_numbers(&self, raw: &[u8], range: Range<usize>, found: &mut Vec<Finding>) {
        let Some(known) = &self.known else { return };
        if !known.has_numbers() {
            return;
        }
        let is_part = |b: &u8| b.is_ascii_digit() || matches!(b, b'-' | b'+' | b'.' | b'e' | b'E');
        let mut start = range.start;
        for word in raw[range].split(|b| !is_part(b)) {
            if let Some(secret) = known.number(word) {
                found.push(Finding {
                    range: start..start + word.len(),
                    kind: secret.kind.clone(),
                    source: secret.source,
                    is_cut: false,
                    is_number: true,
                    prefix: secret.prefix,
                    value: secret.value.clone(),
                });
            }
            start += word.len() + 1;
        }
    }

    /// Returns a string that only its key tells to be a secret, as in `"password": "…"`.
    fn named_by_key(&self, raw: &[u8], string: &JsonString) -> Option<Finding> {
        let key = &raw[string.key.clone()?];
        let inner = string.inner(raw);
        let rules = self.rules();
        if key.len() > 100 || !(6..400).contains(&inner.len()) || !rules.may_match(key) {
            return None;
        }
        let value = unescaped(inner).map_or_else(|| inner.to_vec(), |r| r.text);
        let pieces = between_placeholders(&value);
        if pieces.first().is_none_or(|first| first.len() < value.len()) {
            return None;
        }
        let head = [key, b": \""].concat();
        let pair = [&head, &value[..], b"\""].concat();
        let whole = head.len()..head.len() + value.len();
        let mut best: Option<Source> = None;
        let mut kind = String::new();
        search(rules, &pair, &mut 0, |hit| {
            let source = source_of(hit.rule, &value);
            if hit.masked.start <= whole.start
                && hit.masked.end >= whole.end
                && best.is_none_or(|b| source < b)
            {
                best = Some(source);
                kind = kind_name(&hit.rule.id);
            }
        });
        Some(Finding {
            range: string.span.start + 1..string.span.end - 1,
            kind,
            source: best?,
            is_cut: false,
            is_number: false,
            prefix: 0,
            value: normal(&value),
        })
    }
}

/// Rules of the user's own.
#[derive(Debug, Default)]
pub struct UserRules(pub(super) Vec<Rule>);

fn source_of(rule: &Rule, value: &[u8]) -> Source {
    match rule.certainty {
        _ if !rule.is_sure_of(value) => Source::Guess,
        Certainty::Shape => Source::Shape,
        _ => Source::Context,
    }
}
