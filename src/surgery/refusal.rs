//! Refusals: operations that are declined on purpose, with the remedies as data.

use std::fmt;

use crate::session::TurnError;

/// An operation that is declined, and what can be done instead.
///
/// The texts name no flags of the command line: each interface words the remedies itself.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{message}")]
pub struct Refusal {
    /// What kind of refusal it is, for scripts.
    pub kind: RefusalKind,
    /// What is declined, and why.
    pub message: String,
    /// What to do instead, best first.
    pub remedies: Vec<Remedy>,
    /// Whether it is the request or its effect that is declined.
    pub why: Why,
}

/// What kind of refusal it is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum RefusalKind {
    /// The session was already compacted at the place that was asked for.
    AlreadyCompacted,
    /// A pattern for tool names is not valid.
    BadGlob,
    /// The options contradict each other or are incomplete.
    BadOptions,
    /// The summary has no text.
    EmptySummary,
    /// The session has no call with this id.
    NoSuchCall,
    /// The session has no such turn.
    NoSuchTurn,
    /// The context window cannot be made as small as was asked for.
    OverBudget,
    /// A turn has calls without results.
    UnfinishedTurn,
    /// Any other kind.
    Other(&'static str),
}

impl RefusalKind {
    /// Returns the word for scripts.
    pub fn as_str(self) -> &'static str {
        match self {
            RefusalKind::AlreadyCompacted => "already-compacted",
            RefusalKind::BadGlob => "bad-glob",
            RefusalKind::BadOptions => "bad-options",
            RefusalKind::EmptySummary => "empty-summary",
            RefusalKind::NoSuchCall => "no-such-call",
            RefusalKind::NoSuchTurn => "no-such-turn",
            RefusalKind::OverBudget => "over-budget",
            RefusalKind::UnfinishedTurn => "unfinished-turn",
            RefusalKind::Other(word) => word,
        }
    }
}

impl fmt::Display for RefusalKind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

impl PartialEq<&str> for RefusalKind {
    fn eq(&self, other: &&str) -> bool {
        self.as_str() == *other
    }
}

impl From<&'static str> for RefusalKind {
    fn from(word: &'static str) -> Self {
        RefusalKind::Other(word)
    }
}

/// Something that a person can do instead.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub enum Remedy {
    /// Keep this many last turns as they are.
    KeepLast(u32),
    /// Choose this turn.
    At(u32),
    /// Let the summary have this many tokens.
    MaxTokens(usize),
    /// Allow the context window this many tokens.
    Budget(u64),
    /// Protect only this many of the newest tokens, which makes this window possible.
    ProtectTokens {
        /// The tokens to protect.
        tokens: u64,
        /// The smallest context window then.
        window: u64,
    },
    /// Protect only this many of the last turns, which makes this window possible.
    ProtectTurns {
        /// The turns to protect.
        turns: u32,
        /// The smallest context window then.
        window: u64,
    },
    /// Let a digest shorten the words of the person, which makes this window possible.
    ShortenWords {
        /// The smallest context window then.
        window: u64,
    },
    /// Look up the ids of calls.
    ListCalls,
    /// Choose the calls without results too, by their ids.
    NameOpenCalls,
    /// Anything else, in words.
    Advice(String),
}

/// Why something is not done.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Why {
    /// It would do harm.
    Declined,
    /// The request makes no sense.
    Usage,
    /// Something that it needs failed.
    Failed,
}

impl Refusal {
    /// Declines an operation, with advice in words; empty advice is left out.
    pub fn new(
        kind: impl Into<RefusalKind>,
        message: impl Into<String>,
        advice: impl Into<String>,
    ) -> Self {
        let advice: String = advice.into();
        let remedies = (!advice.is_empty()).then_some(Remedy::Advice(advice));
        Self::with(kind, message, remedies)
    }

    /// Declines an operation, with these remedies.
    pub fn with(
        kind: impl Into<RefusalKind>,
        message: impl Into<String>,
        remedies: impl IntoIterator<Item = Remedy>,
    ) -> Self {
        Self {
            kind: kind.into(),
            message: message.into(),
            remedies: remedies.into_iter().collect(),
            why: Why::Declined,
        }
    }

    /// Declines a request that makes no sense, with advice in words.
    pub fn usage(
        kind: impl Into<RefusalKind>,
        message: impl Into<String>,
        advice: impl Into<String>,
    ) -> Self {
        Self::new(kind, message, advice).as_usage()
    }

    /// Makes it a refusal of the request itself.
    #[must_use]
    pub fn as_usage(self) -> Self {
        Self {
            why: Why::Usage,
            ..self
        }
    }

    /// Returns the advice that is given in words.
    pub fn advice(&self) -> String {
        let words = self.remedies.iter().filter_map(|r| match r {
            Remedy::Advice(words) => Some(words.as_str()),
            _ => None,
        });
        words.collect::<Vec<_>>().join("; ")
    }
}

impl From<TurnError> for Refusal {
    fn from(error: TurnError) -> Self {
        Self::usage(RefusalKind::NoSuchTurn, error.message, error.hint)
    }
}
