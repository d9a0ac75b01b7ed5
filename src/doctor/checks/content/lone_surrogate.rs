//! Finds half surrogate pairs, which cutting a text in the middle of an emoji leaves.

use super::super::super::check::{Check, Gate, Survey};
use super::super::super::finding::{Finding, Severity};
use super::super::super::version::{Version, Versions};
use super::escapes::{Bad, bad_escapes};

pub(crate) static CHECK: Check = Check {
    name: "lone-surrogate",
    family: "content",
    finds: "half surrogate pairs, which cutting a text in the middle of an emoji leaves",
    severity: Severity::RefusedByTheApi,
    symptom: "The request body is not valid JSON: no low surrogate in string",
    suffers: Versions::Before(Version(2, 1, 156)),
    healed_by: "2.1.156 and newer send U+FFFD instead",
    repair: Some("it is replaced by U+FFFD"),
    gate: Gate::Judged,
    run,
};

fn run(survey: &Survey<'_>, findings: &mut Vec<Finding>) {
    if !survey.session.flags_of_any().numbered_characters() {
        return;
    }
    for (i, e) in survey
        .live()
        .filter(|(_, e)| e.is_message() && e.flags.numbered_characters())
    {
        let bad = bad_escapes(e.content.of(survey.session.text(e)))
            .into_iter()
            .filter(|(_, b)| *b == Bad::Surrogate)
            .count();
        if bad > 0 {
            findings.push(survey.at(&CHECK, i, format!("has lone surrogates ({bad}), for example half an emoji: the API does not accept them")));
        }
    }
}
