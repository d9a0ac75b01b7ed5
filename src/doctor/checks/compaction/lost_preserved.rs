//! Finds compactions that kept messages which are missing.

use crate::json::{decode, elements, lookup};
use crate::session::Session;
use crate::transcript::{EntryIx, Id};

use super::super::super::check::{Check, Gate, Survey};
use super::super::super::finding::{Finding, Severity};
use super::super::super::version::{Version, Versions};

pub(crate) static CHECK: Check = Check {
    name: "lost-preserved",
    family: "compaction",
    finds: "compactions that kept messages which are missing",
    severity: Severity::LosesHistory,
    symptom: "after a compaction, the messages that it kept are gone",
    suffers: Versions::From(Version(2, 1, 46)),
    healed_by: "versions before 2.1.46 show none of the kept messages anyway",
    repair: Some("missing messages are removed from the list"),
    gate: Gate::Judged,
    run,
};

/// Which entries named by a boundary are missing.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub(crate) struct Lost {
    /// How many of `preservedMessages.uuids`.
    pub(crate) messages: usize,
    /// The keys of `preservedSegment` whose entry is missing.
    pub(crate) segment: Vec<&'static str>,
    /// Whether the anchor of `preservedMessages` is missing.
    pub(crate) anchor: bool,
}

/// Returns which entries named by a boundary are missing. `allUuids` is not looked at: it also lists
/// entries that were never written.
pub(crate) fn lost(session: &Session, boundary: EntryIx) -> Lost {
    let text = session.text(session.entry(boundary));
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
            findings.push(survey.at(&CHECK, i, format!("kept messages by their uuid, and {n} of these are missing: Claude Code then shows none of the kept messages")));
        }
    }
}
