//! Finds a `last-prompt` after a boundary that names an entry from before the boundary.

use crate::session::Session;
use crate::transcript::{EntryIx, Kind};

use super::super::super::check::{Check, Gate, Survey};
use super::super::super::finding::{Finding, Severity};
use super::super::super::version::{Version, Versions};
use super::super::chain::wrong_leaf::can_lead;

pub(crate) static CHECK: Check = Check {
    name: "stale-last-prompt",
    family: "compaction",
    finds: "a `last-prompt` after a boundary that names an entry from before the boundary",
    severity: Severity::LosesHistory,
    symptom: "after a compaction, resume shows the old conversation",
    suffers: Versions::From(Version(2, 1, 46)),
    healed_by: "versions before 2.1.46 do not read it",
    repair: Some("a new `last-prompt` names the end of the conversation"),
    gate: Gate::Judged,
    run,
};

/// Returns the last `last-prompt`, if it comes after the last boundary in the file and names an entry
/// from before that boundary.
pub(crate) fn entry(session: &Session) -> Option<EntryIx> {
    let graph = session.graph();
    let boundaries = session.boundaries().filter(|(_, e)| e.is_chained());
    let (boundary, _) = boundaries.last()?;
    let notes = session.entries_of(Kind::LastPrompt);
    let (note, e) = notes.filter(|(_, e)| e.refers_to.is_some()).last()?;
    let named = session.find(e.refers_to)?;
    let heads = session.heads();
    let last = session.numbers().rfind(|&i| can_lead(heads[i]))?;
    // Nothing is lost if nothing follows the boundary.
    (note > boundary
        && last != boundary
        && named < boundary
        && !graph.descends(last, named)
        && graph.descends(last, boundary))
    .then_some(note)
}

fn run(survey: &Survey<'_>, findings: &mut Vec<Finding>) {
    if let Some(i) = entry(survey.session) {
        findings.push(survey.at(&CHECK, i, "leads back to before the last compaction: Claude Code then shows the old conversation without the summary and all that followed"));
    }
}
