//! What is searched for.

use memchr::memmem::Finder;
use regex::{Regex, RegexBuilder, bytes};
use regex_syntax::hir::HirKind;

use super::raw_pattern::RawPattern;

/// How a pattern is read.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct PatternOptions {
    /// Upper and lower case are the same.
    pub ignore_case: bool,
    /// The pattern is plain text, not a regular expression.
    pub fixed: bool,
    /// Only whole words match.
    pub word: bool,
}

/// Why a pattern cannot be used.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum PatternError {
    /// It is not a regular expression.
    #[error("the pattern is not a valid regular expression: {reason}")]
    Invalid {
        /// What is wrong with it, with the place in the pattern.
        reason: String,
    },
    /// It needs more than one line of text to match.
    #[error("the pattern contains a line break, and each line of a text is searched by itself")]
    LineBreak,
    /// It takes too much memory.
    #[error("the pattern is too large")]
    TooLarge,
}

/// A pattern, ready to be searched for.
#[derive(Debug, Clone)]
pub struct Pattern {
    /// Matches a line of decoded text.
    pub(super) text: Regex,
    /// Matches at least where `text` would match, in JSON.
    pub(super) raw: bytes::Regex,
    /// The pattern as plain text, if it is nothing else.
    pub(super) literal: Option<Finder<'static>>,
    /// Whether a text that is written with `\/` may match.
    pub(super) has_slash: bool,
    /// Whether a text with bytes that are not UTF-8 may match on account of them.
    pub(super) has_replacement: bool,
}

impl Pattern {
    /// Reads a pattern.
    pub fn new(pattern: &str, options: PatternOptions) -> Result<Self, PatternError> {
        let mut source = if options.fixed {
            regex::escape(pattern)
        } else {
            // Read by itself first, so that errors show what was typed.
            RegexBuilder::new(pattern).build().map_err(explain)?;
            pattern.to_owned()
        };
        if options.word {
            source = format!(r"\b{{start-half}}(?:{source})\b{{end-half}}");
        }
        let text = RegexBuilder::new(&source)
            .case_insensitive(options.ignore_case)
            .build()
            .map_err(explain)?;
        let hir = regex_syntax::ParserBuilder::new()
            .case_insensitive(options.ignore_case)
            .build()
            .parse(&source)
            .map_err(|error| PatternError::Invalid {
                reason: error.to_string(),
            })?;
        let raw = RawPattern::of(&hir);
        if raw.has_line_break {
            return Err(PatternError::LineBreak);
        }
        // A line may end with a carriage return, which is not a part of it.
        let literal = match hir.kind() {
            HirKind::Literal(literal) if !literal.0.contains(&b'\r') => {
                Some(Finder::new(&literal.0).into_owned())
            }
            _ => None,
        };
        Ok(Self {
            literal,
            text,
            raw: bytes::Regex::new(&raw.hir.to_string()).map_err(explain)?,
            has_slash: raw.has_slash,
            has_replacement: raw.has_replacement,
        })
    }

    /// Whether a line of a transcript may hold a match, by its bytes.
    pub fn may_match(&self, line: &[u8]) -> bool {
        self.raw.is_match(line)
    }

    /// Returns the matches in one line of text.
    pub fn matches_in(&self, line: &str) -> Vec<std::ops::Range<usize>> {
        self.text.find_iter(line).map(|m| m.range()).collect()
    }
}

fn explain(error: regex::Error) -> PatternError {
    match error {
        regex::Error::CompiledTooBig(_) => PatternError::TooLarge,
        error => PatternError::Invalid {
            reason: error.to_string(),
        },
    }
}
