//! Finds summaries whose boundary is missing.

use crate::session::Session;
use crate::transcript::{EntryIx, Flags};

use super::super::super::check::{Check, Gate, Survey};
use super::super::super::finding::{Finding, Severity};
use super::super::super::version::{Version, Versions};

pub(crate) static CHECK: Check = Check {
    name: "lost-boundary",
    family: "compaction",
    finds: "summaries whose boundary is missing",
    severity: Severity::RefusedByTheApi,
    symptom: "prompt is too long: the history is sent as well as its summary",
    suffers: Versions::From(Version(2, 1, 156)),
    healed_by: "versions before 2.1.156 show nothing from before the summary",
    repair: Some("a boundary is added in front of the summary"),
    gate: Gate::Judged,
    run,
};

/// Returns summaries that name a missing boundary.
pub(crate) fn entries(session: &Session) -> impl Iterator<Item = EntryIx> + '_ {
    let summaries = session.entries_with(Flags::compact_summary);
    let lost = summaries.filter(|(i, e)| {
        e.is_chained() && e.parent.is_some() && session.graph().parent(*i).is_none()
    });
    lost.map(|(i, _)| i)
}

fn run(survey: &Survey<'_>, findings: &mut Vec<Finding>) {
    findings.extend(entries(survey.session).map(|i| {
        survey.at(
            &CHECK,
            i,
            "is a summary whose compaction boundary is missing: Claude Code may send the summarised history again",
        )
    }));
}
