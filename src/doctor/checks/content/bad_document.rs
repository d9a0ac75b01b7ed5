//! Finds PDFs that are locked or broken.

use super::super::super::check::{Check, Gate, Survey};
use super::super::super::finding::{Finding, Severity};
use super::super::super::version::Versions;
use super::media::faulty_documents;

pub(crate) static CHECK: Check = Check {
    name: "bad-document",
    family: "content",
    finds: "PDFs that are locked or broken",
    severity: Severity::RefusedByTheApi,
    symptom: "The PDF specified is password protected; the PDF specified was not valid",
    suffers: Versions::All,
    healed_by: "",
    repair: Some("a note replaces the document"),
    gate: Gate::Judged,
    run,
};

fn run(survey: &Survey<'_>, findings: &mut Vec<Finding>) {
    findings.extend(
        faulty_documents(survey.session)
            .into_iter()
            .map(|(m, why)| survey.at(&CHECK, m.entry, why)),
    );
}
