//! Finds boundaries without metadata.

use crate::json::lookup;
use crate::session::Session;
use crate::transcript::EntryIx;

use super::super::super::check::{Check, Gate, Survey};
use super::super::super::finding::{Finding, Severity};
use super::super::super::version::Versions;

pub(crate) static CHECK: Check = Check {
    name: "no-compact-metadata",
    family: "compaction",
    finds: "boundaries without metadata",
    severity: Severity::Harmless,
    symptom: "undefined is not an object (evaluating compactMetadata)",
    suffers: Versions::None,
    healed_by: "every version that was measured resumes without it",
    repair: Some("minimal metadata is added"),
    gate: Gate::Judged,
    run,
};

/// Returns boundaries without metadata.
pub(crate) fn entries(session: &Session) -> impl Iterator<Item = EntryIx> + '_ {
    let all = session.boundaries();
    all.filter(|(_, e)| {
        let text = session.text(e);
        lookup(text, &["compactMetadata"]).is_none_or(|s| !s.of(text).starts_with(b"{"))
    })
    .map(|(i, _)| i)
}

fn run(survey: &Survey<'_>, findings: &mut Vec<Finding>) {
    findings.extend(entries(survey.session).map(|i| {
        survey.at(
            &CHECK,
            i,
            "is a compaction boundary without `compactMetadata`",
        )
    }));
}
