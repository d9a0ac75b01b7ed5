//! One thing that is wrong.

use std::fmt;

use serde::Serialize;

/// How much a finding hurts, from least to most, so that a threshold is `>=`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Severity {
    /// Bytes that nobody needs.
    Waste,
    /// The API will answer 400.
    RefusedByTheApi,
    /// The model is not shown something that is in the file.
    LosesHistory,
    /// The session does not open.
    StopsResume,
}

/// Something wrong at a line.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Finding {
    /// The check's name, as `repair --only` takes it.
    pub check: &'static str,
    /// How much it hurts.
    pub severity: Severity,
    /// The line, from 1.
    pub line: u32,
    /// What is wrong, in words.
    pub message: String,
}

impl fmt::Display for Finding {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "line {}: {}", self.line, self.message)
    }
}
