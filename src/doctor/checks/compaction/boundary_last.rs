//! Finds a compaction boundary that nothing follows.

use crate::session::Session;
use crate::transcript::EntryIx;

use super::super::super::check::{Check, Gate, Survey};
use super::super::super::finding::{Finding, Severity};
use super::super::super::version::{Version, Versions};

pub(crate) static CHECK: Check = Check {
    name: "boundary-last",
    family: "compaction",
    finds: "a compaction boundary that nothing follows",
    severity: Severity::LosesHistory,
    symptom: "after a compaction, the model knows nothing",
    suffers: Versions::Before(Version(2, 1, 156)),
    healed_by: "2.1.156 and newer continue from before such a boundary",
    repair: Some(
        "a boundary without a summary is removed; a summary with the time of its boundary gets a later one",
    ),
    gate: Gate::Judged,
    run,
};

/// What is wrong with the end of the conversation.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum End {
    /// The boundary is the last entry.
    Bare(EntryIx),
    /// The summary is the last entry and not newer than its boundary, at which older clients then end.
    SameTime(EntryIx),
}

/// Returns what is wrong with the end, if anything.
pub(crate) fn end(session: &Session) -> Option<End> {
    let path = session.graph().path();
    let leaf = *path.last()?;
    if session.entry(leaf).is_boundary() {
        return Some(End::Bare(leaf));
    }
    let before = *path.get(path.len().checked_sub(2)?)?;
    let (b, s) = (session.entry(before), session.entry(leaf));
    (b.is_boundary() && s.flags.compact_summary() && s.time <= b.time)
        .then_some(End::SameTime(leaf))
}

fn run(survey: &Survey<'_>, findings: &mut Vec<Finding>) {
    match end(survey.session) {
        Some(End::Bare(i)) => findings.push(survey.at(
            &CHECK,
            i,
            "is a compaction boundary with nothing after it: the model is shown nothing",
        )),
        Some(End::SameTime(i)) => {
            findings.push(survey.at(&CHECK, i, "is a summary that is not newer than its boundary, with nothing after it: Claude Code before 2.1.156 shows the model nothing"));
        }
        None => {}
    }
}
