//! Finds messages that carry the id of another session.

use crate::session::Session;
use crate::transcript::EntryIx;

use super::super::super::check::{Check, Gate, Survey, is_live, whole};
use super::super::super::finding::{Finding, Severity};
use super::super::super::version::Versions;

pub(crate) static CHECK: Check = Check {
    name: "foreign-entries",
    family: "chain",
    finds: "messages that carry the id of another session",
    severity: Severity::Harmless,
    symptom: "rewinding files does not find its data",
    suffers: Versions::None,
    healed_by: "every version resumes such a session",
    repair: Some("they get the id of this session"),
    gate: Gate::ReportOnly,
    run,
};

/// Returns messages of the conversation that carry another session's id.
pub(crate) fn entries(session: &Session) -> Vec<EntryIx> {
    let Some(own) = session.session_id() else {
        return Vec::new();
    };
    let all = session.numbered();
    all.filter(|(i, e)| {
        e.is_message() && e.session.is_some() && e.session != own && is_live(session, *i)
    })
    .map(|(i, _)| i)
    .collect()
}

fn run(survey: &Survey<'_>, findings: &mut Vec<Finding>) {
    let foreign = entries(survey.session).len();
    if foreign > 0 {
        findings.push(whole(
            &CHECK,
            match foreign {
                1 => "one message carries the id of another session".to_owned(),
                _ => format!("{foreign} messages carry the id of another session"),
            },
        ));
    }
}
