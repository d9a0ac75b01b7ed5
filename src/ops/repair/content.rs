//! Blocks and messages that the API would refuse.

use std::rc::Rc;

use crate::doctor::checks::content::{blank_text, empty_content, replayed_error};
use crate::doctor::checks::thinking::{adjacent, alone, unsigned};
use crate::session::{At, Session};
use crate::surgery::{Action, Detail, Excerpt, Plan, Refusal, Transform, Words};

use super::RepairOptions;
use crate::ops::BlockRemovals;

pub(crate) struct Content(pub(crate) Rc<RepairOptions>);

impl Transform for Content {
    fn name(&self) -> &'static str {
        "repair"
    }

    fn plan(&self, session: &Session, _: Detail) -> Result<Plan, Refusal> {
        let mut doomed = BlockRemovals::default();
        let mut add = |at: At| doomed.add(at);
        if self.0.wants(&blank_text::CHECK) {
            blank_text::blocks(session).into_iter().for_each(&mut add);
        }
        if self.0.wants(&unsigned::CHECK) {
            unsigned::blocks(session).into_iter().for_each(&mut add);
        }
        if self.0.wants(&adjacent::CHECK) {
            adjacent::blocks(session)
                .into_iter()
                .flatten()
                .for_each(&mut add);
        }
        if self.0.wants(&alone::CHECK) {
            alone::blocks(session)
                .into_iter()
                .flatten()
                .for_each(&mut add);
        }
        let mut plan = Plan::default();
        doomed.plan(session, &mut plan, |entry, block| {
            if block.kind.is_thinking() {
                let gist = Excerpt::of(session, entry, block, Words::Thinking);
                ("thinking".into(), gist)
            } else {
                ("blank text".into(), Excerpt::None)
            }
        });
        let mut gone: Vec<(usize, &str)> = Vec::new();
        if self.0.wants(&empty_content::CHECK) {
            gone.extend(
                empty_content::entries(session)
                    .into_iter()
                    .map(|i| (i, "empty message")),
            );
        }
        if self.0.drop_errors && self.0.wants(&replayed_error::CHECK) {
            gone.extend(replayed_error::entries(session).map(|i| (i, "API error")));
        }
        for (i, what) in gone {
            let e = &session.entries()[i];
            plan.drop_line(e.line);
            plan.note(
                session,
                e,
                Action::Drop,
                what,
                -(session.text(e).len() as i64 + 1),
                0,
                "",
            );
        }
        Ok(plan)
    }
}
