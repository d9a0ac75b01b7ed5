//! The client that a session is judged for.

use crate::session::Session;

use super::check::Gate;
use super::checks::find_check;
use super::finding::{Finding, Severity};
use super::version::Version;

/// The client that a session is judged for, and why.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Judgement {
    /// The client that will most likely resume the session.
    pub client: Version,
    /// Why that one.
    pub reason: Reason,
}

/// Why a session is judged for a client.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Reason {
    /// The user named it.
    Named,
    /// It is installed.
    Installed,
    /// It is the newest that wrote the session.
    WroteTheSession,
    /// It is the newest that was measured, and nothing else is known.
    NewestKnown,
}

impl Judgement {
    /// Judges for a client that the user named.
    pub fn only(client: Version) -> Self {
        Self {
            client,
            reason: Reason::Named,
        }
    }

    /// Judges for the newest client that wrote the session, or else the newest that was measured.
    pub fn of(session: &Session) -> Self {
        Self::for_installed(session, None)
    }

    /// Judges for the installed client; if none is known, as [`Judgement::of`] does.
    pub fn for_installed(session: &Session, installed: Option<Version>) -> Self {
        if let Some(client) = installed {
            let reason = Reason::Installed;
            return Self { client, reason };
        }
        let versions = session.distinct("version");
        match versions.iter().filter_map(|v| v.parse().ok()).max() {
            Some(client) => Self {
                client,
                reason: Reason::WroteTheSession,
            },
            None => Self {
                client: Version::NEWEST,
                reason: Reason::NewestKnown,
            },
        }
    }

    /// Returns whether a finding is true of this client. Harmless findings are true of every client.
    ///
    /// What clients write every day, and newer ones cope with, counts only for a client that is known to be in use: clients
    /// are updated, so the one that wrote the session is a guess.
    pub fn concerns(&self, finding: &Finding) -> bool {
        let is_guess = matches!(self.reason, Reason::WroteTheSession | Reason::NewestKnown);
        let check = find_check(finding.check);
        let is_everyday = check.is_some_and(|check| check.gate == Gate::JudgedForVersion);
        let client = if is_guess && is_everyday {
            Version::NEWEST
        } else {
            self.client
        };
        finding.severity == Severity::Harmless || finding.suffers.contains(client)
    }
}
