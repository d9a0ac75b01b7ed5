//! A boundary that remembers an entry which is gone. A quarter of those in the wild do.

use super::super::super::check::{Check, Scope, Survey};
use super::super::super::finding::{Finding, Severity};
use super::super::super::version::Versions;

pub(crate) static CHECK: Check = Check {
    name: "lost-logical-parent",
    family: "compaction",
    severity: Severity::Waste,
    seen: "the full transcript ends at the compaction",
    suffers: Versions::None,
    heals: "no client goes by it on resume",
    mend: None,
    scope: Scope::Told,
    run,
};

fn run(survey: &Survey<'_>, findings: &mut Vec<Finding>) {
    for (i, e) in survey.session.entries().iter().enumerate() {
        if e.is_boundary()
            && e.names
                .some()
                .is_some_and(|id| survey.session.graph().find(id).is_none())
        {
            findings.push(survey.at(
                &CHECK,
                i,
                "the entry before the compaction, as the boundary names it, is not in the file",
            ));
        }
    }
}
