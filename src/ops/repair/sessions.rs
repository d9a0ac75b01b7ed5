//! Messages that carry another session's id.

use std::rc::Rc;

use crate::doctor::checks::chain::foreign_entries::{self, CHECK};
use crate::json::encode;
use crate::session::Session;
use crate::surgery::{Action, Detail, Plan, Refusal, Transform};

use super::RepairOptions;
use super::edit::set_field;

pub(crate) struct Sessions(pub(crate) Rc<RepairOptions>);

impl Transform for Sessions {
    fn name(&self) -> &'static str {
        "repair"
    }

    fn plan(&self, session: &Session, _: Detail) -> Result<Plan, Refusal> {
        let mut plan = Plan::default();
        if !self.0.wants(&CHECK) {
            return Ok(plan);
        }
        let own = session
            .session_id()
            .and_then(|id| session.entries().iter().find(|e| e.session == id))
            .and_then(|e| session.string(e, &["sessionId"]));
        let Some(own) = own.map(|id| encode(&id)) else {
            return Ok(plan);
        };
        for i in foreign_entries::entries(session) {
            let e = &session.entries()[i];
            set_field(session, &mut plan, e, "sessionId", own.as_bytes());
            plan.note(session, e, Action::Edit, "id of another session", 0, 0, "");
        }
        Ok(plan)
    }
}
