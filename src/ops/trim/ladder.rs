//! The ladder: kinds of changes, least harmful first, each carried out as far as needed.

use crate::session::Session;
use crate::surgery::{Plan, Refusal};
use crate::transcript::Kind;

use super::call_facts::CallFacts;
use super::search::{Applied, Candidate, Search};
use super::step::{OutputKind, Step, TurnSpan};

/// Steps that save less than this part of the context window are left out, unless they suffice.
const WORTHWHILE: u64 = 500;

/// From this part of the target on, in percent, a result is close enough to it.
const CLOSE: u64 = 97;

/// How many calls a step tries to spare.
const SPARED: usize = 24;

/// How far steps go.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Effort {
    /// Only as far as needed.
    Least,
    /// As far as possible, to learn how small the context window can become.
    Most,
}

/// One kind of change.
#[derive(Debug, Clone, Copy)]
enum Strategy {
    Outputs(OutputKind),
    Images,
    Thinking,
    Calls,
}

/// The kinds of changes, least harmful first.
const LADDER: [Strategy; 9] = [
    Strategy::Outputs(OutputKind::StaleRead),
    Strategy::Outputs(OutputKind::Repeated),
    Strategy::Outputs(OutputKind::Routine),
    Strategy::Outputs(OutputKind::Large),
    Strategy::Images,
    Strategy::Outputs(OutputKind::Other),
    Strategy::Thinking,
    Strategy::Outputs(OutputKind::Report),
    Strategy::Calls,
];

/// How far a strategy can go, and the step that goes so far.
type Extent = (usize, Box<dyn Fn(usize) -> Step>);

impl Search<'_> {
    /// Adds steps, least harmful first, until the target is reached or nothing is left to do.
    pub(super) fn apply_ladder(
        &self,
        mut candidate: Candidate,
        effort: Effort,
    ) -> Result<Candidate, Refusal> {
        if candidate.window <= self.target() {
            return Ok(candidate);
        }
        let calls = self
            .calls
            .get_or_init(|| CallFacts::of(self.original, &self.protection));
        let calls = calls.shown_in(self.session(&candidate));
        for strategy in LADDER {
            if candidate.window <= self.target() {
                break;
            }
            let extent = self.extent(strategy, self.session(&candidate), &calls);
            self.apply_strategy(&mut candidate, extent, effort)?;
        }
        Ok(candidate)
    }

    /// Adds the step of a strategy that goes as far as needed, or as far as possible.
    fn apply_strategy(
        &self,
        candidate: &mut Candidate,
        (count, step): Extent,
        effort: Effort,
    ) -> Result<(), Refusal> {
        if count == 0 {
            return Ok(());
        }
        let Some(plan) = self.plan(candidate, &step(count)) else {
            return Ok(());
        };
        let reaches = useful(&step(count), &plan).unwrap_or(count);
        let most = self.apply(candidate, plan)?;
        let suffices = most.window <= self.target();
        let saved = candidate.window.saturating_sub(most.window);
        if saved == 0 || !suffices && saved * WORTHWHILE < candidate.window {
            return Ok(());
        }
        if effort == Effort::Least && suffices {
            return self.apply_nearest(candidate, (count, step), most);
        }
        let far = if suffices { count } else { reaches };
        self.add(candidate, step(far), most);
        Ok(())
    }

    /// Adds the step that goes as far as needed, where going as far as possible suffices.
    fn apply_nearest(
        &self,
        candidate: &mut Candidate,
        (count, step): Extent,
        most: Applied,
    ) -> Result<(), Refusal> {
        let mut far = self.nearest(candidate, (count, most.window), &step);
        // The prediction may be a token off. The distance doubles, so that few steps are carried out.
        let mut further = 1;
        while far < count {
            let step = step(far);
            if let Some(plan) = self.plan(candidate, &step) {
                let applied = self.apply(candidate, plan)?;
                if applied.window <= self.target() {
                    let (step, applied) = self.sparing(candidate, step, applied)?;
                    self.add(candidate, step, applied);
                    return Ok(());
                }
            }
            far = (far + further).min(count);
            further *= 2;
        }
        let (step, most) = self.sparing(candidate, step(count), most)?;
        self.add(candidate, step, most);
        Ok(())
    }

    /// Leaves out calls that a step need not change, newest first: the last one that it changes may be a large one.
    fn sparing(
        &self,
        candidate: &Candidate,
        step: Step,
        applied: Applied,
    ) -> Result<(Step, Applied), Refusal> {
        let (Step::Outputs { ids, .. } | Step::Calls { ids }) = &step else {
            return Ok((step, applied));
        };
        if applied.window * 100 >= self.target() * CLOSE {
            return Ok((step, applied));
        }
        let with = |ids: Vec<String>| match &step {
            Step::Outputs { kind, .. } => Step::Outputs { kind: *kind, ids },
            _ => Step::Calls { ids },
        };
        let mut needed = ids.clone();
        for at in (0..ids.len() - 1).rev().take(SPARED) {
            let mut fewer = needed.clone();
            fewer.remove(at);
            let plan = self.plan(candidate, &with(fewer.clone()));
            let suffices = |plan: &Plan| self.predict(candidate, plan) <= self.target();
            if plan.as_ref().is_some_and(suffices) {
                needed = fewer;
            }
        }
        if needed.len() == ids.len() {
            return Ok((step, applied));
        }
        let less = with(needed);
        let Some(plan) = self.plan(candidate, &less) else {
            return Ok((step, applied));
        };
        let spared = self.apply(candidate, plan)?;
        if spared.window <= self.target() {
            Ok((less, spared))
        } else {
            Ok((step, applied))
        }
    }

    /// Returns how far a step has to go to reach the target. As far as possible, it reaches `least`.
    ///
    /// Carrying a step out is costly, predicting what it does is less so.
    fn nearest(
        &self,
        candidate: &Candidate,
        (count, least): (usize, u64),
        step: &dyn Fn(usize) -> Step,
    ) -> usize {
        let (mut near, mut far) = ((0, candidate.window), (count, least));
        let mut halves = false;
        while far.0 - near.0 > 1 {
            // What is saved is about proportional to the number of calls, but one call can outweigh the rest.
            let needed = near.1.saturating_sub(self.target()) as f64;
            let part = needed / near.1.saturating_sub(far.1).max(1) as f64;
            let part = if halves { 0.5 } else { part };
            let middle = near.0 + ((far.0 - near.0) as f64 * part) as usize;
            let middle = middle.clamp(near.0 + 1, far.0 - 1);
            let plan = self.plan(candidate, &step(middle));
            let window = plan.map_or(candidate.window, |plan| self.predict(candidate, &plan));
            if window <= self.target() {
                far = (middle, window);
            } else {
                near = (middle, window);
            }
            halves = !halves;
        }
        far.0
    }

    /// Returns how far a strategy can go, and the step that goes so far.
    fn extent(&self, strategy: Strategy, session: &Session, calls: &CallFacts) -> Extent {
        let make = match strategy {
            Strategy::Outputs(kind) => {
                let ids = calls.outputs(kind);
                let count = ids.len();
                let step = move |n: usize| Step::Outputs {
                    kind,
                    ids: ids[..n].to_vec(),
                };
                return (count, Box::new(step));
            }
            Strategy::Calls => {
                let ids = calls.removable();
                let count = ids.len();
                let step = move |n: usize| Step::Calls {
                    ids: ids[..n].to_vec(),
                };
                return (count, Box::new(step));
            }
            Strategy::Images => Step::Images,
            Strategy::Thinking => Step::Thinking,
        };
        let keep_last = self.protection.turns;
        let (first, last) = self.old_turns(session);
        let span = move |n: usize| TurnSpan {
            first,
            last: first + n as u32 - 1,
            keep_last,
        };
        let count = (last + 1).saturating_sub(first) as usize;
        (count, Box::new(move |n| make(span(n))))
    }

    /// Returns the first turn that is shown and the last one without a protected part. There is no such turn if the first
    /// is greater.
    pub(super) fn old_turns(&self, session: &Session) -> (u32, u32) {
        let window = session.graph().window_start();
        let at = session.turns().at_position(window);
        // After a boundary, its turn may continue or be over.
        let over = session.turns().get(at).is_some_and(|turn| {
            let rest = &session.graph().path()[window as usize..turn.path.1 as usize];
            window > 0
                && rest
                    .iter()
                    .all(|&i| session.entry(i).kind != Kind::Assistant)
        });
        let first = (at + u32::from(over)).max(1);
        let last = (session.turns().len() as u32).saturating_sub(self.protection.turns);
        (first, last)
    }
}

/// Returns how far a step has to go to reach the last turn that it changes.
fn useful(step: &Step, plan: &Plan) -> Option<usize> {
    let first = match step {
        Step::Thinking(span) | Step::Images(span) => span.first,
        Step::Hidden { .. } | Step::Outputs { .. } | Step::Calls { .. } | Step::Compact { .. } => {
            return None;
        }
    };
    let last = plan.changes.iter().filter_map(|c| c.turn).max()?;
    Some((last.checked_sub(first)? + 1) as usize)
}
