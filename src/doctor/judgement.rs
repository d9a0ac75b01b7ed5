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
        let mut versions: Vec<Version> = Vec::new();
        let mut next = None;
        let mut known: (Vec<u8>, Option<Version>) = (Vec::new(), None);
        for e in session.entries().iter().filter(|e| e.is_message()) {
            let text = session.text(e);
            let Some(raw) = crate::jsonl::lookup(text, &["version"]).map(|s| s.of(text)) else {
                continue;
            };
            if known.0 != raw {
                known = (raw.to_vec(), crate::jsonl::decode(raw).parse().ok());
            }
            if let Some(version) = known.1 {
                next = Some(version);
                if !versions.contains(&version) {
                    versions.push(version);
                }
            }
        }
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
        finding.severity == Severity::Waste
            || self.versions.iter().any(|&v| finding.suffers.contains(v))
    }
}
