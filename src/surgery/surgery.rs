//! The one way through: a session, the transforms that change it, the result, and the judge.

use crate::document::{Document, LineMap};
use crate::session::Session;
use crate::threads::joined;
use crate::transcript::{Id, Kind};
use crate::window::Calibration;

use super::conversation::{Expected, Intent};
use super::copy_names::CopyNames;
use super::figures::Figures;
use super::finish::{Finish, leads_in_time};
use super::plan::PlanError;
use super::record::Record;
use super::refusal::Refusal;
use super::transform::{Detail, Reach, Transform};
use super::verify::Faults;

/// An operation on one session, before it is carried out.
///
/// ```
/// use ccsurgery::{Session, Surgery, ops::StripThinking};
///
/// # fn main() -> Result<(), Box<dyn std::error::Error>> {
/// let session = Session::from_bytes(include_bytes!("../../fixtures/demo.jsonl").to_vec());
/// let operated = Surgery::on(session).then(StripThinking::default()).operate()?;
/// println!("{} changes", operated.record().changes.len());
/// let verified = operated.verify()?;
/// assert!(verified.session().turns().len() > 0);
/// # Ok(())
/// # }
/// ```
pub struct Surgery<'a> {
    session: Session,
    steps: Vec<Box<dyn Transform + 'a>>,
    finish: Finish,
    detail: Detail,
    keep_original: bool,
}

/// Why an operation did not come about. Nothing was changed.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum SurgeryError {
    /// A transform declined.
    #[error(transparent)]
    Refused(#[from] Refusal),
    /// A plan contradicts itself, which is a bug.
    #[error(transparent)]
    Plan(#[from] PlanError),
}

impl<'a> Surgery<'a> {
    /// Begins an operation on a session.
    pub fn on(session: Session) -> Self {
        Self {
            session,
            steps: Vec::new(),
            finish: Finish::default(),
            detail: Detail::default(),
            keep_original: false,
        }
    }

    /// Adds a transform. Each one works on what the one before it made.
    #[must_use]
    pub fn then(mut self, transform: impl Transform + 'a) -> Self {
        self.steps.push(Box::new(transform));
        self
    }

    /// Adds transforms that were chosen at run time.
    #[must_use]
    pub fn then_all(
        mut self,
        transforms: impl IntoIterator<Item = Box<dyn Transform + 'a>>,
    ) -> Self {
        self.steps.extend(transforms);
        self
    }

    /// Gives the result a title.
    #[must_use]
    pub fn titled(mut self, title: impl Into<String>) -> Self {
        self.finish.title = Some(title.into());
        self
    }

    /// Makes the result a copy of the session: paths of its files become those of the copy's.
    ///
    /// The entries get the ids of [`FreshIds`](super::FreshIds) when the copy is written.
    #[must_use]
    pub fn as_copy(mut self, names: CopyNames) -> Self {
        self.finish.copy = Some(names);
        self
    }

    /// Sets how much of what happens is recorded; everything by default.
    #[must_use]
    pub fn recording(mut self, detail: Detail) -> Self {
        self.detail = detail;
        self
    }

    /// Keeps the session as it was beside the result, for a comparison. Otherwise only one of them is held in
    /// memory at a time.
    #[must_use]
    pub fn keeping_original(mut self) -> Self {
        self.keep_original = true;
        self
    }

    /// Carries out the transforms, and ends the transcript as all clients need it. Nothing is written.
    ///
    /// # Errors
    /// Fails if a transform declines; the [`Refusal`] says why, and what can be done instead.
    pub fn operate(self) -> Result<Operated, SurgeryError> {
        let mut record = Record::default();
        let mut steps = self.steps.iter().map(|step| &**step);
        let survey = Survey::of(&self.session);
        let (first, examined) = examine_while(&self.session, |begins| {
            next_step(&self.session, &mut steps, self.detail, &mut record, begins)
        });
        let Examined {
            weight,
            mut baseline,
            mut expected,
        } = examined;
        let before = Figures::of(&self.session, weight.window());
        let mut held = Held {
            original: Some(self.session),
            current: None,
            keep_original: self.keep_original,
        };
        let mut step = first?;
        let mut rearranged = false;
        while let Some(made) = step {
            rearranged |= made.reach == Reach::Rearranges;
            let next = held.advance(made.document, &made.lines);
            baseline = baseline.with_brought(made.brought);
            let lifted = next.graph().window_start() < made.window_start;
            if made.reach != Reach::Narrows || lifted {
                baseline = baseline.with_revealed(next);
            }
            if let Some(expected) = &mut expected {
                expected.follow(made.intent, next, made.reach);
            }
            step = next_step(next, &mut steps, self.detail, &mut record, || ())?;
        }
        let transformed = held.current.is_some();
        let mut window = (weight.window(), weight.window());
        if transformed || self.finish.is_asked_for() {
            let mut finish = self.finish;
            survey.complete(&mut finish);
            if let Some(current) = &held.current {
                let after = Calibration::of(current);
                window.1 = weight.window_of(&after);
                finish.overstated = weight.overstated(&after);
            }
            let mut plan = finish.plan(held.current_or_original(), self.detail)?;
            if !transformed && plan.fates().next().is_some() {
                let session = held.current_or_original();
                (baseline, expected) = (Faults::of(session), Some(Expected::of(session)));
            }
            if !plan.is_empty() {
                let (document, lines) = plan.apply(held.current_or_original())?;
                record.absorb(&mut plan);
                held.advance(document, &lines);
            }
        }
        let (original, result) = held.end();
        Ok(Operated {
            figures: (before, Figures::of(&result, window.1)),
            result,
            original,
            record,
            transformed,
            expected,
            baseline,
            rearranged,
        })
    }
}

/// What the finishing touches need to know of the original.
struct Survey {
    names_leaf: bool,
    leaf: Option<Id>,
    leads_in_time: bool,
}

impl Survey {
    fn of(session: &Session) -> Self {
        let mut heads = session.heads().iter();
        let leaf = session.graph().leaf();
        Self {
            names_leaf: heads.any(|head| head.kind == Kind::LastPrompt),
            leaf: leaf.map(|i| session.entry(i).uuid),
            leads_in_time: leads_in_time(session),
        }
    }

    fn complete(&self, finish: &mut Finish) {
        finish.name_leaf = self.names_leaf;
        finish.leaf_was = self.leaf;
        finish.led_in_time = self.leads_in_time;
    }
}

/// What is found out about the original while the first transform plans.
struct Examined {
    weight: Calibration,
    baseline: Faults,
    /// `None` if no transform changes anything.
    expected: Option<Expected>,
}

/// Weighs a session while `work` runs, and examines it once `work` calls the function that it is given.
fn examine_while<T>(session: &Session, work: impl FnOnce(&mut dyn FnMut()) -> T) -> (T, Examined) {
    std::thread::scope(|scope| {
        let weight = scope.spawn(|| Calibration::of(session));
        let mut examined = None;
        let outcome = work(&mut || {
            examined =
                Some(scope.spawn(|| rayon::join(|| Faults::of(session), || Expected::of(session))));
        });
        let (baseline, expected) = match examined.map(joined) {
            Some((baseline, expected)) => (baseline, Some(expected)),
            None => (Faults::default(), None),
        };
        let examined = Examined {
            weight: joined(weight),
            baseline,
            expected,
        };
        (outcome, examined)
    })
}

/// What a transform made of a session.
struct Step {
    document: Document,
    lines: LineMap,
    intent: Intent,
    reach: Reach,
    /// The faults that inserted lines have already.
    brought: Faults,
    /// The position of the live path from which on the model was shown it before.
    window_start: u32,
}

/// Carries out the next transform that has something to do, and calls `begins` if there is one.
fn next_step<'t>(
    session: &Session,
    steps: &mut impl Iterator<Item = &'t (dyn Transform + 't)>,
    detail: Detail,
    record: &mut Record,
    begins: impl FnOnce(),
) -> Result<Option<Step>, SurgeryError> {
    for transform in steps {
        let mut plan = transform.plan(session, detail)?;
        if plan.is_empty() {
            record.warnings.append(&mut plan.warnings);
            continue;
        }
        begins();
        plan.settle_copies(session);
        let intent = Intent::of(session, &plan);
        let (document, lines) = plan.apply(session)?;
        record.absorb(&mut plan);
        return Ok(Some(Step {
            document,
            lines,
            intent,
            reach: transform.reach(),
            brought: plan.take_brought(),
            window_start: session.graph().window_start(),
        }));
    }
    Ok(None)
}

/// The session as it was, and what became of it so far. Unless both are wanted, only one of them is held.
struct Held {
    original: Option<Session>,
    current: Option<Session>,
    keep_original: bool,
}

impl Held {
    fn current_or_original(&self) -> &Session {
        let held = self.current.as_ref().or(self.original.as_ref());
        held.expect("one of the two is always held")
    }

    /// Replaces the current session by what a plan made of it.
    fn advance(&mut self, document: Document, lines: &LineMap) -> &Session {
        let next = match (self.current.take(), &self.original) {
            (Some(current), _) => current.derive(document, lines),
            (None, Some(original)) if self.keep_original => original.derived(document, lines),
            (None, _) => match self.original.take() {
                Some(original) => original.derive(document, lines),
                None => Session::new(document),
            },
        };
        self.current.insert(next)
    }

    /// The original, where it was kept and the result is another, and the result.
    fn end(self) -> (Option<Session>, Session) {
        match (self.current, self.original) {
            (Some(current), original) => (original, current),
            (None, original) => (None, original.unwrap_or_default()),
        }
    }
}

/// The result of an operation, not yet judged and not yet written.
#[derive(Debug)]
pub struct Operated {
    result: Session,
    original: Option<Session>,
    record: Record,
    figures: (Figures, Figures),
    transformed: bool,
    /// The conversation that was promised; `None` where no transform changed anything.
    pub(super) expected: Option<Expected>,
    /// The faults that the original has.
    pub(super) baseline: Faults,
    /// Whether a transform may make another path or another order the conversation, as repairs do.
    pub(super) rearranged: bool,
}

impl Operated {
    /// The session that the operation made.
    pub fn session(&self) -> &Session {
        &self.result
    }

    /// The session as it was, if [`Surgery::keeping_original`] asked for it and the result is another.
    pub fn original(&self) -> Option<&Session> {
        self.original.as_ref()
    }

    /// What was done.
    pub fn record(&self) -> &Record {
        &self.record
    }

    /// The figures of the session before and after.
    pub fn figures(&self) -> (Figures, Figures) {
        self.figures
    }

    /// Whether a transform changed the transcript. A title or fresh ids alone do not count.
    pub fn is_transformed(&self) -> bool {
        self.transformed
    }
}
