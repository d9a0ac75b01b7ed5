//! Entries of another session.

use crate::session::Session;

use super::super::super::check::{Check, Scope, Survey, whole};
use super::super::super::finding::{Finding, Severity};
use super::super::super::version::Versions;

pub(crate) static CHECK: Check = Check {
    name: "foreign-entries",
    family: "chain",
    severity: Severity::Waste,
    seen: "rewinding files does not find its data",
    suffers: Versions::None,
    heals: "all resume such a session",
    mend: None,
    scope: Scope::Told,
    run,
};

fn run(survey: &Survey<'_>, findings: &mut Vec<Finding>) {
    let session: &Session = survey.session;
    let Some(own) = session.session_id() else {
        return;
    };
    let foreign = survey
        .live()
        .filter(|(_, e)| e.is_message() && e.session.is_some() && e.session != own)
        .count();
    if foreign > 0 {
        findings.push(whole(
            &CHECK,
            format!("{foreign} messages carry another session's id; a clone gives them one"),
        ));
    }
}
