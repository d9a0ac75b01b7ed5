//! Finds entries that have the same uuid.

use rustc_hash::FxHashMap;

use crate::session::Session;
use crate::transcript::{Entry, EntryIx, Id};

use super::super::super::check::{Check, Gate, Survey};
use super::super::super::finding::{Finding, Severity};
use super::super::super::version::Versions;

pub(crate) static CHECK: Check = Check {
    name: "duplicate-uuid",
    family: "chain",
    finds: "entries that have the same uuid",
    severity: Severity::LosesHistory,
    symptom: "a message shows the text of another; history appears twice in the file",
    suffers: Versions::All,
    healed_by: "identical copies do no harm, except at the end of the file (2.1.156)",
    repair: Some("an identical copy is removed; a different entry gets a new uuid"),
    gate: Gate::Judged,
    run,
};

/// How much an entry is like the earlier one with its uuid.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Copy {
    /// The line is the same, byte for byte.
    Identical,
    /// Parent, time and content are the same; other fields differ, as 2.1.207 writes an entry again.
    SameContent,
    /// It is another entry.
    Other,
}

/// Returns the entries whose uuid occurred before, each with the first that had it.
pub(crate) fn entries(session: &Session) -> Vec<(EntryIx, EntryIx, Copy)> {
    let mut out = Vec::new();
    if session.graph().is_distinct() {
        return out;
    }
    let mut seen: FxHashMap<Id, EntryIx> = FxHashMap::default();
    let all = session.numbered();
    for (i, e) in all.filter(|(_, e)| e.is_chained()) {
        match seen.get(&e.uuid) {
            Some(&first) => out.push((i, first, compare(session, e, session.entry(first)))),
            None => {
                seen.insert(e.uuid, i);
            }
        }
    }
    out
}

/// Compares two entries with the same uuid.
pub(crate) fn compare(session: &Session, a: &Entry, b: &Entry) -> Copy {
    let (x, y) = (session.text(a), session.text(b));
    let same_place = (a.kind, a.parent, a.time) == (b.kind, b.parent, b.time);
    if x == y {
        Copy::Identical
    } else if same_place && a.is_message() && a.content.of(x) == b.content.of(y) {
        Copy::SameContent
    } else {
        Copy::Other
    }
}

fn run(survey: &Survey<'_>, findings: &mut Vec<Finding>) {
    for (i, first, copy) in entries(survey.session) {
        let line = survey.line(first);
        let mut finding = survey.at(
            &CHECK,
            i,
            format!("has the same uuid as line {line}: Claude Code shows only one of the two"),
        );
        if copy != Copy::Other {
            finding.message = format!("repeats line {line}");
            finding.severity = Severity::Harmless;
            finding.repairable = copy == Copy::Identical;
        }
        findings.push(finding);
    }
}
