//! Searches for the least harmful steps.

use std::cell::{OnceCell, RefCell};
use std::sync::Arc;

use rustc_hash::FxHashMap;

use crate::ops::known::Known;
use crate::session::Session;
use crate::surgery::{Detail, Forecast, Plan, PlanError, Refusal, Why};
use crate::window::{Calibration, EntryWeights};

use super::call_facts::CallFacts;
use super::compaction::{Cuts, QuoteSizes};
use super::immovable::Immovable;
use super::ladder::Effort;
use super::protection::Protection;
use super::step::Step;
use super::{ChosenStep, Trim};

/// How much of the conversation's room in the budget is protected by default, in percent: as much as possible of these.
pub(super) const SHARES: [u32; 3] = [30, 10, 0];

/// In how many turns at the end data that the model is not shown stays by default: Claude Code shows it to people.
const HIDDEN_KEPT: u32 = 3;

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
pub(super) struct Applied {
    session: Session,
    weights: EntryWeights,
    pub(super) window: u64,
}

/// A session that is searched for steps.
pub(super) struct Search<'a> {
    pub(super) trim: Trim,
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
    pub(super) calls: OnceCell<CallFacts>,
    /// The places at which a digest can end, once they are needed.
    cuts: OnceCell<Cuts>,
    /// The words of the person that a digest quotes, once they are needed.
    pub(super) quotes: OnceCell<QuoteSizes>,
    /// The compactions that were planned, by their positions and the sizes of their digests.
    pub(super) compactions: RefCell<FxHashMap<(u32, usize), Option<Plan>>>,
    /// What no step of the ladder can remove.
    pub(super) immovable: Immovable,
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
            cuts: OnceCell::new(),
            quotes: OnceCell::new(),
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

    /// Returns the places at which a digest can end.
    pub(super) fn cuts(&self) -> &Cuts {
        self.cuts.get_or_init(|| Cuts::of(self))
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

    pub(super) fn session<'b>(&'b self, candidate: &'b Candidate) -> &'b Session {
        candidate.session.as_ref().unwrap_or(self.original)
    }

    fn weights<'b>(&'b self, candidate: &'b Candidate) -> &'b EntryWeights {
        candidate.weights.as_ref().unwrap_or(&self.weights)
    }

    /// Returns the candidate that every search begins with.
    pub(super) fn start(&self) -> Result<Candidate, Refusal> {
        self.without_hidden(self.untouched())
    }

    pub(super) fn untouched(&self) -> Candidate {
        Candidate {
            session: None,
            weights: None,
            steps: Vec::new(),
            window: self.window(),
        }
    }

    /// Removes data that the model is not shown, if that was asked for.
    pub(super) fn without_hidden(&self, mut candidate: Candidate) -> Result<Candidate, Refusal> {
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
    pub(super) fn plan(&self, candidate: &Candidate, step: &Step) -> Option<Plan> {
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
    pub(super) fn predict(&self, candidate: &Candidate, plan: &Plan) -> u64 {
        let session = self.session(candidate);
        let change = Forecast::of(session, self.weights(candidate), plan).window;
        let window = candidate.window as f64 + self.calibration.tokens(change);
        window.max(0.0) as u64
    }

    /// Carries a plan out.
    pub(super) fn apply(&self, candidate: &Candidate, mut plan: Plan) -> Result<Applied, Refusal> {
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

    pub(super) fn add(&self, candidate: &mut Candidate, step: Step, applied: Applied) {
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
}

fn bug(error: PlanError) -> Refusal {
    Refusal {
        why: Why::Failed,
        ..Refusal::new("bug", error.to_string(), "")
    }
}
