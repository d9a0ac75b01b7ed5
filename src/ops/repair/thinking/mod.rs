//! Removes thinking that the API would refuse.

use crate::doctor::checks::thinking::{adjacent, alone, unsigned};
use crate::ops::BlockRemovals;
use crate::session::Session;
use crate::surgery::{Excerpt, Plan, Reach, Words};

use super::RepairOptions;
use super::pass::Repair;

pub(crate) static REPAIR: Repair = Repair {
    checks: &[&unsigned::CHECK, &adjacent::CHECK, &alone::CHECK],
    reach: Reach::Narrows,
    plan,
};

fn plan(session: &Session, options: &RepairOptions, plan: &mut Plan) {
    let mut removed = BlockRemovals::default();
    if options.wants(&unsigned::CHECK) {
        for at in unsigned::blocks(session) {
            removed.add(at);
        }
    }
    if options.wants(&adjacent::CHECK) {
        for at in adjacent::blocks(session).into_iter().flatten() {
            removed.add(at);
        }
    }
    if options.wants(&alone::CHECK) {
        for at in alone::blocks(session).into_iter().flatten() {
            removed.add(at);
        }
    }
    removed.plan(session, plan, |entry, block| {
        let excerpt = Excerpt::of(session, entry, block, Words::Thinking);
        ("thinking".into(), excerpt)
    });
}
