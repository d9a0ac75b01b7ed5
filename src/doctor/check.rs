//! What a check is, and what checks look at.

use crate::document::LineIx;
use crate::session::{Session, Standing};
use crate::transcript::{Entry, EntryIx};

use super::finding::{Finding, Severity};
use super::version::Versions;

/// One thing that can be wrong, with all that is known about it.
#[derive(Debug)]
pub struct Check {
    /// Its name.
    pub name: &'static str,
    /// The folder of `doctor/checks` that it is in.
    pub family: &'static str,
    /// What it finds, for people.
    pub finds: &'static str,
    /// How much it hurts the clients that suffer.
    pub severity: Severity,
    /// What people see: the words of the API or the client where there are any.
    pub symptom: &'static str,
    /// The clients that it hurts.
    pub suffers: Versions,
    /// Which clients cope with it by themselves, and how; empty if none does.
    pub healed_by: &'static str,
    /// What a repair does about it; `None` if nothing can be done.
    pub repair: Option<&'static str>,
    /// When findings count.
    pub gate: Gate,
    /// Adds its findings to a list.
    pub run: fn(&Survey<'_>, &mut Vec<Finding>),
}

/// When a check's findings count.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Gate {
    /// Always: no operation may add one.
    Judged,
    /// Only for a client that suffers: other clients write such sessions every day.
    JudgedForVersion,
    /// They are reported, but an operation may add one.
    ReportOnly,
}

/// A session as checks see it.
#[derive(Debug)]
pub struct Survey<'a> {
    /// The session.
    pub session: &'a Session,
}

impl<'a> Survey<'a> {
    /// Prepares a session for the checks.
    pub fn new(session: &'a Session) -> Self {
        Self { session }
    }

    /// Returns the position on the live path at or beside which an entry is shown.
    pub fn position(&self, entry: EntryIx) -> Option<u32> {
        match self.session.graph().place(entry) {
            Standing::Path(p) | Standing::Beside(p) => Some(p),
            _ => None,
        }
    }

    /// Returns the entries of the conversation with their indices, those that a compaction hides included.
    pub fn live(&self) -> impl Iterator<Item = (EntryIx, &'a Entry)> + '_ {
        let session = self.session;
        session
            .numbered()
            .filter(|&(i, _)| self.position(i).is_some())
    }

    /// Returns the number of an entry's line in the file, from 1.
    pub fn line(&self, entry: EntryIx) -> u32 {
        let line = self.session.entry(entry).line;
        let origin = self.session.document().origin(line);
        origin.unwrap_or(line).from_one()
    }

    /// Makes a finding about an entry. What the API would refuse is harmless while a compaction hides it.
    pub fn at(&self, check: &'static Check, entry: EntryIx, message: impl Into<String>) -> Finding {
        let e = self.session.entry(entry);
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

    /// Makes a finding about a line.
    pub fn at_line(
        &self,
        check: &'static Check,
        line: LineIx,
        message: impl Into<String>,
    ) -> Finding {
        let origin = self.session.document().origin(line);
        Finding {
            line: origin.unwrap_or(line).from_one(),
            ..whole(check, message)
        }
    }
}

/// Makes a finding about the whole session.
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
        remedy: None,
    }
}

/// Returns whether an entry is part of the conversation, even if a compaction hides it.
pub(crate) fn is_live(session: &Session, entry: EntryIx) -> bool {
    matches!(
        session.graph().place(entry),
        Standing::Path(_) | Standing::Beside(_)
    )
}
