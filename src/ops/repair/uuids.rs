//! Uuids that two entries have.

use std::rc::Rc;

use crate::doctor::checks::chain::duplicate_uuid::{self, CHECK};
use crate::json::encode;
use crate::session::Session;
use crate::surgery::{Action, Detail, Plan, Refusal, Transform};

use super::RepairOptions;
use super::edit::{made_uuid, set_field, set_parent, uuid};

pub(crate) struct Uuids(pub(crate) Rc<RepairOptions>);

impl Transform for Uuids {
    fn name(&self) -> &'static str {
        "repair"
    }

    fn reveals(&self) -> bool {
        true
    }

    fn plan(&self, session: &Session, _: Detail) -> Result<Plan, Refusal> {
        let mut plan = Plan::default();
        if !self.0.wants(&CHECK) {
            return Ok(plan);
        }
        for (again, first, same) in duplicate_uuid::entries(session) {
            let e = &session.entries()[again];
            let text = session.text(e);
            if same {
                plan.drop_line(e.line);
                plan.note(
                    session,
                    e,
                    Action::Drop,
                    "copy of an entry",
                    -(text.len() as i64 + 1),
                    0,
                    "",
                );
                continue;
            }
            let Some(old) = uuid(session, again) else {
                continue;
            };
            let other = &session.entries()[first];
            // Written again with other content, it is the same place of the history: clients show the
            // later, and the earlier steps aside. Elsewhere in the history it is another entry.
            let moved = if e.parent == other.parent {
                first
            } else {
                again
            };
            let fresh = made_uuid(&[
                &old,
                &String::from_utf8_lossy(session.text(&session.entries()[moved])),
            ]);
            set_field(
                session,
                &mut plan,
                &session.entries()[moved],
                "uuid",
                encode(&fresh).as_bytes(),
            );
            plan.note(
                session,
                &session.entries()[moved],
                Action::Edit,
                "uuid",
                0,
                0,
                "",
            );
            if moved == again {
                // What was written after it hangs on it.
                for child in (again + 1..session.entries().len()).filter(|&c| {
                    session.entries()[c].parent == e.uuid && session.entries()[c].is_chained()
                }) {
                    set_parent(session, &mut plan, child, Some(&fresh));
                }
            }
        }
        Ok(plan)
    }
}
