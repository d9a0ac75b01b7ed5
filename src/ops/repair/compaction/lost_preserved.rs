//! Removes messages that are gone from the list of those that a compaction kept.

use crate::doctor::checks::compaction::lost_preserved::{CHECK, Lost, lost};
use crate::json::{Edit, decode, elements, encode, fields, lookup, remove_elements, remove_field};
use crate::session::Session;
use crate::surgery::{Plan, Reach};
use crate::transcript::{EntryIx, Id};

use super::super::RepairOptions;
use super::super::edit::{note_edit, uuid};
use super::super::pass::Repair;
use super::METADATA;

pub(crate) static REPAIR: Repair = Repair {
    checks: &[&CHECK],
    reach: Reach::Reveals,
    plan,
};

fn plan(session: &Session, _: &RepairOptions, plan: &mut Plan) {
    for (i, e) in session.boundaries() {
        let lost = lost(session, i);
        if lost != Lost::default() {
            plan.edit_line(e.line, forget(session, i, &lost));
            note_edit(session, plan, e, "names of kept messages");
        }
    }
}

/// Returns edits after which a boundary no longer names messages that are gone.
fn forget(session: &Session, boundary: EntryIx, lost: &Lost) -> Vec<Edit> {
    let text = session.text(session.entry(boundary));
    let mut edits = Vec::new();
    let summary = session
        .graph()
        .children(boundary)
        .find(|&c| session.entry(c).flags.compact_summary())
        .and_then(|c| uuid(session, c));
    let anchor = |path: &[&str]| match (lookup(text, path), &summary) {
        (Some(span), Some(uuid)) => Some(Edit::new(span, encode(uuid))),
        _ => None,
    };
    if lost.anchor && summary.is_none() {
        // There is no summary that the kept messages could follow.
        return lookup(text, &["compactMetadata"])
            .map(|s| Edit::new(s, METADATA))
            .into_iter()
            .collect();
    }
    if lost.messages > 0
        && let Some(list) = lookup(text, &["compactMetadata", "preservedMessages", "uuids"])
    {
        let inner = list.of(text);
        let all = elements(inner).unwrap_or_default();
        let gone: Vec<usize> = (0..all.len())
            .filter(|&i| {
                session
                    .find(Id::of(decode(all[i].of(inner)).as_bytes()))
                    .is_none()
            })
            .collect();
        edits.extend(
            remove_elements(&all, &gone)
                .into_iter()
                .map(|e| Edit::new(e.span.shift(list.start), e.with)),
        );
    }
    if lost.anchor {
        edits.extend(anchor(&[
            "compactMetadata",
            "preservedMessages",
            "anchorUuid",
        ]));
    }
    if lost.segment.iter().any(|k| *k != "anchorUuid")
        || !lost.segment.is_empty() && summary.is_none()
    {
        edits.extend(without(text, &["compactMetadata"], "preservedSegment"));
    } else if !lost.segment.is_empty() {
        edits.extend(anchor(&[
            "compactMetadata",
            "preservedSegment",
            "anchorUuid",
        ]));
    }
    edits
}

/// Returns the edit that removes a field of an object.
fn without(text: &[u8], path: &[&str], key: &str) -> Option<Edit> {
    let object = lookup(text, path)?;
    let inner = object.of(text);
    let all = fields(inner).ok()?;
    let index = all.iter().position(|f| f.key.of(inner) == key.as_bytes())?;
    let edit = remove_field(&all, index);
    Some(Edit::new(edit.span.shift(object.start), edit.with))
}
