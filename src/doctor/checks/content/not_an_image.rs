//! Finds images that are not images, or have the wrong media type.

use super::super::super::check::{Check, Gate, Survey};
use super::super::super::finding::{Finding, Severity};
use super::super::super::version::{Version, Versions};
use super::media::{ImageFault, faulty_images};

pub(crate) static CHECK: Check = Check {
    name: "not-an-image",
    family: "content",
    finds: "images that are not images, or have the wrong media type",
    severity: Severity::RefusedByTheApi,
    symptom: "Could not process image",
    suffers: Versions::Before(Version(2, 1, 45)),
    healed_by: "2.1.45 sends a placeholder, 2.1.156 and newer try again without the image",
    repair: Some("a note replaces the image, or its media type is corrected"),
    gate: Gate::Judged,
    run,
};

fn run(survey: &Survey<'_>, findings: &mut Vec<Finding>) {
    for (medium, fault) in faulty_images(survey.session) {
        match fault {
            ImageFault::NotAnImage => {
                findings.push(survey.at(&CHECK, medium.entry, "has an image that cannot be read"));
            }
            ImageFault::OtherKind(mime) => findings.push(survey.at(
                &CHECK,
                medium.entry,
                format!("has an image that is {mime} but is labelled otherwise"),
            )),
            ImageFault::Bytes(_) | ImageFault::Pixels(..) => {}
        }
    }
}
