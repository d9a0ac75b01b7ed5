//! Bytes that nobody reads again, with what they cost.

use crate::human;
use crate::transcript::Kind;

use super::super::check::{Check, Gate, Survey, whole};
use super::super::finding::{Finding, Severity};
use super::super::version::Versions;

pub(crate) static CHECK: Check = Check {
    name: "bloat",
    family: "bloat",
    severity: Severity::Harmless,
    symptom: "the session opens slowly",
    suffers: Versions::None,
    healed_by: "",
    repair: None,
    gate: Gate::ReportOnly,
    run,
};

/// Less than this is not worth a word.
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
    let told = [
        (progress, "progress entries"),
        (copies, "second copies of results"),
        (blobs, "second copies of requests"),
    ];
    for ((n, bytes), what) in told {
        if bytes >= WORTH {
            findings.push(whole(
                &CHECK,
                format!(
                    "{n} {what}: {}, which the model is never shown; `ccsurgery drop-hidden` makes a session without what it can do without",
                    human::bytes(bytes as u64)
                ),
            ));
        }
    }
}
