//! Finds boundaries that name a missing entry as the one before them. A quarter of all boundaries do.

use crate::session::Session;
use crate::transcript::{Entry, EntryIx};

use super::super::super::check::{Check, Gate, Survey};
use super::super::super::finding::{Finding, Severity};
use super::super::super::version::Versions;

pub(crate) static CHECK: Check = Check {
    name: "lost-logical-parent",
    family: "compaction",
    finds: "boundaries that name a missing entry as the one before them",
    severity: Severity::Harmless,
    symptom: "the full transcript ends at the compaction",
    suffers: Versions::None,
    healed_by: "no version uses it on resume",
    repair: Some("the boundary names the entry before it in the file"),
    gate: Gate::ReportOnly,
    run,
};

/// Returns boundaries that name a missing entry, each with the entry before it in the file.
pub(crate) fn boundaries(session: &Session) -> Vec<(EntryIx, Option<EntryIx>)> {
    let entries = session.entries();
    let is_lost = |e: &Entry| {
        let named = e.refers_to.some();
        named.is_some_and(|id| session.find(id).is_none())
    };
    let before = |i: EntryIx| {
        i.before()
            .rev()
            .find(|&b| entries[b].is_chained() && !entries[b].flags.sidechain())
    };
    let lost = session.boundaries().filter(|(_, e)| is_lost(e));
    lost.map(|(i, _)| (i, before(i))).collect()
}

fn run(survey: &Survey<'_>, findings: &mut Vec<Finding>) {
    for (i, before) in boundaries(survey.session) {
        let mut finding = survey.at(
            &CHECK,
            i,
            "names an entry before the compaction that is not in the file",
        );
        if before.is_none() {
            finding.repairable = false;
            finding
                .message
                .push_str("; nothing from before the compaction is left");
        }
        findings.push(finding);
    }
}
