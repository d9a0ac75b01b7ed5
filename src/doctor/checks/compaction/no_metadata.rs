//! A boundary without its metadata.

use crate::json::lookup;
use crate::session::Session;

use super::super::super::check::{Check, Gate, Survey};
use super::super::super::finding::{Finding, Severity};
use super::super::super::version::Versions;

pub(crate) static CHECK: Check = Check {
    name: "no-compact-metadata",
    family: "compaction",
    severity: Severity::Harmless,
    symptom: "undefined is not an object (evaluating compactMetadata)",
    suffers: Versions::None,
    healed_by: "all that were measured resume without it",
    repair: Some("the least of it is put in"),
    gate: Gate::Judged,
    run,
};

/// Boundaries that lack it.
pub(crate) fn entries(session: &Session) -> impl Iterator<Item = usize> + '_ {
    let all = session.boundaries();
    all.filter(|(_, e)| {
        let text = session.text(e);
        lookup(text, &["compactMetadata"]).is_none_or(|s| !s.of(text).starts_with(b"{"))
    })
    .map(|(i, _)| i)
}

fn run(survey: &Survey<'_>, findings: &mut Vec<Finding>) {
    findings.extend(
        entries(survey.session)
            .map(|i| survey.at(&CHECK, i, "a compaction boundary without `compactMetadata`")),
    );
}
