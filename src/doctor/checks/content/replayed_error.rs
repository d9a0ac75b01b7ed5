//! Finds API errors that are recorded as answers of the model.

use crate::session::Session;
use crate::transcript::{EntryIx, Kind};

use super::super::super::check::is_live;
use super::super::super::check::{Check, Gate, Survey};
use super::super::super::finding::{Finding, Severity};
use super::super::super::version::{Version, Versions};

pub(crate) static CHECK: Check = Check {
    name: "replayed-error",
    family: "content",
    finds: "API errors that are recorded as answers of the model",
    severity: Severity::Harmless,
    symptom: "the model apologises for an API error",
    suffers: Versions::Before(Version(2, 0, 76)),
    healed_by: "2.0.76 and newer do not send such answers",
    repair: Some("the answer is removed"),
    gate: Gate::JudgedForVersion,
    run,
};

/// Returns answers that are the client's report of an error.
pub(crate) fn entries(session: &Session) -> impl Iterator<Item = EntryIx> + '_ {
    let all = session.numbered();
    all.filter(|(i, e)| e.kind == Kind::Assistant && e.flags.api_error() && is_live(session, *i))
        .map(|(i, _)| i)
}

fn run(survey: &Survey<'_>, findings: &mut Vec<Finding>) {
    findings.extend(entries(survey.session).map(|i| {
        survey.at(
            &CHECK,
            i,
            "is an API error that the model is shown as its own answer",
        )
    }));
}
