//! Puts a note in front of a conversation that begins with an answer.

use crate::doctor::checks::chain::headless::{CHECK, entry};
use crate::json::encode;
use crate::session::Session;
use crate::surgery::{InsertAt, Plan, Reach};

use super::super::RepairOptions;
use super::super::edit::{NewUser, made_uuid, uuid};
use super::super::pass::Repair;

pub(crate) static REPAIR: Repair = Repair {
    checks: &[&CHECK],
    reach: Reach::Narrows,
    plan,
};

const NOTE: &str = "[The beginning of this conversation is missing.]";

fn plan(session: &Session, _: &RepairOptions, plan: &mut Plan) {
    let Some(first) = entry(session) else { return };
    let e = session.entry(first);
    let Some(own) = uuid(session, first) else {
        return;
    };
    let fresh = made_uuid(&["head", &own]);
    let parent = session.graph().parent(first).and_then(|p| uuid(session, p));
    let line = NewUser {
        like: e,
        parent: parent.as_deref(),
        uuid: &fresh,
        content: &encode(NOTE),
        time: e.time.saturating_sub(1).max(0),
        more: r#","isMeta":true"#,
    }
    .line(session);
    plan.note_insert("note", line.len() + 1, NOTE.len(), NOTE);
    plan.insert_line(InsertAt::Before(e.line), line);
    plan.set_parent(first, Some(&fresh));
}
