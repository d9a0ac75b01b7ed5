//! Measures data that is never read again.

use crate::human;
use crate::transcript::Kind;

use super::super::check::{Check, Gate, Survey, whole};
use super::super::finding::{Finding, Remedy, Severity};
use super::super::version::Versions;

pub(crate) static CHECK: Check = Check {
    name: "bloat",
    family: "bloat",
    finds: "data that is never read again",
    severity: Severity::Harmless,
    symptom: "the session opens slowly",
    suffers: Versions::None,
    healed_by: "",
    repair: None,
    gate: Gate::ReportOnly,
    run,
};

/// Less than this is not reported.
const WORTH: usize = 1 << 20;

fn run(survey: &Survey<'_>, findings: &mut Vec<Finding>) {
    let (mut progress, mut copies, mut blobs) = ((0, 0), (0, 0), (0, 0));
    for e in survey.session.entries() {
        let text = survey.session.text(e);
        let slot = match e.kind {
            Kind::Progress => (&mut progress, text.len()),
            Kind::ApiRequestBlob => (&mut blobs, text.len()),
            _ if e.flags.tool_use_result() => (&mut copies, e.result.len()),
            _ => continue,
        };
        slot.0.0 += 1;
        slot.0.1 += slot.1;
    }
    let kinds = [
        (progress, "progress entries"),
        (copies, "copies of tool results"),
        (blobs, "copies of requests"),
    ];
    for ((n, bytes), what) in kinds {
        if bytes >= WORTH {
            findings.push(
                whole(
                    &CHECK,
                    format!(
                        "{n} {what} take {}, and the model is never shown them",
                        human::bytes(bytes as u64)
                    ),
                )
                .with(Remedy::DropHidden),
            );
        }
    }
}
