//! One repair, as a transform.

use std::rc::Rc;

use crate::doctor::Check;
use crate::session::Session;
use crate::surgery::{Detail, Plan, Reach, Refusal, Transform};

use super::RepairOptions;

/// How the findings of some checks are repaired.
pub(super) struct Repair {
    /// The checks.
    pub(super) checks: &'static [&'static Check],
    /// How far the repair may change the conversation.
    pub(super) reach: Reach,
    /// Plans the repair. Called only if at least one of `checks` is to be repaired.
    pub(super) plan: fn(&Session, &RepairOptions, &mut Plan),
}

/// A repair with the options of one run.
pub(super) struct Pass {
    repair: &'static Repair,
    options: Rc<RepairOptions>,
}

impl Pass {
    pub(super) fn new(repair: &'static Repair, options: &Rc<RepairOptions>) -> Self {
        Self {
            repair,
            options: Rc::clone(options),
        }
    }
}

impl Transform for Pass {
    fn name(&self) -> &'static str {
        "repair"
    }

    fn reach(&self) -> Reach {
        self.repair.reach
    }

    fn plan(&self, session: &Session, _: Detail) -> Result<Plan, Refusal> {
        let mut plan = Plan::default();
        if self.repair.checks.iter().any(|c| self.options.wants(c)) {
            (self.repair.plan)(session, &self.options, &mut plan);
        }
        Ok(plan)
    }
}
