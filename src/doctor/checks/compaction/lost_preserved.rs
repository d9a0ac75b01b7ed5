//! Messages that a compaction kept and that are gone.

use crate::json::{decode, elements, lookup};
use crate::session::Session;
use crate::transcript::Id;

use super::super::super::check::{Check, Gate, Survey};
use super::super::super::finding::{Finding, Severity};
use super::super::super::version::{Version, Versions};

pub(crate) static CHECK: Check = Check {
    name: "lost-preserved",
    family: "compaction",
    severity: Severity::LosesHistory,
    symptom: "after a compaction, the messages that it kept are gone",
    suffers: Versions::From(Version(2, 1, 46)),
    healed_by: "older clients show none of them anyway",
    repair: Some("what is gone leaves the list"),
    gate: Gate::Judged,
    run,
};

/// Which references of a boundary lead nowhere.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub(crate) struct Lost {
    /// Of `preservedMessages.uuids`.
    pub(crate) messages: usize,
    /// Keys of `preservedSegment` whose entry is gone.
    pub(crate) segment: Vec<&'static str>,
    /// Whether the list's anchor is gone.
    pub(crate) anchor: bool,
}

/// What a boundary names and is not there. `allUuids` also lists entries that were never written.
pub(crate) fn lost(session: &Session, boundary: usize) -> Lost {
    let text = session.text(&session.entries()[boundary]);
    let gone = |raw: &[u8]| {
        raw.starts_with(b"\"") && session.find(Id::of(decode(raw).as_bytes())).is_none()
    };
    let named_gone = |path: &[&str]| lookup(text, path).is_some_and(|s| gone(s.of(text)));
    let list = lookup(text, &["compactMetadata", "preservedMessages", "uuids"]);
    let messages = list.map_or(0, |s| {
        let inner = s.of(text);
        elements(inner)
            .unwrap_or_default()
            .iter()
            .filter(|e| gone(e.of(inner)))
            .count()
    });
    let segment = ["headUuid", "anchorUuid", "tailUuid"]
        .into_iter()
        .filter(|k| named_gone(&["compactMetadata", "preservedSegment", k]))
        .collect();
    Lost {
        messages,
        segment,
        anchor: named_gone(&["compactMetadata", "preservedMessages", "anchorUuid"]),
    }
}

fn run(survey: &Survey<'_>, findings: &mut Vec<Finding>) {
    for (i, _) in survey.session.boundaries() {
        let lost = lost(survey.session, i);
        if lost != Lost::default() {
            let n = lost.messages + lost.segment.len() + usize::from(lost.anchor);
            findings.push(survey.at(&CHECK, i, format!("the compaction kept messages by name, and {n} of the names lead nowhere: newer clients then show none of them")));
        }
    }
}
