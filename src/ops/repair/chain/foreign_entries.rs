//! Gives this session's id to messages that carry another one.

use crate::doctor::checks::chain::foreign_entries::{CHECK, entries};
use crate::json::encode;
use crate::session::Session;
use crate::surgery::{Plan, Reach};

use super::super::RepairOptions;
use super::super::edit::{note_edit, set_field};
use super::super::pass::Repair;

pub(crate) static REPAIR: Repair = Repair {
    checks: &[&CHECK],
    reach: Reach::Narrows,
    plan,
};

fn plan(session: &Session, _: &RepairOptions, plan: &mut Plan) {
    let own = session
        .session_id()
        .and_then(|id| session.entries().iter().find(|e| e.session == id))
        .and_then(|e| session.string(e, &["sessionId"]));
    let Some(own) = own.map(|id| encode(&id)) else {
        return;
    };
    for i in entries(session) {
        let e = session.entry(i);
        set_field(session, plan, e, "sessionId", own.as_bytes());
        note_edit(session, plan, e, "id of another session");
    }
}
