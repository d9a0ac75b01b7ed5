//! A picture with too many bytes or pixels.

use super::super::super::check::{Check, Gate, Survey};
use super::super::super::finding::{Finding, Severity};
use super::super::super::version::{Version, Versions};
use super::media::{ImageFault, faulty_images};

pub(crate) static CHECK: Check = Check {
    name: "large-image",
    family: "content",
    severity: Severity::RefusedByTheApi,
    symptom: "image exceeds 5 MB maximum; image dimensions exceed max allowed size",
    suffers: Versions::Before(Version(2, 1, 45)),
    healed_by: "2.1.45 sends a word in its place, 2.1.156 and newer try again without it",
    repair: Some("it is made smaller"),
    gate: Gate::Judged,
    run,
};

fn run(survey: &Survey<'_>, findings: &mut Vec<Finding>) {
    for (medium, fault) in faulty_images(survey.session) {
        match fault {
            ImageFault::Bytes(n) => findings.push(survey.at(
                &CHECK,
                medium.entry,
                format!("image exceeds 5 MB maximum: {n} bytes"),
            )),
            ImageFault::Pixels(w, h) => findings.push(survey.at(
                &CHECK,
                medium.entry,
                format!("image dimensions exceed max allowed size: {w} × {h} pixels"),
            )),
            ImageFault::NotAnImage | ImageFault::OtherKind(_) => {}
        }
    }
}
