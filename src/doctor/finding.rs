//! One thing that is wrong.

use std::fmt;

use serde::Serialize;

use super::version::Versions;

/// How much a finding hurts, from least to most, so that a threshold is `>=`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Severity {
    /// Nothing is lost or refused: wasted bytes, or what every client copes with.
    Harmless,
    /// The API will answer 400.
    RefusedByTheApi,
    /// The model is not shown something that is in the file.
    LosesHistory,
    /// The session does not open.
    StopsResume,
}

impl fmt::Display for Severity {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(match self {
            Severity::Harmless => "harmless",
            Severity::RefusedByTheApi => "refused by the API",
            Severity::LosesHistory => "loses history",
            Severity::StopsResume => "stops resume",
        })
    }
}

/// Something wrong at a line.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Finding {
    /// The check's name, as `repair --only` takes it.
    pub check: &'static str,
    /// How much it hurts.
    pub severity: Severity,
    /// The line, from 1; 0 where it is about the whole file.
    pub line: u32,
    /// The entry's uuid.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub uuid: Option<String>,
    /// The turn, where the entry has one.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub turn: Option<u32>,
    /// What is wrong, in words.
    pub message: String,
    /// The clients that it hurts.
    pub suffers: Versions,
    /// Whether `repair` can mend it.
    pub repairable: bool,
}

impl fmt::Display for Finding {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "line {}: {}", self.line, self.message)
    }
}
