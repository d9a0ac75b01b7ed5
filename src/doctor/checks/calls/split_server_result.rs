//! Finds calls of server tools whose result is in another message.

use crate::session::{At, Session};
use crate::transcript::BlockKind;

use super::super::super::check::{Check, Gate, Survey};
use super::super::super::finding::{Finding, Severity};
use super::super::super::version::Versions;

pub(crate) static CHECK: Check = Check {
    name: "split-server-result",
    family: "calls",
    finds: "calls of server tools whose result is in another message",
    severity: Severity::RefusedByTheApi,
    symptom: "a server tool use was found without a corresponding result block in the same message",
    suffers: Versions::All,
    healed_by: "",
    repair: Some("the call and its result are removed"),
    gate: Gate::Judged,
    run,
};

/// Returns calls of server tools whose result is missing or in another message, with such results.
pub(crate) fn pairs(session: &Session) -> Vec<(At, Vec<At>)> {
    let mut out = Vec::new();
    for call in super::shown(session) {
        let Some(&made) = call.uses.first() else {
            continue;
        };
        if session.block(made.block).kind != BlockKind::ServerToolUse {
            continue;
        }
        let message = |at: At| session.entry(at.entry).message_id;
        let joined = call
            .results
            .iter()
            .any(|&r| r.entry == made.entry || message(r).is_some() && message(r) == message(made));
        let open = call.results.is_empty() && super::is_last_message(session, made.entry);
        if !joined && !open {
            out.push((made, call.results.into_vec()));
        }
    }
    out
}

fn run(survey: &Survey<'_>, findings: &mut Vec<Finding>) {
    for (made, _) in pairs(survey.session) {
        findings.push(survey.at(
            &CHECK,
            made.entry,
            "calls a server tool, and the result is not in the same message as the API requires",
        ));
    }
}
