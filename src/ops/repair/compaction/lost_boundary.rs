//! Puts a boundary in front of a summary that lost its own.

use crate::doctor::checks::compaction::lost_boundary::{CHECK, entries};
use crate::json::encode;
use crate::session::Session;
use crate::surgery::{InsertAt, Plan, Reach};

use super::super::RepairOptions;
use super::super::edit::{shared, timestamp, uuid};
use super::super::pass::Repair;
use super::METADATA;

pub(crate) static REPAIR: Repair = Repair {
    checks: &[&CHECK],
    reach: Reach::Reveals,
    plan,
};

fn plan(session: &Session, _: &RepairOptions, plan: &mut Plan) {
    for i in entries(session) {
        let e = session.entry(i);
        // The summary still names its boundary, which gets the same uuid again.
        let Some(own) = session.string(e, &["parentUuid"]) else {
            continue;
        };
        let before = i.before().rev().find(|&b| {
            let b = session.entry(b);
            b.is_chained() && !b.flags.sidechain()
        });
        let before = before.and_then(|b| uuid(session, b));
        let line = format!(
            r#"{{"parentUuid":null,"logicalParentUuid":{}{},"type":"system","subtype":"compact_boundary","content":"Conversation compacted","isMeta":false,"timestamp":{},"uuid":{},"level":"info","compactMetadata":{METADATA}}}"#,
            before.map_or_else(|| "null".to_owned(), |b| encode(&b)),
            shared(session, e),
            timestamp(e.time.saturating_sub(1).max(0)),
            encode(&own),
        );
        plan.note_insert("compaction boundary", line.len() + 1, 0, "");
        plan.insert_line(InsertAt::Before(e.line), line);
    }
}
