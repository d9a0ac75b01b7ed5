//! Finds images with too many bytes or pixels.

use super::super::super::check::{Check, Gate, Survey};
use super::super::super::finding::{Finding, Severity};
use super::super::super::version::{Version, Versions};
use crate::human;

use super::media::{ImageFault, faulty_images};

pub(crate) static CHECK: Check = Check {
    name: "large-image",
    family: "content",
    finds: "images with too many bytes or pixels",
    severity: Severity::RefusedByTheApi,
    symptom: "image exceeds 5 MB maximum; image dimensions exceed max allowed size",
    suffers: Versions::Before(Version(2, 1, 45)),
    healed_by: "2.1.45 sends a placeholder, 2.1.156 and newer try again without the image",
    repair: Some("the image is made smaller"),
    gate: Gate::Judged,
    run,
};

fn run(survey: &Survey<'_>, findings: &mut Vec<Finding>) {
    for (medium, fault) in faulty_images(survey.session) {
        match fault {
            ImageFault::Bytes(n) => findings.push(survey.at(
                &CHECK,
                medium.entry,
                format!(
                    "has an image of {}: the API accepts at most 5 MB",
                    human::bytes(n as u64)
                ),
            )),
            ImageFault::Pixels(w, h) => findings.push(survey.at(
                &CHECK,
                medium.entry,
                format!("has an image of {w} × {h} pixels, more than the API accepts"),
            )),
            ImageFault::NotAnImage | ImageFault::OtherKind(_) => {}
        }
    }
}
