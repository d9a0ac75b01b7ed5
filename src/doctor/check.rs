//! What a check is, and what checks look at.

use crate::session::{Session, Standing};
use crate::transcript::Entry;

use super::finding::{Finding, Severity};
use super::version::Versions;

/// One thing that can be wrong, with what is known of it.
#[derive(Debug)]
pub struct Check {
    /// Its name, as `repair --only` takes it.
    pub name: &'static str,
    /// What it is about: lines, chain, calls, thinking, content, compaction, place or bloat.
    pub family: &'static str,
    /// How much it hurts those who suffer.
    pub severity: Severity,
    /// What people have seen: the API's or the client's own words where there are any.
    pub symptom: &'static str,
    /// The clients that it hurts.
    pub suffers: Versions,
    /// Which clients make it good by themselves, and how.
    pub healed_by: &'static str,
    /// What `repair` does about it; `None` if it can do nothing.
    pub repair: Option<&'static str>,
    /// When it is reported, and whether a change to a session is judged by it.
    pub gate: Gate,
    /// Looks for it.
    pub run: fn(&Survey<'_>, &mut Vec<Finding>),
}

/// When a check's findings count.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Gate {
    /// Always: no change to a session may add one.
    Judged,
    /// Only where a client that suffers is concerned: for others this is how sessions are.
    JudgedForVersion,
    /// It is told, and no change is judged by it.
    ReportOnly,
}

/// A session as checks see it.
#[derive(Debug)]
pub struct Survey<'a> {
    /// The session.
    pub session: &'a Session,
}

impl<'a> Survey<'a> {
    /// Prepares a session to be looked at.
    pub fn new(session: &'a Session) -> Self {
        Self { session }
    }

    /// The position on the path at or beside which an entry is shown with the conversation.
    pub fn position(&self, entry: usize) -> Option<u32> {
        match self.session.graph().place(entry) {
            Standing::Path(p) | Standing::Beside(p) => Some(p),
            _ => None,
        }
    }

    /// Entries of the conversation, however much of it a compaction hides, with their indices.
    pub fn live(&self) -> impl Iterator<Item = (usize, &'a Entry)> + '_ {
        let session = self.session;
        session
            .entries()
            .iter()
            .enumerate()
            .filter(|&(i, _)| self.position(i).is_some())
    }

    /// Returns the number of an entry's line in the file, from 1.
    pub fn line(&self, entry: usize) -> u32 {
        let line = self.session.entries()[entry].line as usize;
        let origin = self.session.document().origin(line);
        origin.unwrap_or(line) as u32 + 1
    }

    /// Something wrong at an entry. What a compaction hides hurts nobody for now.
    pub fn at(&self, check: &'static Check, entry: usize, message: impl Into<String>) -> Finding {
        let e = &self.session.entries()[entry];
        let uuid = self.session.uuid(e);
        let hidden = check.severity == Severity::RefusedByTheApi
            && self
                .position(entry)
                .is_some_and(|p| p < self.session.graph().window_start());
        let severity = if hidden {
            Severity::Harmless
        } else {
            check.severity
        };
        let turn = self.session.turns().of(self.session.graph(), entry);
        Finding {
            severity,
            uuid,
            turn,
            ..self.at_line(check, e.line, message)
        }
    }

    /// Something wrong at a line.
    pub fn at_line(&self, check: &'static Check, line: u32, message: impl Into<String>) -> Finding {
        let line = self
            .session
            .document()
            .origin(line as usize)
            .unwrap_or(line as usize);
        Finding {
            line: line as u32 + 1,
            ..whole(check, message)
        }
    }
}

/// Something wrong with the whole session.
pub(super) fn whole(check: &'static Check, message: impl Into<String>) -> Finding {
    Finding {
        check: check.name,
        severity: check.severity,
        line: 0,
        uuid: None,
        turn: None,
        message: message.into(),
        suffers: check.suffers,
        repairable: check.repair.is_some(),
    }
}

/// Whether an entry is part of the conversation, however much of it a compaction hides.
pub(crate) fn is_live(session: &Session, entry: usize) -> bool {
    matches!(
        session.graph().place(entry),
        Standing::Path(_) | Standing::Beside(_)
    )
}
