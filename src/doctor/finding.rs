//! What a check reports.

use std::fmt;

use serde::Serialize;

use super::version::Versions;

/// How much a finding hurts, from least to most, so that a threshold is `>=`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "kebab-case")]
#[non_exhaustive]
pub enum Severity {
    /// Nothing is lost or refused: wasted bytes, or what every client copes with.
    Harmless,
    /// The API answers 400.
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
            Severity::StopsResume => "does not open",
        })
    }
}

/// What a person can do about a finding that a repair does not change.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "kebab-case")]
#[non_exhaustive]
pub enum Remedy {
    /// Make a session without the data that the model is not shown.
    DropHidden,
    /// Make the conversation smaller.
    Shrink,
    /// Shorten large tool results.
    ShortenResults,
    /// Keep only this many turns.
    KeepTurns(usize),
    /// Repair the session itself: a repaired copy would leave the original, on which old clients hang.
    RepairInPlace,
    /// Put a copy into the folder of the right project.
    CopyToProject,
}

/// Something wrong at a line or with the whole session.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Finding {
    /// The name of the check.
    pub check: &'static str,
    /// How much it hurts.
    pub severity: Severity,
    /// The line, from 1; 0 if the finding is about the whole session.
    pub line: u32,
    /// The entry's uuid.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub uuid: Option<String>,
    /// The turn of the entry, if it has one.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub turn: Option<u32>,
    /// What is wrong. For a line, the words continue a sentence that begins with it.
    pub message: String,
    /// The clients that it hurts.
    pub suffers: Versions,
    /// Whether a repair removes it.
    pub repairable: bool,
    /// What else can be done.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub remedy: Option<Remedy>,
}

impl Finding {
    /// Adds what a person can do.
    #[must_use]
    pub fn with(mut self, remedy: Remedy) -> Self {
        self.remedy = Some(remedy);
        self
    }
}

impl fmt::Display for Finding {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.line {
            0 => f.write_str(&self.message),
            line => write!(f, "line {line} {}", self.message),
        }
    }
}
