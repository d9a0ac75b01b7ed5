//! The table of rules: the built-in one, read from `rules.toml` when it is first needed, and those of users.

use std::fmt;
use std::sync::{LazyLock, OnceLock};

use aho_corasick::{AhoCorasick, AhoCorasickKind, StartKind};
use regex::bytes::{Regex, RegexBuilder};
use serde::Deserialize;

use super::ansi::ESC;
use super::around::{Around, Then};
use super::keywords::{RULES as COUNT, rule_text};
use super::sieve::Sieve;

/// A pattern that is compiled when a text first contains one of its rule's keywords.
pub(super) struct Pattern {
    source: String,
    compiled: OnceLock<Option<Regex>>,
}

impl fmt::Debug for Pattern {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.source.fmt(f)
    }
}

impl Pattern {
    /// Returns how the pattern is written.
    #[cfg(test)]
    pub(super) fn source(&self) -> &str {
        &self.source
    }

    /// Returns the compiled pattern. The tests compile all built-in ones, and users' are compiled when they are read,
    /// so none is ever missing.
    pub(super) fn regex(&self) -> Option<&Regex> {
        self.compiled
            .get_or_init(|| compile(&self.source).ok())
            .as_ref()
    }
}

/// Compiles a pattern over bytes.
pub(super) fn compile(source: &str) -> Result<Regex, regex::Error> {
    RegexBuilder::new(source)
        .unicode(false)
        .size_limit(8 << 20)
        .dfa_size_limit(8 << 20)
        .build()
}

impl From<String> for Pattern {
    fn from(source: String) -> Self {
        Self {
            source,
            compiled: OnceLock::new(),
        }
    }
}

impl<'de> Deserialize<'de> for Pattern {
    fn deserialize<D: serde::Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        String::deserialize(deserializer).map(Self::from)
    }
}

/// How sure it is that what a rule matches is a secret.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "lowercase")]
pub(super) enum Certainty {
    /// The value has the form of a provider's keys.
    #[default]
    Shape,
    /// The surroundings name it a secret; it must look random as well.
    Context,
    /// It may be one.
    Guess,
}

/// One kind of secret.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Rule {
    pub(super) id: String,
    pub(super) description: String,
    pub(super) regex: Pattern,
    /// A text is searched only if it contains one of them; without keywords, always.
    pub(super) keywords: Vec<String>,
    /// Whether every match has a keyword where a word begins.
    #[serde(default)]
    pub(super) at_word: bool,
    /// What follows a keyword in every match: a class of bytes.
    #[serde(default)]
    pub(super) then: Option<String>,
    #[serde(default)]
    pub(super) entropy: f64,
    #[serde(default)]
    pub(super) allowlist: Vec<Pattern>,
    #[serde(default)]
    pub(super) certainty: Certainty,
    /// The group that is the secret; the first one that takes part in the match if `None`.
    #[serde(skip)]
    pub(super) group: Option<usize>,
}

impl Rule {
    /// Returns whether a value that the pattern matched is a secret.
    pub(super) fn accepts(&self, value: &[u8]) -> bool {
        let is_allowed = |p: &Pattern| p.regex().is_some_and(|r| r.is_match(value));
        !value.is_empty()
            && (self.entropy <= 0.0 || entropy(value) >= self.entropy)
            && !self.allowlist.iter().any(is_allowed)
    }

    /// Returns what stands around a keyword in every match.
    fn around(&self) -> Around {
        Around {
            at_word: self.at_word,
            then: self.then.as_deref().and_then(Then::parse),
        }
    }

    /// Returns whether a value that the rule accepted is a secret beyond doubt.
    pub(super) fn is_sure_of(&self, value: &[u8]) -> bool {
        match self.certainty {
            Certainty::Shape => true,
            Certainty::Context => looks_random(value),
            Certainty::Guess => false,
        }
    }
}

/// All rules, and a sieve for their keywords.
#[derive(Debug)]
pub(super) struct Rules {
    pub(super) all: Vec<Rule>,
    /// Finds out which rules have a keyword in a text.
    sieve: Sieve,
    /// Rules without keywords.
    always: Vec<usize>,
}

impl Rules {
    pub(super) fn new(all: Vec<Rule>) -> Self {
        let mut sieve = Sieve::default();
        let mut always = Vec::new();
        for (number, rule) in all.iter().enumerate() {
            if rule.keywords.is_empty() {
                always.push(number);
            }
            let around = rule.around();
            for word in &rule.keywords {
                sieve.add(word.as_bytes(), &around, number);
            }
        }
        for escape in ESCAPES {
            sieve.add(escape.as_bytes(), &Around::default(), NO_RULE);
        }
        Self { all, sieve, always }
    }

    /// Returns whether a text may contain what a rule looks for. It may be JSON: an escape may hide a keyword, and so may
    /// a terminal code.
    pub(super) fn may_match(&self, text: &[u8]) -> bool {
        let is_hidden = || memchr::memchr(ESC, text).is_some();
        !self.all.is_empty()
            && (!self.always.is_empty() || is_hidden() || self.sieve.is_match(text))
    }

    /// Returns the rules that may match in a text as it is.
    pub(super) fn suspected(&self, text: &[u8]) -> impl Iterator<Item = &Rule> {
        let mut suspected = vec![false; self.all.len()];
        for &always in &self.always {
            suspected[always] = true;
        }
        self.sieve.each_owner(text, |rule| {
            if let Some(suspected) = suspected.get_mut(rule) {
                *suspected = true;
            }
        });
        let all = self.all.iter().zip(suspected);
        all.filter_map(|(rule, suspected)| suspected.then_some(rule))
    }
}

/// What begins a character or a terminal code that is spelt in another way than usual.
const ESCAPES: [&str; 5] = [r"\u", r"\/", r"\x1b[", r"\033[", r"\e["];

/// The owner of keywords that are no rule's.
const NO_RULE: usize = usize::MAX;

/// Returns an automaton that finds any of some words. A table of all states needs more memory than what the crate chooses
/// for so many words, but looks at each byte once.
pub(super) fn automaton<W: AsRef<[u8]>>(words: &[W], any_case: bool) -> Option<AhoCorasick> {
    let kind = (words.len() <= 2000).then_some(AhoCorasickKind::DFA);
    AhoCorasick::builder()
        .ascii_case_insensitive(any_case)
        .start_kind(StartKind::Unanchored)
        .kind(kind)
        .build(words)
        .ok()
}

#[derive(Deserialize)]
struct File {
    rules: Vec<Rule>,
}

static RULES: LazyLock<Rules> = LazyLock::new(|| Rules::new(built_in()));

/// Reads the built-in rules.
pub(super) fn built_in() -> Vec<Rule> {
    let file: Option<File> = toml::from_str(include_str!("rules.toml")).ok();
    file.map(|f| f.rules).unwrap_or_default()
}

/// The built-in rules that were needed so far, each read by itself.
static READ: [OnceLock<Option<Rule>>; COUNT] = [const { OnceLock::new() }; COUNT];

/// Returns one built-in rule by its number. The tests read all of them, so none is ever missing.
pub(super) fn built_in_rule(number: usize) -> Option<&'static Rule> {
    let read = || {
        let file: File = toml::from_str(rule_text(number)).ok()?;
        file.rules.into_iter().next()
    };
    READ.get(number)?.get_or_init(read).as_ref()
}

/// Returns the built-in table.
pub(super) fn rules() -> &'static Rules {
    &RULES
}

/// Returns the Shannon entropy of some bytes, in bits per byte.
pub(super) fn entropy(bytes: &[u8]) -> f64 {
    let mut counts = [0_u32; 256];
    for &b in bytes {
        counts[b as usize] += 1;
    }
    let len = bytes.len() as f64;
    let bits = |&n: &u32| {
        let share = f64::from(n) / len;
        -share * share.log2()
    };
    counts.iter().filter(|&&n| n > 0).map(bits).sum()
}

/// Returns whether a value looks like a password or a key rather than a word, a name or a placeholder.
pub(super) fn looks_random(value: &[u8]) -> bool {
    let has = |kind: fn(&u8) -> bool| value.iter().any(kind);
    let letters = has(u8::is_ascii_alphabetic);
    value.len() >= 8 && letters && has(u8::is_ascii_digit) && entropy(value) >= 2.75
}
