//! A picture that is none, or is of another kind than it says.

use super::super::super::check::{Check, Gate, Survey};
use super::super::super::finding::{Finding, Severity};
use super::super::super::version::{Version, Versions};
use super::media::{ImageFault, faulty_images};

pub(crate) static CHECK: Check = Check {
    name: "not-an-image",
    family: "content",
    severity: Severity::RefusedByTheApi,
    symptom: "Could not process image",
    suffers: Versions::Before(Version(2, 1, 45)),
    healed_by: "2.1.45 sends a word in its place, 2.1.156 and newer try again without it",
    repair: Some("a note takes its place, or its kind is set right"),
    gate: Gate::Judged,
    run,
};

fn run(survey: &Survey<'_>, findings: &mut Vec<Finding>) {
    for (medium, fault) in faulty_images(survey.session) {
        match fault {
            ImageFault::NotAnImage => {
                findings.push(survey.at(&CHECK, medium.entry, "Could not process image"));
            }
            ImageFault::OtherKind(mime) => findings.push(survey.at(
                &CHECK,
                medium.entry,
                format!("the image is {mime} and says otherwise"),
            )),
            ImageFault::Bytes(_) | ImageFault::Pixels(..) => {}
        }
    }
}
