//! Searches for the least harmful steps.

use std::cell::{OnceCell, RefCell};
use std::sync::Arc;

use rustc_hash::FxHashMap;

use crate::ops::compact::Compact;
use crate::ops::digest::BYTES_PER_TOKEN;
use crate::ops::known::Known;
use crate::session::Session;
use crate::surgery::{Detail, Forecast, Plan, PlanError, Refusal, Transform, Why};
use crate::transcript::Kind;
use crate::window::{Calibration, EntryWeights};

use super::call_facts::CallFacts;
use super::immovable::Immovable;
use super::protection::Protection;
use super::step::{OutputKind, Step, TurnSpan};
use super::{ChosenStep, Trim};

/// Sizes of a digest in tokens, tried in this order.
const DIGESTS: [usize; 3] = [4_000, 1_000, SMALLEST_DIGEST];

/// The smallest digest that is still useful, in tokens.
const SMALLEST_DIGEST: usize = 300;

/// How much of the conversation's room in the budget is protected by default, in percent: as much as possible of these.
pub(super) const SHARES: [u32; 3] = [30, 10, 0];

/// In how many turns at the end data that the model is not shown stays by default: Claude Code shows it to people.
const HIDDEN_KEPT: u32 = 3;

/// Steps that save less than this part of the context window are left out, unless they suffice.
const WORTHWHILE: u64 = 500;

/// How far steps go.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Effort {
    /// Only as far as needed.
    Least,
    /// As far as possible, to learn how small the context window can become.
    Most,
}

/// Whether a digest is made to learn its size.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Digest {
    /// It is made, which reads all that it is made of.
    Made,
    /// It is assumed to fill its room, which nearly all do.
    Assumed,
}

/// The steps that were chosen so far, and their result.
pub(super) struct Candidate {
    /// The session after the steps; `None` while there are none.
    session: Option<Session>,
    /// The weights of its entries.
    weights: Option<EntryWeights>,
    pub(super) steps: Vec<ChosenStep>,
    pub(super) window: u64,
}

/// What a step made of a session.
struct Applied {
    session: Session,
    weights: EntryWeights,
    window: u64,
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

/// A session that is searched for steps.
pub(super) struct Search<'a> {
    trim: Trim,
    pub(super) original: &'a Session,
    weights: EntryWeights,
    pub(super) calibration: Calibration,
    pub(super) protection: Protection,
    /// How many of the newest tokens are protected.
    pub(super) kept_tokens: u64,
    /// The window that is aimed at: the budget without the reserve.
    target: u64,
    known: Arc<Known<'a>>,
    /// The calls that may be changed, once they are needed.
    calls: OnceCell<CallFacts>,
    /// The compactions that were planned, by the last turn and the size of the digest.
    compactions: RefCell<FxHashMap<(u32, usize), Option<Plan>>>,
    /// What no step of the ladder can remove.
    immovable: Immovable,
}

impl<'a> Search<'a> {
    pub(super) fn new(trim: Trim, original: &'a Session) -> Self {
        let weights = EntryWeights::of(original);
        let calibration = Calibration::by(original, &weights);
        Self::with(trim, original, weights, calibration, SHARES[0])
    }

    fn with(
        trim: Trim,
        original: &'a Session,
        weights: EntryWeights,
        calibration: Calibration,
        share: u32,
    ) -> Self {
        let is_certain = calibration.measured && calibration.recorded.is_some();
        let reserve = trim.to.0 / if is_certain { 50 } else { 20 };
        let keep_tokens = match (trim.keep_tokens, trim.keep_last) {
            (Some(tokens), _) => tokens.0,
            (None, Some(_)) => 0,
            (None, None) => {
                let room = trim.to.0 as f64 - calibration.constant;
                (room.max(0.0) * f64::from(share) / 100.0) as u64
            }
        };
        let keep_last = trim.keep_last.unwrap_or(0);
        let measures = (&weights, &calibration);
        let protection = Protection::new(original, measures, keep_tokens, keep_last);
        let immovable = Immovable::new(original, measures, &protection);
        Self {
            trim,
            original,
            weights,
            calibration,
            protection,
            kept_tokens: keep_tokens,
            target: trim.to.0 - reserve,
            known: Arc::new(Known::of(original)),
            calls: OnceCell::new(),
            compactions: RefCell::default(),
            immovable,
        }
    }

    /// Searches the same session with other options, and with another share that is protected by default.
    pub(super) fn again(&self, trim: Trim, share: u32) -> Self {
        let (weights, calibration) = (self.weights.clone(), self.calibration.clone());
        Self {
            known: self.known.clone(),
            ..Self::with(trim, self.original, weights, calibration, share)
        }
    }

    /// Returns the least harmful steps that reach the budget, if there are any.
    pub(super) fn find(&self) -> Result<Option<Candidate>, Refusal> {
        let start = self.start()?;
        if start.window <= self.trim.to.0 {
            return Ok(Some(start));
        }
        if !self.immovable.exceeds(0, self.trim.to.0) {
            let candidate = self.apply_ladder(start, Effort::Least)?;
            if candidate.window <= self.trim.to.0 {
                return Ok(Some(candidate));
            }
        }
        // Turns that are compacted need no other change, so compacting is tried on the original.
        self.compact()
    }

    /// Returns the context window of the original.
    pub(super) fn window(&self) -> u64 {
        self.calibration.window()
    }

    /// Returns the window that is aimed at.
    pub(super) fn target(&self) -> u64 {
        self.target
    }

    /// Returns the part of the budget that is not used, because sizes are estimates.
    pub(super) fn reserve(&self) -> u64 {
        self.trim.to.0 - self.target
    }

    fn session<'b>(&'b self, candidate: &'b Candidate) -> &'b Session {
        candidate.session.as_ref().unwrap_or(self.original)
    }

    fn weights<'b>(&'b self, candidate: &'b Candidate) -> &'b EntryWeights {
        candidate.weights.as_ref().unwrap_or(&self.weights)
    }

    /// Returns the candidate that every search begins with.
    fn start(&self) -> Result<Candidate, Refusal> {
        self.without_hidden(self.untouched())
    }

    fn untouched(&self) -> Candidate {
        Candidate {
            session: None,
            weights: None,
            steps: Vec::new(),
            window: self.window(),
        }
    }

    /// Removes data that the model is not shown, if that was asked for.
    fn without_hidden(&self, mut candidate: Candidate) -> Result<Candidate, Refusal> {
        if self.trim.disk {
            let step = Step::Hidden {
                keep_last: self.trim.keep_last.unwrap_or(HIDDEN_KEPT),
            };
            if let Some(plan) = self.plan(&candidate, &step) {
                let applied = self.apply(&candidate, plan)?;
                self.add(&mut candidate, step, applied);
            }
        }
        Ok(candidate)
    }

    /// Plans a step; `None` if it would do nothing.
    fn plan(&self, candidate: &Candidate, step: &Step) -> Option<Plan> {
        let detail = match step {
            // The last turn that they change is in the descriptions.
            Step::Images(_) | Step::Thinking(_) => Detail::Full,
            _ => Detail::None,
        };
        let session = self.session(candidate);
        let plan = step.plan(session, detail, &self.known).ok();
        plan.filter(|p| !p.is_empty())
    }

    /// Returns about how large the window would be after a plan.
    fn predict(&self, candidate: &Candidate, plan: &Plan) -> u64 {
        let session = self.session(candidate);
        let change = Forecast::of(session, self.weights(candidate), plan).window;
        let window = candidate.window as f64 + self.calibration.tokens(change);
        window.max(0.0) as u64
    }

    /// Carries a plan out.
    fn apply(&self, candidate: &Candidate, mut plan: Plan) -> Result<Applied, Refusal> {
        let session = self.session(candidate);
        let (document, lines) = plan.apply(session).map_err(bug)?;
        let next = session.derived(document, &lines);
        let weights = self.weights(candidate).derived(session, &next, &lines);
        let calibration = Calibration::by(&next, &weights);
        Ok(Applied {
            session: next,
            weights,
            window: self.calibration.window_of(&calibration),
        })
    }

    fn add(&self, candidate: &mut Candidate, step: Step, applied: Applied) {
        let bytes = self.session(candidate).document().len();
        candidate.steps.push(ChosenStep {
            step,
            window: (candidate.window, applied.window),
            bytes: (bytes, applied.session.document().len()),
        });
        candidate.window = applied.window;
        candidate.session = Some(applied.session);
        candidate.weights = Some(applied.weights);
    }

    /// Adds steps, least harmful first, until the target is reached or nothing is left to do.
    fn apply_ladder(&self, mut candidate: Candidate, effort: Effort) -> Result<Candidate, Refusal> {
        if candidate.window <= self.target {
            return Ok(candidate);
        }
        let calls = self
            .calls
            .get_or_init(|| CallFacts::of(self.original, &self.protection));
        let calls = calls.shown_in(self.session(&candidate));
        for strategy in LADDER {
            if candidate.window <= self.target {
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
        let suffices = most.window <= self.target;
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
                if applied.window <= self.target {
                    self.add(candidate, step, applied);
                    return Ok(());
                }
            }
            far = (far + further).min(count);
            further *= 2;
        }
        self.add(candidate, step(count), most);
        Ok(())
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
            let needed = near.1.saturating_sub(self.target) as f64;
            let part = needed / near.1.saturating_sub(far.1).max(1) as f64;
            let part = if halves { 0.5 } else { part };
            let middle = near.0 + ((far.0 - near.0) as f64 * part) as usize;
            let middle = middle.clamp(near.0 + 1, far.0 - 1);
            let plan = self.plan(candidate, &step(middle));
            let window = plan.map_or(candidate.window, |plan| self.predict(candidate, &plan));
            if window <= self.target {
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
    fn old_turns(&self, session: &Session) -> (u32, u32) {
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

    /// Returns the turns that a digest can end with.
    fn compactable(&self) -> Option<(u32, u32)> {
        let (first, last) = self.old_turns(self.original);
        // The last turn is not compacted unless someone asks for it.
        let spared = u32::from(self.trim.protects_by_default());
        let last = last.min((self.original.turns().len() as u32).saturating_sub(spared));
        // Calls that still run cannot be summarised.
        let unfinished = self.original.unfinished_turn();
        let last = unfinished.map_or(last, |turn| last.min(turn.saturating_sub(1)));
        (first <= last).then_some((first, last))
    }

    /// Compacts the turns up to one, then changes the rest as needed.
    fn compacted(
        &self,
        at: u32,
        (size, digest): (usize, Digest),
        effort: Effort,
    ) -> Result<Option<Candidate>, Refusal> {
        let step = Step::Compact {
            first: self.old_turns(self.original).0,
            at,
            max_tokens: size,
        };
        let mut candidate = self.untouched();
        let plan = match digest {
            Digest::Made => {
                let mut planned = self.compactions.borrow_mut();
                let plan = planned.entry((at, size));
                plan.or_insert_with(|| self.plan(&candidate, &step)).clone()
            }
            Digest::Assumed => assumed_digest(at, size)
                .plan(self.original, Detail::None)
                .ok()
                .filter(|plan| !plan.is_empty()),
        };
        let Some(plan) = plan else {
            return Ok(None);
        };
        let applied = self.apply(&candidate, plan)?;
        self.add(&mut candidate, step, applied);
        let candidate = self.without_hidden(candidate)?;
        self.apply_ladder(candidate, effort).map(Some)
    }

    /// Compacts as few turns as possible.
    fn compact(&self) -> Result<Option<Candidate>, Refusal> {
        let Some((first, last)) = self.compactable() else {
            return Ok(None);
        };
        let budget = self.trim.to.0;
        if self.immovable.exceeds(self.end(last), budget) {
            return Ok(None);
        }
        for size in DIGESTS {
            let made = (size, Digest::Made);
            let most = self.compacted(last, made, Effort::Most)?;
            let Some(most) = most.filter(|c| c.window <= budget) else {
                continue;
            };
            let enough = most.window.max(self.target);
            let far = self.first_turn((first - 1, last), most.window, enough, size)?;
            let far = last_before((first - 1, far), |at| {
                let candidate = self.compacted(at, made, Effort::Most)?;
                Ok(candidate.is_some_and(|c| c.window <= enough))
            })?;
            let candidate = self.compacted(far, made, Effort::Least)?;
            return Ok(candidate.filter(|c| c.window <= budget));
        }
        Ok(None)
    }

    /// Returns the first turn after `near` with which `enough` is reached, where `far` reaches `least`, and so does every turn
    /// after one that does.
    ///
    /// Each attempt costs a pass over the session. What the digest and the steps leave beside the immovable part hardly
    /// depends on the turn, so that an attempt shows about where to try next.
    fn first_turn(
        &self,
        (mut near, mut far): (u32, u32),
        least: u64,
        enough: u64,
        size: usize,
    ) -> Result<u32, Refusal> {
        let stays = |at: u32| self.immovable.after(self.end(at));
        let mut besides = least as f64 - stays(far);
        let mut attempts = 0;
        while far - near > 1 {
            let fails = |at: &u32| stays(*at) + besides > enough as f64;
            let guess = match attempts % 3 {
                2 => near.midpoint(far),
                _ => (near + 1..far).find(|at| !fails(at)).unwrap_or(far - 1),
            };
            let reached = self.compacted(guess, (size, Digest::Assumed), Effort::Most)?;
            match reached.map(|c| c.window) {
                Some(window) => {
                    besides = window as f64 - stays(guess);
                    if window <= enough {
                        far = guess;
                    } else {
                        near = guess;
                    }
                }
                None => near = guess,
            }
            attempts += 1;
        }
        Ok(far)
    }

    /// Returns the position of the live path at which a turn ends.
    fn end(&self, turn: u32) -> u32 {
        let turn = self.original.turns().get(turn);
        turn.map_or(0, |turn| turn.path.1)
    }

    /// Returns the smallest window that can be reached.
    pub(super) fn floor(&self) -> u64 {
        let steps = self.start();
        let ladder = steps.and_then(|c| self.apply_ladder(c, Effort::Most));
        let compacted = self.compactable().and_then(|(_, last)| {
            let most = self.compacted(last, (SMALLEST_DIGEST, Digest::Made), Effort::Most);
            most.ok().flatten()
        });
        let reached = ladder.ok().into_iter().chain(compacted);
        reached.map(|c| c.window).min().unwrap_or(self.window())
    }
}

/// Returns a compaction whose digest takes as much room as it may.
fn assumed_digest(at: u32, size: usize) -> Compact {
    Compact {
        at: Some(at.into()),
        summary: Some("digest ".repeat((size * BYTES_PER_TOKEN).div_ceil(7))),
        ..Compact::default()
    }
}

/// Returns the first turn after `near` that suffices, if `far` does and so does every turn after one that does. Few attempts
/// are made if it is `far` or shortly before.
fn last_before(
    (mut near, mut far): (u32, u32),
    suffices: impl Fn(u32) -> Result<bool, Refusal>,
) -> Result<u32, Refusal> {
    let mut distance = 1;
    let mut is_bounded = false;
    while far - near > 1 {
        let attempt = if is_bounded {
            near.midpoint(far)
        } else {
            far.saturating_sub(distance).max(near + 1)
        };
        if suffices(attempt)? {
            far = attempt;
            distance *= 2;
        } else {
            near = attempt;
            is_bounded = true;
        }
    }
    Ok(far)
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

fn bug(error: PlanError) -> Refusal {
    Refusal {
        why: Why::Failed,
        ..Refusal::new("bug", error.to_string(), "")
    }
}
