//! A uuid that two entries have.

use rustc_hash::FxHashMap;

use crate::session::Session;
use crate::transcript::Id;

use super::super::super::check::{Check, Gate, Survey};
use super::super::super::finding::{Finding, Severity};
use super::super::super::version::Versions;

pub(crate) static CHECK: Check = Check {
    name: "duplicate-uuid",
    family: "chain",
    severity: Severity::LosesHistory,
    seen: "a message shows the text of another; history appears twice in the file",
    suffers: Versions::All,
    heals: "copies that are the same do no harm but at the end of the file (2.1.156)",
    mend: Some("the same entry again goes; another with its uuid gets one of its own"),
    gate: Gate::Judged,
    run,
};

/// Entries whose uuid occurred before, each with the first that had it and whether it is the same.
pub(crate) fn entries(session: &Session) -> Vec<(usize, usize, bool)> {
    let mut out = Vec::new();
    if session.graph().is_distinct() {
        return out;
    }
    let mut seen: FxHashMap<Id, usize> = FxHashMap::default();
    for (i, e) in session
        .entries()
        .iter()
        .enumerate()
        .filter(|(_, e)| e.is_chained())
    {
        match seen.get(&e.uuid) {
            Some(&first) => out.push((
                i,
                first,
                session.text(e) == session.text(&session.entries()[first]),
            )),
            None => {
                seen.insert(e.uuid, i);
            }
        }
    }
    out
}

fn run(survey: &Survey<'_>, findings: &mut Vec<Finding>) {
    for (i, first, same) in entries(survey.session) {
        let line = survey.session.entries()[first].line + 1;
        let mut finding = survey.at(
            &CHECK,
            i,
            format!("its uuid is that of line {line}: clients keep one of the two"),
        );
        if same {
            finding.message = format!("the same entry as line {line}");
            finding.severity = Severity::Waste;
        }
        findings.push(finding);
    }
}
