//! Rules of users, in the form of gitleaks' configuration files.

use serde::Deserialize;

use super::rules::{Certainty, Pattern, Rule, compile};
use super::scan::UserRules;

/// Why rules cannot be used.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum RulesError {
    /// The file is not such a file.
    #[error("{0}")]
    Form(#[from] toml::de::Error),
    /// A pattern cannot be compiled.
    #[error("the pattern of `{rule}` cannot be used: {source}")]
    Pattern {
        /// The rule.
        rule: String,
        /// Why.
        source: regex::Error,
    },
}

#[derive(Deserialize)]
struct File {
    #[serde(default)]
    rules: Vec<FileRule>,
    #[serde(default)]
    allowlist: Option<Allowlist>,
    #[serde(default)]
    allowlists: Vec<Allowlist>,
}

/// A rule as gitleaks writes it. Fields that are about paths and commits do not matter here.
#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct FileRule {
    id: String,
    #[serde(default)]
    description: String,
    #[serde(default)]
    regex: Option<String>,
    #[serde(default)]
    keywords: Vec<String>,
    #[serde(default)]
    entropy: f64,
    #[serde(default)]
    secret_group: usize,
    #[serde(default)]
    certainty: Certainty,
    #[serde(default)]
    allowlist: Option<OneOrMany>,
    #[serde(default)]
    allowlists: Vec<Allowlist>,
}

#[derive(Deserialize)]
#[serde(untagged)]
enum OneOrMany {
    One(Allowlist),
    Patterns(Vec<String>),
}

#[derive(Deserialize)]
struct Allowlist {
    #[serde(default)]
    regexes: Vec<String>,
    #[serde(default)]
    stopwords: Vec<String>,
}

impl Allowlist {
    fn patterns(self) -> impl Iterator<Item = String> {
        let words = self.stopwords.into_iter();
        let words = words.map(|word| format!("(?i){}", regex::escape(&word)));
        self.regexes.into_iter().chain(words)
    }
}

impl UserRules {
    /// Reads rules in the form of gitleaks' configuration files.
    pub fn parse(text: &str) -> Result<Self, RulesError> {
        let file: File = toml::from_str(text)?;
        let common = file.allowlist.into_iter().chain(file.allowlists);
        let common: Vec<String> = common.flat_map(Allowlist::patterns).collect();
        let mut all = Vec::new();
        for rule in file.rules {
            let Some(regex) = rule.regex else { continue };
            let mut allowed = common.clone();
            match rule.allowlist {
                Some(OneOrMany::One(list)) => allowed.extend(list.patterns()),
                Some(OneOrMany::Patterns(patterns)) => allowed.extend(patterns),
                None => {}
            }
            allowed.extend(rule.allowlists.into_iter().flat_map(Allowlist::patterns));
            for pattern in allowed.iter().chain([&regex]) {
                compile(pattern).map_err(|source| RulesError::Pattern {
                    rule: rule.id.clone(),
                    source,
                })?;
            }
            all.push(Rule {
                id: rule.id,
                description: rule.description,
                regex: Pattern::from(regex),
                keywords: rule.keywords,
                at_word: false,
                then: None,
                entropy: rule.entropy,
                allowlist: allowed.into_iter().map(Pattern::from).collect(),
                certainty: rule.certainty,
                group: (rule.secret_group > 0).then_some(rule.secret_group),
            });
        }
        Ok(Self(all))
    }

    /// Adds a pattern of its own; its first group is the secret, or all of it.
    pub fn add_pattern(&mut self, regex: &str) -> Result<(), RulesError> {
        compile(regex).map_err(|source| RulesError::Pattern {
            rule: regex.to_owned(),
            source,
        })?;
        self.0.push(Rule {
            id: "pattern".to_owned(),
            description: "Pattern given by the user".to_owned(),
            regex: Pattern::from(regex.to_owned()),
            keywords: Vec::new(),
            at_word: false,
            then: None,
            entropy: 0.0,
            allowlist: Vec::new(),
            certainty: Certainty::Shape,
            group: None,
        });
        Ok(())
    }

    /// Adds the rules of another file.
    pub fn extend(&mut self, other: Self) {
        self.0.extend(other.0);
    }
}

/// What a dotenv file names.
#[derive(Debug, Default, PartialEq, Eq)]
pub struct DotenvValues {
    /// Values that can be secrets.
    pub values: Vec<String>,
    /// The names of the others: numbers, words, paths, addresses without a password, and what is short.
    pub left_out: Vec<String>,
}

/// Reads a dotenv file. A value counts as a secret if its name says so or if it looks random.
pub fn dotenv_values(text: &str) -> DotenvValues {
    let mut out = DotenvValues::default();
    for line in text.lines() {
        let line = line.trim();
        let line = line.strip_prefix("export ").unwrap_or(line);
        let Some((name, value)) = line.split_once('=').filter(|_| !line.starts_with('#')) else {
            continue;
        };
        let value = value.trim();
        let quoted = ['"', '\''].iter().find_map(|quote| {
            let rest = value.strip_prefix(*quote)?;
            Some(rest.split(*quote).next().unwrap_or(rest))
        });
        let plain = || value.split(" #").next().unwrap_or(value).trim_end();
        let value = quoted.unwrap_or_else(plain);
        let name = name.trim();
        if value.len() >= LEAST_NAMED && is_secret_name(name) || is_secret_value(value) {
            out.values.push(value.replace("\\n", "\n"));
        } else if !value.is_empty() {
            out.left_out.push(name.to_owned());
        }
    }
    out
}

/// The shortest value that is taken for a secret because of its name: words like `test` and `admin` occur everywhere.
const LEAST_NAMED: usize = 6;

fn is_secret_name(name: &str) -> bool {
    let name = name.to_ascii_uppercase();
    let words = [
        "KEY",
        "SECRET",
        "TOKEN",
        "PASS",
        "PWD",
        "CREDENTIAL",
        "AUTH",
        "DSN",
        "SALT",
    ];
    words.iter().any(|word| name.contains(word))
}

fn is_secret_value(value: &str) -> bool {
    let is_address = value.contains("://") && !value.contains('@');
    !is_address
        && !value.starts_with(['/', '.', '~'])
        && value.len() >= 12
        && super::rules::looks_random(value.as_bytes())
}
