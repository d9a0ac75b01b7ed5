//! Finds entries that are their own ancestors.

use crate::session::Session;
use crate::transcript::{EntryColumn, EntryIx};

use super::super::super::check::{Check, Gate, Survey};
use super::super::super::finding::{Finding, Remedy, Severity};
use super::super::super::version::{Version, Versions};

pub(crate) static CHECK: Check = Check {
    name: "cycle",
    family: "chain",
    finds: "entries that are their own ancestors",
    severity: Severity::StopsResume,
    symptom: "Claude Code hangs on resume, with one processor fully used",
    suffers: Versions::Before(Version(2, 1, 45)),
    healed_by: "2.1.45 and newer stop where the chain repeats",
    repair: Some("the first entry of the chain is attached to the entry before it"),
    gate: Gate::Judged,
    run,
};

/// Returns the entry of each cycle that comes first in the file.
pub(crate) fn heads(session: &Session) -> Vec<EntryIx> {
    // 0: not visited, 1: on the current trail, 2: done.
    let mut state = EntryColumn::filled(0u8, session.entries().len());
    let mut out = Vec::new();
    for i in session.numbers() {
        let mut trail = Vec::new();
        let mut at = Some(i);
        while let Some(j) = at {
            if state[j] == 1 {
                let start = trail.iter().position(|&t| t == j).unwrap_or(0);
                out.extend(trail[start..].iter().copied().min());
            }
            if state[j] != 0 {
                break;
            }
            state[j] = 1;
            trail.push(j);
            at = session.graph().parent(j);
        }
        for j in trail {
            state[j] = 2;
        }
    }
    out
}

fn run(survey: &Survey<'_>, findings: &mut Vec<Finding>) {
    for i in heads(survey.session) {
        let message =
            "is its own ancestor: Claude Code before 2.1.45 hangs when it opens the session";
        let finding = survey.at(&CHECK, i, message);
        findings.push(finding.with(Remedy::RepairInPlace));
    }
}
