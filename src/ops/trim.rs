//! The least harmful way under a budget of tokens.

use crate::human::tokens;
use crate::session::Session;
use crate::surgery::{Detail, PlanError, Refusal, Why};
use crate::transcript::Kind;
use crate::window::{Calibration, EntryWeights};

use super::superseded_reads::outdone;
use super::token_count::TokenCount;
use super::trim_step::{Reach, Step};
use crate::surgery::Forecast;

/// Sizes of a digest, tried in turn where the budget leaves little room.
const DIGESTS: [usize; 3] = [4_000, 1_000, SMALLEST];

/// The smallest digest that still says something.
const SMALLEST: usize = 300;

/// Finds what has to go for a session to fit a budget.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Trim {
    /// The tokens that the window may take.
    pub to: TokenCount,
    /// How many turns at the end are left alone.
    pub keep_last: u32,
    /// Whether what the model is not shown goes too.
    pub disk: bool,
}

/// One step that was chosen, and what it gives.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Taken {
    /// The step.
    pub step: Step,
    /// The window before and after it, in tokens.
    pub window: (u64, u64),
    /// The file before and after it, in bytes.
    pub bytes: (u64, u64),
}

/// The way that was found.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Trimmed {
    /// The steps, in the order in which they are done; none if there is nothing to do.
    pub steps: Vec<Taken>,
    /// The window as it is, in tokens.
    pub before: u64,
    /// The window as it will be.
    pub after: u64,
}

impl Trimmed {
    /// The way as a plan's file.
    pub fn plan_file(&self) -> String {
        let steps = self.steps.iter().map(|taken| {
            let (words, after) = (taken.step.words(), tokens(taken.window.1));
            format!("# {words}: window ~{after}\n{}", taken.step.toml())
        });
        steps.collect::<Vec<_>>().join("\n")
    }
}

impl Trim {
    /// Finds the way; a refusal if there is none.
    pub fn find(&self, session: &Session) -> Result<Trimmed, Refusal> {
        let search = Search::new(*self, session);
        let before = search.measure.window();
        let mut way = search.start()?;
        if before > self.to.0 {
            way = match search.climb(way, Care::Full)? {
                way if way.window <= self.to.0 => way,
                // What is compacted needs no other harm done to it, so that comes first.
                short => search
                    .compact()?
                    .ok_or_else(|| self.refusal(session, before, short.window))?,
            };
        }
        Ok(Trimmed {
            steps: way.steps,
            before,
            after: way.window,
        })
    }

    /// Says by how much it falls short, and what would do.
    fn refusal(&self, session: &Session, before: u64, short: u64) -> Refusal {
        let least = self.least(session, short);
        let (to, keep) = (self.to.0, self.keep_last);
        let count = session.turns().len() as u32;
        let message = if keep >= count {
            format!(
                "the window takes about {} tokens, {} more than {}, and all of its turns ({count}) are kept as they are",
                tokens(before),
                tokens(before - to),
                tokens(to)
            )
        } else {
            let but = match keep {
                0 => String::new(),
                1 => " but the last one".to_owned(),
                n => format!(" but the last {n}"),
            };
            format!(
                "even with all turns{but} compacted the window would take about {} tokens, {} more than {}",
                tokens(least),
                tokens(least.saturating_sub(to).max(1)),
                tokens(to)
            )
        };
        let fewer = (0..keep.min(count)).rev().find_map(|keep_last| {
            let other = Self { keep_last, ..*self };
            let window = other.least(session, before);
            (window <= to).then(|| {
                format!(
                    "keep fewer turns: --keep-last {keep_last} gets it to about {}",
                    tokens(window)
                )
            })
        });
        // A round number that is surely enough.
        let enough = least.div_ceil(1_000) + 1;
        let higher = format!("a higher budget: --to {enough}k");
        let hint = match fewer {
            Some(fewer) => format!("{fewer}; or {higher}"),
            None => higher,
        };
        Refusal::new("over-budget", message, hint)
    }

    /// The smallest window that can be had.
    fn least(&self, session: &Session, otherwise: u64) -> u64 {
        let search = Search::new(
            Self {
                to: TokenCount(0),
                ..*self
            },
            session,
        );
        let mut least = otherwise;
        if let Ok(way) = search.start().and_then(|w| search.climb(w, Care::None)) {
            least = least.min(way.window);
        }
        if let Some((_, last)) = search.compactable()
            && let Ok(Some(way)) = search.compacted(last, SMALLEST, Care::None)
        {
            least = least.min(way.window);
        }
        least
    }
}

/// How a search goes about its steps.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Care {
    /// Each step goes only as far as it has to.
    Full,
    /// Each step goes as far as it can, to see where that leads.
    None,
}

/// Steps that were chosen so far, and where they lead.
struct Way {
    /// What the steps made of the session; `None` while there are none.
    session: Option<Session>,
    /// What its entries weigh.
    ledger: Option<EntryWeights>,
    steps: Vec<Taken>,
    window: u64,
}

/// What a step would do.
struct Foreseen {
    window: u64,
    /// The last turn that it would do something to.
    last_turn: Option<u32>,
}

/// What a step makes of a session.
struct Made {
    session: Session,
    ledger: EntryWeights,
    window: u64,
}

/// What can be done to a session, less harmful first.
#[derive(Debug, Clone, Copy)]
enum Rung {
    Thinking,
    Reads,
    Large,
    Images,
    Outputs,
    Calls,
}

const LADDER: [Rung; 6] = [
    Rung::Thinking,
    Rung::Reads,
    Rung::Large,
    Rung::Images,
    Rung::Outputs,
    Rung::Calls,
];

struct Search<'a> {
    trim: Trim,
    original: &'a Session,
    /// What the original's entries weigh.
    ledger: EntryWeights,
    measure: Calibration,
    /// What is aimed at: the budget, less what the estimate may be off.
    target: u64,
}

impl<'a> Search<'a> {
    fn new(trim: Trim, original: &'a Session) -> Self {
        let ledger = EntryWeights::of(original);
        let measure = Calibration::by(original, &ledger);
        let certain = measure.measured && measure.recorded.is_some();
        let margin = trim.to.0 / if certain { 50 } else { 20 };
        Self {
            trim,
            original,
            ledger,
            measure,
            target: trim.to.0 - margin,
        }
    }

    fn session<'b>(&'b self, way: &'b Way) -> &'b Session {
        way.session.as_ref().unwrap_or(self.original)
    }

    /// The session of a way, with its weights.
    fn weighed<'b>(&'b self, way: &'b Way) -> (&'b Session, &'b EntryWeights) {
        let ledger = way.ledger.as_ref().unwrap_or(&self.ledger);
        (self.session(way), ledger)
    }

    /// Where every way begins.
    fn start(&self) -> Result<Way, Refusal> {
        let way = Way {
            session: None,
            ledger: None,
            steps: Vec::new(),
            window: self.measure.window(),
        };
        self.without_hidden(way)
    }

    /// Drops what is not shown, where that was asked for.
    fn without_hidden(&self, mut way: Way) -> Result<Way, Refusal> {
        if self.trim.disk {
            let step = Step::Hidden {
                keep_last: self.trim.keep_last,
            };
            if let Some(made) = self.take(self.weighed(&way), &step)? {
                self.add(&mut way, step, made);
            }
        }
        Ok(way)
    }

    /// What a step would do, about; `None` if nothing.
    fn foresee(&self, way: &Way, step: &Step) -> Option<Foreseen> {
        let session = self.session(way);
        let plan = step.transform().plan(session, Detail::Full).ok();
        let plan = plan.filter(|p| !p.is_empty())?;
        let ledger = way.ledger.as_ref().unwrap_or(&self.ledger);
        let change = Forecast::of(session, ledger, &plan).window;
        Some(Foreseen {
            window: (way.window as f64 + self.measure.tokens(change)).max(0.0) as u64,
            last_turn: plan.changes.iter().filter_map(|c| c.turn).max(),
        })
    }

    /// What a step makes of a session, and its window; `None` if it does nothing.
    fn take(
        &self,
        (session, ledger): (&Session, &EntryWeights),
        step: &Step,
    ) -> Result<Option<Made>, Refusal> {
        let Some(mut plan) = step
            .transform()
            .plan(session, Detail::None)
            .ok()
            .filter(|p| !p.is_empty())
        else {
            return Ok(None);
        };
        let (document, lines) = plan.apply(session).map_err(bug)?;
        let next = session.derived(document, &lines);
        let ledger = ledger.derived(session, &next, &lines);
        let window = self.measure.window_of(&Calibration::by(&next, &ledger));
        Ok(Some(Made {
            session: next,
            ledger,
            window,
        }))
    }

    fn add(&self, way: &mut Way, step: Step, made: Made) {
        let bytes = self.session(way).document().len();
        way.steps.push(Taken {
            step,
            window: (way.window, made.window),
            bytes: (bytes, made.session.document().len()),
        });
        way.window = made.window;
        way.session = Some(made.session);
        way.ledger = Some(made.ledger);
    }

    /// Goes up the ladder until the target is reached, or to its end.
    fn climb(&self, mut way: Way, care: Care) -> Result<Way, Refusal> {
        for rung in LADDER {
            if way.window <= self.target {
                break;
            }
            let session = self.session(&way);
            let (count, step) = self.extents(rung, session);
            if count == 0 {
                continue;
            }
            // Carrying a step out is costly, foreseeing what it does is not.
            let most = self.foresee(&way, &step(count));
            let Some(most) = most.filter(|m| m.window < way.window) else {
                continue;
            };
            let enough = most.window <= self.target;
            let far = match (care, enough) {
                (Care::None, _) => count,
                (Care::Full, true) => self.nearest(&way, count, &step),
                (Care::Full, false) => useful(&step(count), most.last_turn).unwrap_or(count),
            };
            // What was foreseen may be a token off.
            for far in far..=count {
                let step = step(far);
                let Some(made) = self.take(self.weighed(&way), &step)? else {
                    continue;
                };
                if !enough || made.window <= self.target || far == count {
                    if made.window < way.window {
                        self.add(&mut way, step, made);
                    }
                    break;
                }
            }
        }
        Ok(way)
    }

    /// How far a step has to go to reach the target, if it gets there at all.
    fn nearest(&self, way: &Way, count: usize, step: &dyn Fn(usize) -> Step) -> usize {
        let (mut near, mut far) = (0, count);
        while far - near > 1 {
            let middle = near.midpoint(far);
            match self.foresee(way, &step(middle)) {
                Some(seen) if seen.window <= self.target => far = middle,
                _ => near = middle,
            }
        }
        far
    }

    /// How far a rung can go, and the step that goes so far.
    fn extents(&self, rung: Rung, session: &Session) -> (usize, Box<dyn Fn(usize) -> Step>) {
        let keep_last = self.trim.keep_last;
        let (first, last) = self.old_turns(session);
        if let Rung::Reads = rung {
            let ids = outdone(session, last);
            return (
                ids.len(),
                Box::new(move |n| Step::Reads {
                    ids: ids[..n].to_vec(),
                    keep_last,
                }),
            );
        }
        let make = match rung {
            Rung::Thinking | Rung::Reads => Step::Thinking,
            Rung::Large => Step::Large,
            Rung::Images => Step::Images,
            Rung::Outputs => Step::Outputs,
            Rung::Calls => Step::Calls,
        };
        let reach = move |n: usize| Reach {
            first,
            last: first + n as u32 - 1,
            keep_last,
        };
        (
            (last + 1).saturating_sub(first) as usize,
            Box::new(move |n| make(reach(n))),
        )
    }

    /// The first turn that is shown and the last that is not kept; the first is the greater one if
    /// there is none.
    fn old_turns(&self, session: &Session) -> (u32, u32) {
        let window = session.graph().window_start();
        let at = session.turns().at_position(window);
        // Behind a boundary the turn may go on, or be over.
        let over = session.turns().get(at).is_some_and(|turn| {
            let rest = &session.graph().path()[window as usize..turn.path.1 as usize];
            window > 0
                && rest
                    .iter()
                    .all(|&i| session.entries()[i as usize].kind != Kind::Assistant)
        });
        let first = (at + u32::from(over)).max(1);
        let last = (session.turns().len() as u32).saturating_sub(self.trim.keep_last);
        (first, last)
    }

    /// The turns that a compaction can end with.
    fn compactable(&self) -> Option<(u32, u32)> {
        let (first, last) = self.old_turns(self.original);
        (first <= last).then_some((first, last))
    }

    /// Compacts the turns up to one, then does with the rest what has to be done.
    fn compacted(&self, at: u32, size: usize, care: Care) -> Result<Option<Way>, Refusal> {
        let step = Step::Compact {
            first: self.old_turns(self.original).0,
            at,
            max_tokens: size,
        };
        let Some(made) = self.take((self.original, &self.ledger), &step)? else {
            return Ok(None);
        };
        let mut way = Way {
            session: None,
            ledger: None,
            steps: Vec::new(),
            window: self.measure.window(),
        };
        self.add(&mut way, step, made);
        self.climb(self.without_hidden(way)?, care).map(Some)
    }

    /// Compacts as few turns as possible.
    fn compact(&self) -> Result<Option<Way>, Refusal> {
        let Some((first, last)) = self.compactable() else {
            return Ok(None);
        };
        for size in DIGESTS {
            let Some(most) = self.compacted(last, size, Care::None)? else {
                continue;
            };
            if most.window > self.trim.to.0 {
                continue;
            }
            let enough = most.window.max(self.target);
            let (mut near, mut far) = (first - 1, last);
            while far - near > 1 {
                let middle = near.midpoint(far);
                match self.compacted(middle, size, Care::None)? {
                    Some(way) if way.window <= enough => far = middle,
                    _ => near = middle,
                }
            }
            let way = self.compacted(far, size, Care::Full)?;
            return Ok(way.filter(|w| w.window <= self.trim.to.0));
        }
        Ok(None)
    }
}

/// How far a step has to go to reach the last turn that it does something to.
fn useful(step: &Step, last_turn: Option<u32>) -> Option<usize> {
    let first = match step {
        Step::Thinking(reach)
        | Step::Large(reach)
        | Step::Images(reach)
        | Step::Outputs(reach)
        | Step::Calls(reach) => reach.first,
        Step::Hidden { .. } | Step::Reads { .. } | Step::Compact { .. } => return None,
    };
    Some((last_turn?.checked_sub(first)? + 1) as usize)
}

fn bug(error: PlanError) -> Refusal {
    Refusal {
        why: Why::Failed,
        ..Refusal::new("bug", error.to_string(), "")
    }
}
