//! A boundary that remembers an entry which is gone. A quarter of those in the wild do.

use crate::session::Session;
use crate::transcript::Entry;

use super::super::super::check::{Check, Gate, Survey};
use super::super::super::finding::{Finding, Severity};
use super::super::super::version::Versions;

pub(crate) static CHECK: Check = Check {
    name: "lost-logical-parent",
    family: "compaction",
    severity: Severity::Waste,
    seen: "the full transcript ends at the compaction",
    suffers: Versions::None,
    heals: "no client goes by it on resume",
    mend: Some("the boundary names the entry that stands before it in the file"),
    gate: Gate::ReportOnly,
    run,
};

/// Boundaries that name what is gone, with the entry that stands before each in the file.
pub(crate) fn boundaries(session: &Session) -> Vec<(usize, Option<usize>)> {
    let entries = session.entries();
    let is_lost = |e: &Entry| {
        let named = e.refers_to.some();
        named.is_some_and(|id| session.find(id).is_none())
    };
    let before = |i: usize| {
        (0..i)
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
            "the entry before the compaction, as the boundary names it, is not in the file",
        );
        if before.is_none() {
            finding.mendable = false;
            finding
                .message
                .push_str(", nor any other: what was before the compaction is gone");
        }
        findings.push(finding);
    }
}
