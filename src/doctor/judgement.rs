//! For whom a session is judged.

use crate::session::Session;

use super::finding::{Finding, Severity};
use super::version::Version;

/// The clients that a session is judged for.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Judgement {
    /// All of them, oldest first.
    pub versions: Vec<Version>,
    /// The one that will most likely go on with it.
    pub next: Version,
}

impl Judgement {
    /// Judges for one version.
    pub fn only(version: Version) -> Self {
        Self {
            versions: vec![version],
            next: version,
        }
    }

    /// Judges for the versions that a session was written by, and the newest that is known.
    pub fn of(session: &Session) -> Self {
        Self::beside(session, Version::NEWEST)
    }

    /// Judges for the versions that a session was written by, and the one that is installed.
    pub fn beside(session: &Session, installed: Version) -> Self {
        let all = session.distinct("version");
        let mut versions: Vec<Version> = all.iter().filter_map(|v| v.parse().ok()).collect();
        let last = session.entries().iter().rev().filter(|e| e.is_message());
        let next = last
            .filter_map(|e| session.string(e, &["version"]))
            .find_map(|v| v.parse().ok());
        versions.push(installed);
        versions.sort_unstable();
        versions.dedup();
        Self {
            versions,
            next: next.unwrap_or(installed),
        }
    }

    /// Whether a finding matters to one of them. Waste is waste to all.
    pub fn concerns(&self, finding: &Finding) -> bool {
        finding.severity == Severity::Harmless
            || self.versions.iter().any(|&v| finding.suffers.contains(v))
    }
}
