//! Removes blank text blocks.

use crate::doctor::checks::content::blank_text::{CHECK, blocks};
use crate::ops::BlockRemovals;
use crate::session::Session;
use crate::surgery::{Excerpt, Plan, Reach};

use super::super::RepairOptions;
use super::super::pass::Repair;

pub(crate) static REPAIR: Repair = Repair {
    checks: &[&CHECK],
    reach: Reach::Narrows,
    plan,
};

fn plan(session: &Session, _: &RepairOptions, plan: &mut Plan) {
    let mut removed = BlockRemovals::default();
    for at in blocks(session) {
        removed.add(at);
    }
    removed.plan(session, plan, |_, _| ("blank text".into(), Excerpt::None));
}
