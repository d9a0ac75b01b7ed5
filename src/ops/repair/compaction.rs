//! Boundaries and what they name.

use std::rc::Rc;

use crate::doctor::checks::compaction::boundary_last::{self, End, end};
use crate::doctor::checks::compaction::lost_preserved::{self, Lost, lost};
use crate::doctor::checks::compaction::no_metadata;
use crate::doctor::checks::compaction::{lost_boundary, lost_logical_parent};
use crate::json::{Edit, decode, elements, encode, fields, lookup, remove_elements, remove_field};
use crate::session::Session;
use crate::surgery::{Action, Detail, InsertAt, Plan, Refusal, Transform};
use crate::transcript::Id;

use super::RepairOptions;
use super::edit::{set_field, shared, timestamp, uuid};

/// The least that a boundary says of itself.
const METADATA: &[u8] = br#"{"trigger":"manual","preTokens":0}"#;

/// Puts boundaries in front of summaries that have lost theirs.
pub(crate) struct Boundaries(pub(crate) Rc<RepairOptions>);

impl Transform for Boundaries {
    fn name(&self) -> &'static str {
        "repair"
    }

    fn reveals(&self) -> bool {
        true
    }

    fn plan(&self, session: &Session, _: Detail) -> Result<Plan, Refusal> {
        let mut plan = Plan::default();
        if !self.0.wants(&lost_boundary::CHECK) {
            return Ok(plan);
        }
        for i in lost_boundary::entries(session) {
            let e = &session.entries()[i];
            // The summary names it still.
            let Some(own) = session.string(e, &["parentUuid"]) else {
                continue;
            };
            let before = (0..i).rev().find(|&b| {
                let b = &session.entries()[b];
                b.is_chained() && !b.flags.sidechain()
            });
            let before = before.and_then(|b| uuid(session, b));
            let line = format!(
                r#"{{"parentUuid":null,"logicalParentUuid":{}{},"type":"system","subtype":"compact_boundary","content":"Conversation compacted","isMeta":false,"timestamp":{},"uuid":{},"level":"info","compactMetadata":{}}}"#,
                before.map_or_else(|| "null".to_owned(), |b| encode(&b)),
                shared(session, e),
                timestamp(e.time.saturating_sub(1).max(0)),
                encode(&own),
                String::from_utf8_lossy(METADATA),
            );
            plan.note_insert("compaction boundary", line.len() + 1, 0, "");
            plan.insert_line(InsertAt::Before(e.line), line);
        }
        Ok(plan)
    }
}

pub(crate) struct Compaction(pub(crate) Rc<RepairOptions>);

impl Transform for Compaction {
    fn name(&self) -> &'static str {
        "repair"
    }

    fn reveals(&self) -> bool {
        true
    }

    fn plan(&self, session: &Session, _: Detail) -> Result<Plan, Refusal> {
        let mut plan = Plan::default();
        if self.0.wants(&no_metadata::CHECK) {
            for i in no_metadata::entries(session) {
                let e = &session.entries()[i];
                set_field(session, &mut plan, e, "compactMetadata", METADATA);
                plan.note(session, e, Action::Edit, "compaction metadata", 0, 0, "");
            }
        }
        if self.0.wants(&lost_preserved::CHECK) {
            for (i, e) in session
                .entries()
                .iter()
                .enumerate()
                .filter(|(_, e)| e.is_boundary())
            {
                let lost = lost(session, i);
                if lost != Lost::default() {
                    plan.edit_line(e.line, forget(session, i, &lost));
                    plan.note(session, e, Action::Edit, "names of kept messages", 0, 0, "");
                }
            }
        }
        if self.0.wants(&lost_logical_parent::CHECK) {
            for (i, before) in lost_logical_parent::boundaries(session) {
                let Some(before) = before.and_then(|b| uuid(session, b)) else {
                    continue;
                };
                let e = &session.entries()[i];
                let value = encode(&before);
                set_field(session, &mut plan, e, "logicalParentUuid", value.as_bytes());
                plan.note(
                    session,
                    e,
                    Action::Edit,
                    "entry before a compaction",
                    0,
                    0,
                    "",
                );
            }
        }
        match end(session).filter(|_| self.0.wants(&boundary_last::CHECK)) {
            Some(End::Bare(_)) => {
                // Behind one that goes there may be another.
                let bare = session
                    .graph()
                    .path()
                    .iter()
                    .rev()
                    .map(|&i| &session.entries()[i as usize]);
                for e in bare.take_while(|e| e.is_boundary()) {
                    let bytes = -(session.text(e).len() as i64 + 1);
                    plan.drop_line(e.line);
                    plan.note(
                        session,
                        e,
                        Action::Drop,
                        "boundary without a summary",
                        bytes,
                        0,
                        "",
                    );
                }
            }
            Some(End::SameTime(i)) => {
                let e = &session.entries()[i];
                let boundary = session
                    .graph()
                    .parent(i)
                    .map_or(e.time, |b| session.entries()[b].time);
                set_field(
                    session,
                    &mut plan,
                    e,
                    "timestamp",
                    timestamp(boundary.max(e.time) + 1).as_bytes(),
                );
                plan.note(session, e, Action::Edit, "time", 0, 0, "");
            }
            None => {}
        }
        Ok(plan)
    }
}

/// Edits by which a boundary no longer names what is gone.
fn forget(session: &Session, boundary: usize, lost: &Lost) -> Vec<Edit> {
    let text = session.text(&session.entries()[boundary]);
    let mut edits = Vec::new();
    let summary = session
        .graph()
        .children(boundary)
        .find(|&c| session.entries()[c].flags.compact_summary())
        .and_then(|c| uuid(session, c));
    let anchor = |path: &[&str]| match (lookup(text, path), &summary) {
        (Some(span), Some(uuid)) => Some(Edit::new(span, encode(uuid))),
        _ => None,
    };
    if lost.anchor && summary.is_none() {
        // Nothing is left to hang the kept messages on.
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

/// The edit that takes a field out of an object.
fn without(text: &[u8], path: &[&str], key: &str) -> Option<Edit> {
    let object = lookup(text, path)?;
    let inner = object.of(text);
    let all = fields(inner).ok()?;
    let index = all.iter().position(|f| f.key.of(inner) == key.as_bytes())?;
    let edit = remove_field(&all, index);
    Some(Edit::new(edit.span.shift(object.start), edit.with))
}
