//! Searches for the least harmful steps.

use crate::ops::compact::Compact;
use crate::ops::digest::BYTES_PER_TOKEN;
use crate::session::Session;
use crate::surgery::{Detail, Forecast, PlanError, Refusal, Transform, Why};
use crate::transcript::Kind;
use crate::window::{Calibration, EntryWeights};

use super::call_facts::CallFacts;
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

/// What a step would do.
struct Predicted {
    window: u64,
    /// The last turn that it would change.
    last_turn: Option<u32>,
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
        Self {
            trim,
            original,
            weights,
            calibration,
            protection,
            kept_tokens: keep_tokens,
            target: trim.to.0 - reserve,
        }
    }

    /// Searches the same session with other options, and with another share that is protected by default.
    pub(super) fn again(&self, trim: Trim, share: u32) -> Self {
        let (weights, calibration) = (self.weights.clone(), self.calibration.clone());
        Self::with(trim, self.original, weights, calibration, share)
    }

    /// Returns the least harmful steps that reach the budget, if there are any.
    pub(super) fn find(&self) -> Result<Option<Candidate>, Refusal> {
        let start = self.start()?;
        if start.window <= self.trim.to.0 {
            return Ok(Some(start));
        }
        let candidate = self.apply_ladder(start, Effort::Least)?;
        if candidate.window <= self.trim.to.0 {
            return Ok(Some(candidate));
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
            if let Some(applied) = self.apply(&candidate, &step)? {
                self.add(&mut candidate, step, applied);
            }
        }
        Ok(candidate)
    }

    /// Returns about what a step would do; `None` if nothing.
    fn predict(&self, candidate: &Candidate, step: &Step) -> Option<Predicted> {
        let session = self.session(candidate);
        let detail = match step {
            Step::Images(_) | Step::Thinking(_) => Detail::Full,
            _ => Detail::None,
        };
        let plan = step.transform().plan(session, detail).ok();
        let plan = plan.filter(|p| !p.is_empty())?;
        let change = Forecast::of(session, self.weights(candidate), &plan).window;
        let window = candidate.window as f64 + self.calibration.tokens(change);
        Some(Predicted {
            window: window.max(0.0) as u64,
            last_turn: plan.changes.iter().filter_map(|c| c.turn).max(),
        })
    }

    /// Carries a step out; `None` if it does nothing.
    fn apply(&self, candidate: &Candidate, step: &Step) -> Result<Option<Applied>, Refusal> {
        self.apply_as(candidate, &*step.transform())
    }

    /// Carries a transform out; `None` if it does nothing.
    fn apply_as(
        &self,
        candidate: &Candidate,
        transform: &dyn Transform,
    ) -> Result<Option<Applied>, Refusal> {
        let session = self.session(candidate);
        let plan = transform.plan(session, Detail::None).ok();
        let Some(mut plan) = plan.filter(|p| !p.is_empty()) else {
            return Ok(None);
        };
        let (document, lines) = plan.apply(session).map_err(bug)?;
        let next = session.derived(document, &lines);
        let weights = self.weights(candidate).derived(session, &next, &lines);
        let calibration = Calibration::by(&next, &weights);
        Ok(Some(Applied {
            session: next,
            weights,
            window: self.calibration.window_of(&calibration),
        }))
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
        let calls = CallFacts::of(self.session(&candidate), &self.protection);
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
        // Carrying a step out is costly, predicting what it does is not.
        let Some(most) = self.predict(candidate, &step(count)) else {
            return Ok(());
        };
        let suffices = most.window <= self.target;
        let saved = candidate.window.saturating_sub(most.window);
        if saved == 0 || !suffices && saved * WORTHWHILE < candidate.window {
            return Ok(());
        }
        let first_try = match (effort, suffices) {
            (Effort::Most, _) => count,
            (Effort::Least, true) => self.nearest(candidate, count, &step),
            (Effort::Least, false) => useful(&step(count), most.last_turn).unwrap_or(count),
        };
        // The prediction may be a token off. The distance doubles, so that few steps are carried out.
        let (mut far, mut further) = (first_try, 1);
        loop {
            let step = step(far);
            let applied = self.apply(candidate, &step)?;
            let reached = |a: &Applied| !suffices || a.window <= self.target;
            if far == count || applied.as_ref().is_some_and(reached) {
                if let Some(applied) = applied.filter(|a| a.window < candidate.window) {
                    self.add(candidate, step, applied);
                }
                return Ok(());
            }
            far = (far + further).min(count);
            further *= 2;
        }
    }

    /// Returns how far a step has to go to reach the target, if it can reach it.
    fn nearest(&self, candidate: &Candidate, count: usize, step: &dyn Fn(usize) -> Step) -> usize {
        let (mut near, mut far) = (0, count);
        while far - near > 1 {
            let middle = near.midpoint(far);
            match self.predict(candidate, &step(middle)) {
                Some(predicted) if predicted.window <= self.target => far = middle,
                _ => near = middle,
            }
        }
        far
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
                    .all(|&i| session.entries()[i as usize].kind != Kind::Assistant)
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
        let applied = match digest {
            Digest::Made => self.apply(&candidate, &step)?,
            Digest::Assumed => self.apply_as(&candidate, &assumed_digest(at, size))?,
        };
        let Some(applied) = applied else {
            return Ok(None);
        };
        self.add(&mut candidate, step, applied);
        let candidate = self.without_hidden(candidate)?;
        self.apply_ladder(candidate, effort).map(Some)
    }

    /// Compacts as few turns as possible.
    fn compact(&self) -> Result<Option<Candidate>, Refusal> {
        let Some((first, last)) = self.compactable() else {
            return Ok(None);
        };
        for size in DIGESTS {
            let made = (size, Digest::Made);
            let Some(most) = self.compacted(last, made, Effort::Most)? else {
                continue;
            };
            if most.window > self.trim.to.0 {
                continue;
            }
            let enough = most.window.max(self.target);
            let suffices = |at: u32, digest: Digest| {
                let candidate = self.compacted(at, (size, digest), Effort::Most)?;
                Ok(candidate.is_some_and(|c| c.window <= enough))
            };
            let far = first_turn((first - 1, last), |at| suffices(at, Digest::Assumed))?;
            let far = last_before((first - 1, far), |at| suffices(at, Digest::Made))?;
            let candidate = self.compacted(far, made, Effort::Least)?;
            return Ok(candidate.filter(|c| c.window <= self.trim.to.0));
        }
        Ok(None)
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

/// Returns the first turn after `near` that suffices, if `far` does and so does every turn after one that does.
fn first_turn(
    (mut near, mut far): (u32, u32),
    suffices: impl Fn(u32) -> Result<bool, Refusal>,
) -> Result<u32, Refusal> {
    while far - near > 1 {
        let middle = near.midpoint(far);
        if suffices(middle)? {
            far = middle;
        } else {
            near = middle;
        }
    }
    Ok(far)
}

/// Returns the same as [`first_turn`], with few attempts where it is `far` or shortly before.
fn last_before(
    (mut near, mut far): (u32, u32),
    suffices: impl Fn(u32) -> Result<bool, Refusal>,
) -> Result<u32, Refusal> {
    let mut distance = 1;
    while far - near > 1 {
        let nearer = far.saturating_sub(distance).max(near + 1);
        if !suffices(nearer)? {
            near = nearer;
            break;
        }
        far = nearer;
        distance *= 2;
    }
    first_turn((near, far), suffices)
}

/// Returns how far a step has to go to reach the last turn that it changes.
fn useful(step: &Step, last_turn: Option<u32>) -> Option<usize> {
    let first = match step {
        Step::Thinking(span) | Step::Images(span) => span.first,
        Step::Hidden { .. } | Step::Outputs { .. } | Step::Calls { .. } | Step::Compact { .. } => {
            return None;
        }
    };
    Some((last_turn?.checked_sub(first)? + 1) as usize)
}

fn bug(error: PlanError) -> Refusal {
    Refusal {
        why: Why::Failed,
        ..Refusal::new("bug", error.to_string(), "")
    }
}
