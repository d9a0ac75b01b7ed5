//! The table of rules, read from `rules.toml` when it is first needed.

use std::sync::{LazyLock, OnceLock};

use aho_corasick::AhoCorasick;
use regex::bytes::{Regex, RegexBuilder};
use serde::Deserialize;

/// A pattern that is compiled when a text first contains one of its rule's keywords.
#[derive(Debug)]
pub(super) struct Pattern {
    source: String,
    compiled: OnceLock<Option<Regex>>,
}

impl Pattern {
    /// Returns the compiled pattern. The tests compile all of them, so none is ever missing.
    pub(super) fn regex(&self) -> Option<&Regex> {
        let compile = || {
            RegexBuilder::new(&self.source)
                .unicode(false)
                .size_limit(8 << 20)
                .dfa_size_limit(8 << 20)
                .build()
                .ok()
        };
        self.compiled.get_or_init(compile).as_ref()
    }
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

/// One kind of secret.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Rule {
    pub(super) id: String,
    #[allow(dead_code, reason = "for readers of the table")]
    pub(super) description: String,
    pub(super) regex: Pattern,
    pub(super) keywords: Vec<String>,
    #[serde(default)]
    pub(super) entropy: f64,
    #[serde(default)]
    pub(super) allowlist: Vec<Pattern>,
}

impl Rule {
    /// Returns whether a value that the pattern matched is a secret.
    pub(super) fn accepts(&self, value: &[u8]) -> bool {
        let is_allowed = |p: &Pattern| p.regex().is_some_and(|r| r.is_match(value));
        !value.is_empty()
            && (self.entropy <= 0.0 || entropy(value) >= self.entropy)
            && !self.allowlist.iter().any(is_allowed)
    }
}

/// All rules, and one automaton for their keywords.
#[derive(Debug)]
pub(super) struct Rules {
    pub(super) all: Vec<Rule>,
    /// Which rules each pattern of `keywords` belongs to.
    pub(super) owners: Vec<Vec<usize>>,
    pub(super) keywords: Option<AhoCorasick>,
}

#[derive(Deserialize)]
struct File {
    rules: Vec<Rule>,
}

static RULES: LazyLock<Rules> = LazyLock::new(|| {
    let file: Option<File> = toml::from_str(include_str!("rules.toml")).ok();
    let all = file.map(|f| f.rules).unwrap_or_default();
    let mut words: Vec<&str> = Vec::new();
    let mut owners: Vec<Vec<usize>> = Vec::new();
    for (i, rule) in all.iter().enumerate() {
        for word in &rule.keywords {
            match words.iter().position(|w| w == word) {
                Some(known) => owners[known].push(i),
                None => {
                    words.push(word);
                    owners.push(vec![i]);
                }
            }
        }
    }
    let keywords = AhoCorasick::builder()
        .ascii_case_insensitive(true)
        .build(&words)
        .ok();
    Rules {
        all,
        owners,
        keywords,
    }
});

/// Returns the table.
pub(super) fn rules() -> &'static Rules {
    &RULES
}

/// Returns the Shannon entropy of some bytes, in bits per byte.
fn entropy(bytes: &[u8]) -> f64 {
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
