//! Words for what a change is done to.

use std::fmt;
use std::ops::Deref;
use std::sync::Arc;

use serde::{Serialize, Serializer};

/// What a change is done to: `thinking`, `Bash result`, `parent`, …
///
/// Thousands of changes say the same, so they share its words.
#[derive(Debug, Clone, Eq)]
pub enum ChangeKind {
    /// Words of the program's own.
    Known(&'static str),
    /// Words that a session has a part in.
    Named(Arc<str>),
}

impl Deref for ChangeKind {
    type Target = str;

    fn deref(&self) -> &str {
        match self {
            ChangeKind::Known(words) => words,
            ChangeKind::Named(words) => words,
        }
    }
}

impl fmt::Display for ChangeKind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self)
    }
}

impl PartialEq for ChangeKind {
    fn eq(&self, other: &Self) -> bool {
        **self == **other
    }
}

impl PartialEq<&str> for ChangeKind {
    fn eq(&self, other: &&str) -> bool {
        **self == **other
    }
}

impl From<&'static str> for ChangeKind {
    fn from(words: &'static str) -> Self {
        ChangeKind::Known(words)
    }
}

impl From<String> for ChangeKind {
    fn from(words: String) -> Self {
        ChangeKind::Named(words.into())
    }
}

impl Serialize for ChangeKind {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(self)
    }
}
