//! Removes thinking that the API would refuse.

use crate::doctor::checks::thinking::{adjacent, alone, unsigned};
use crate::ops::BlockRemovals;
use crate::session::Session;
use crate::surgery::{Excerpt, Plan, Words};

use super::RepairOptions;
use super::pass::Repair;

pub(crate) static REPAIR: Repair = Repair {
    checks: &[&unsigned::CHECK, &adjacent::CHECK, &alone::CHECK],
    reveals: false,
    plan,
};

fn plan(session: &Session, options: &RepairOptions, plan: &mut Plan) {
    let mut removed = BlockRemovals::default();
    if options.wants(&unsigned::CHECK) {
        let blocks = unsigned::blocks(session);
        blocks.into_iter().for_each(|at| removed.add(at));
    }
    if options.wants(&adjacent::CHECK) {
        let blocks = adjacent::blocks(session).into_iter().flatten();
        blocks.for_each(|at| removed.add(at));
    }
    if options.wants(&alone::CHECK) {
        let blocks = alone::blocks(session).into_iter().flatten();
        blocks.for_each(|at| removed.add(at));
    }
    removed.plan(session, plan, |entry, block| {
        let excerpt = Excerpt::of(session, entry, block, Words::Thinking);
        ("thinking".into(), excerpt)
    });
}
