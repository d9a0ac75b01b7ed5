//! A boundary with nothing behind it.

use crate::session::Session;

use super::super::super::check::{Check, Gate, Survey};
use super::super::super::finding::{Finding, Severity};
use super::super::super::version::{Version, Versions};

pub(crate) static CHECK: Check = Check {
    name: "boundary-last",
    family: "compaction",
    severity: Severity::LosesHistory,
    symptom: "after a compaction, the model knows nothing",
    suffers: Versions::Before(Version(2, 1, 156)),
    healed_by: "2.1.156 and newer go on before such a boundary",
    repair: Some(
        "a boundary without a summary goes; a summary of the same time becomes the newer one",
    ),
    gate: Gate::Judged,
    run,
};

/// What is wrong at the end.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum End {
    /// The boundary is the last of the conversation.
    Bare(usize),
    /// The summary is the last, and no newer than its boundary: clients before 2.1.156 end at the boundary.
    SameTime(usize),
}

/// The fault, if there is one.
pub(crate) fn end(session: &Session) -> Option<End> {
    let path = session.graph().path();
    let leaf = *path.last()? as usize;
    if session.entries()[leaf].is_boundary() {
        return Some(End::Bare(leaf));
    }
    let before = *path.get(path.len().checked_sub(2)?)? as usize;
    let (b, s) = (&session.entries()[before], &session.entries()[leaf]);
    (b.is_boundary() && s.flags.compact_summary() && s.time <= b.time)
        .then_some(End::SameTime(leaf))
}

fn run(survey: &Survey<'_>, findings: &mut Vec<Finding>) {
    match end(survey.session) {
        Some(End::Bare(i)) => findings.push(survey.at(
            &CHECK,
            i,
            "a compaction boundary is the last thing: the model is shown nothing",
        )),
        Some(End::SameTime(i)) => {
            findings.push(survey.at(&CHECK, i, "the summary is no newer than its boundary and nothing follows: older clients show the model nothing"));
        }
        None => {}
    }
}
