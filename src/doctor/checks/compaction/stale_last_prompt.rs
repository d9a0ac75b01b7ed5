//! A last prompt's note behind a boundary that leads back to before it.

use crate::session::Session;
use crate::transcript::Kind;

use super::super::super::check::{Check, Gate, Survey};
use super::super::super::finding::{Finding, Severity};
use super::super::super::version::{Version, Versions};

pub(crate) static CHECK: Check = Check {
    name: "stale-last-prompt",
    family: "compaction",
    severity: Severity::LosesHistory,
    seen: "after a compaction, resume shows the old conversation",
    suffers: Versions::From(Version(2, 1, 46)),
    heals: "older clients do not look at it",
    mend: Some("a fresh note names the end of the conversation"),
    gate: Gate::Judged,
    run,
};

/// The entry of the last note, if a boundary comes before it in the file and it names an entry of
/// before that boundary.
pub(crate) fn entry(session: &Session) -> Option<usize> {
    let graph = session.graph();
    let boundaries = session.boundaries().filter(|(_, e)| e.is_chained());
    let (boundary, _) = boundaries.last()?;
    let note = session
        .entries()
        .iter()
        .rposition(|e| e.kind == Kind::LastPrompt && e.refers_to.is_some())?;
    let named = session.find(session.entries()[note].refers_to)?;
    let last = session
        .heads()
        .iter()
        .rposition(|&t| super::super::chain::wrong_leaf::can_lead(t))?;
    // Nothing is lost where nothing is behind the boundary.
    (note > boundary
        && last != boundary
        && named < boundary
        && !graph.descends(last, named)
        && graph.descends(last, boundary))
    .then_some(note)
}

fn run(survey: &Survey<'_>, findings: &mut Vec<Finding>) {
    if let Some(i) = entry(survey.session) {
        findings.push(survey.at(&CHECK, i, "it leads back to before the last compaction: newer clients lose the summary and all since"));
    }
}
