//! A note in front of a conversation that begins with an answer.

use std::rc::Rc;

use crate::doctor::checks::chain::headless::{CHECK, entry};
use crate::session::Session;
use crate::surgery::{Detail, InsertAt, Plan, Refusal, Transform};

use super::RepairOptions;
use super::edit::{NewUser, made_uuid, set_parent, uuid};

pub(crate) struct Heads(pub(crate) Rc<RepairOptions>);

const NOTE: &str = "[The beginning of this conversation is missing.]";

impl Transform for Heads {
    fn name(&self) -> &'static str {
        "repair"
    }

    fn plan(&self, session: &Session, _: Detail) -> Result<Plan, Refusal> {
        let mut plan = Plan::default();
        let Some(first) = entry(session).filter(|_| self.0.wants(&CHECK)) else {
            return Ok(plan);
        };
        let e = &session.entries()[first];
        let Some(own) = uuid(session, first) else {
            return Ok(plan);
        };
        let fresh = made_uuid(&["head", &own]);
        let parent = session.graph().parent(first).and_then(|p| uuid(session, p));
        let content = crate::json::encode(NOTE);
        let line = NewUser {
            like: e,
            parent: parent.as_deref(),
            uuid: &fresh,
            content: &content,
            time: e.time.saturating_sub(1).max(0),
            more: r#","isMeta":true"#,
        }
        .line(session);
        plan.note_insert("note", line.len() + 1, NOTE.len(), NOTE);
        plan.insert_line(InsertAt::Before(e.line), line);
        set_parent(session, &mut plan, first, Some(&fresh));
        Ok(plan)
    }
}
