//! The last resort: a digest in place of the oldest part, which may end inside a turn.

use crate::ops::compact::{Compact, Cut, step_starts};
use crate::ops::digest::{BYTES_PER_TOKEN, quote_sizes};
use crate::session::Session;
use crate::surgery::{Detail, Refusal, Transform};

use super::ladder::Effort;
use super::search::{Candidate, Search};
use super::step::Step;

/// Sizes in tokens of what a digest has beside the words of the person, tried in this order.
const DIGESTS: [usize; 3] = [4_000, 1_000, SMALLEST_DIGEST];

/// The smallest size that is still useful, in tokens.
const SMALLEST_DIGEST: usize = 300;

/// The room in tokens from which on it is worth making a digest anew.
const ROOM: usize = 100;

/// Whether a digest is made to learn its size.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Digest {
    /// It is made, which reads all that it is made of.
    Made,
    /// It is assumed to fill its room, which nearly all do.
    Assumed,
}

/// The places at which a digest can end, in order.
pub(super) struct Cuts(Vec<Cut>);

impl Cuts {
    /// Lists the ends of turns and the places between the steps of turns, up to the part that is protected.
    pub(super) fn of(search: &Search<'_>) -> Self {
        let session = search.original;
        let turns = session.turns();
        let from = session.graph().window_start();
        let to = search.protection.from;
        let count = turns.len() as u32;
        // The last turn is not compacted as a whole unless someone asks for it, nor is one with calls that still run.
        let spared = search.trim.protects_by_default() || session.unfinished_turn().is_some();
        let last = count - u32::from(spared).min(count);
        let ends = (1..=last).filter_map(|turn| Cut::after_turn(session, turn));
        let steps = step_starts(session).into_iter();
        let steps = steps.filter_map(|step| Cut::before(session, step));
        let mut cuts: Vec<Cut> = ends.chain(steps).collect();
        cuts.retain(|cut| cut.position() > from && cut.position() <= to);
        cuts.sort_unstable_by_key(|cut| cut.position());
        Self(cuts)
    }
}

/// The bytes that a digest quotes in full, by where it ends.
pub(super) struct QuoteSizes(Vec<(u32, usize)>);

impl QuoteSizes {
    /// Returns the bytes that a digest of everything before a position of the live path quotes.
    fn before(&self, position: u32) -> usize {
        let quotes = self.0.iter().take_while(|(at, _)| *at < position);
        quotes.map(|(_, bytes)| bytes).sum()
    }
}

impl Search<'_> {
    /// Returns the bytes that a digest with this end quotes in full.
    fn quoted(&self, cut: Cut) -> usize {
        if self.trim.shorten_words {
            return 0;
        }
        let sizes = || match self.cuts().0.last() {
            Some(&last) => QuoteSizes(quote_sizes(self.original, last)),
            None => QuoteSizes(Vec::new()),
        };
        self.quotes.get_or_init(sizes).before(cut.position())
    }

    /// Makes everything before a cut a digest, then changes the rest as needed.
    fn compacted(
        &self,
        cut: Cut,
        (size, digest): (usize, Digest),
        effort: Effort,
    ) -> Result<Option<Candidate>, Refusal> {
        let step = Step::Compact {
            first: self.old_turns(self.original).0.min(cut.turn()),
            at: cut.turn(),
            before: first_kept(self.original, cut),
            max_tokens: size,
            whole_words: !self.trim.shorten_words,
        };
        let mut candidate = self.untouched();
        let plan = match digest {
            Digest::Made => {
                let mut planned = self.compactions.borrow_mut();
                let plan = planned.entry((cut.position(), size));
                plan.or_insert_with(|| self.plan(&candidate, &step)).clone()
            }
            Digest::Assumed => assumed_digest(&step, size * BYTES_PER_TOKEN + self.quoted(cut))
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

    /// Compacts as little as possible.
    pub(super) fn compact(&self) -> Result<Option<Candidate>, Refusal> {
        let cuts = &self.cuts().0;
        let budget = self.trim.to.0;
        let Some(last) = cuts.len().checked_sub(1) else {
            return Ok(None);
        };
        if self.immovable.exceeds(cuts[last].position(), budget) {
            return Ok(None);
        }
        for (n, size) in DIGESTS.into_iter().enumerate() {
            let made = (size, Digest::Made);
            let most = self.compacted(cuts[last], made, Effort::Most)?;
            let Some(most) = most.filter(|c| c.window <= budget) else {
                continue;
            };
            // The next larger size is too large, so everything must be compacted. The digest fills what is left.
            let room = self.target().saturating_sub(most.window) as usize * 9 / 10;
            if n > 0 && room > ROOM {
                let larger = (size + room, Digest::Made);
                let filled = self.compacted(cuts[last], larger, Effort::Least)?;
                if let Some(filled) = filled.filter(|c| c.window <= budget) {
                    return Ok(Some(filled));
                }
            }
            let enough = most.window.max(self.target());
            let far = self.first_cut(most.window, enough, size)?;
            let far = last_before(far, |at| {
                let candidate = self.compacted(cuts[at], made, Effort::Most)?;
                Ok(candidate.is_some_and(|c| c.window <= enough))
            })?;
            return self.least_after(far, made);
        }
        Ok(None)
    }

    /// Compacts up to the first of these cuts with which the budget is met; the last cut meets it.
    fn least_after(
        &self,
        mut at: usize,
        made: (usize, Digest),
    ) -> Result<Option<Candidate>, Refusal> {
        let cuts = &self.cuts().0;
        let last = cuts.len() - 1;
        let mut distance = 1;
        loop {
            let candidate = self.compacted(cuts[at], made, Effort::Least)?;
            let candidate = candidate.filter(|c| c.window <= self.trim.to.0);
            if candidate.is_some() || at == last {
                return Ok(candidate);
            }
            // A digest can be larger than it was assumed to be.
            at = (at + distance).min(last);
            distance *= 2;
        }
    }

    /// Returns the number of the first cut with which `enough` is reached, where the last one reaches `least`, and so does
    /// every cut after one that does.
    ///
    /// Each attempt costs a pass over the session. What the digest and the steps leave beside the immovable part hardly
    /// depends on the cut, so that an attempt shows about where to try next.
    fn first_cut(&self, least: u64, enough: u64, size: usize) -> Result<usize, Refusal> {
        let cuts = &self.cuts().0;
        let stays = |at: usize| {
            let quoted = self.calibration.text_tokens(self.quoted(cuts[at]));
            self.immovable.after(cuts[at].position()) + quoted as f64
        };
        // The cuts before `near` do not suffice, and `far` does.
        let (mut near, mut far) = (0, cuts.len() - 1);
        let mut besides = least as f64 - stays(far);
        let mut attempts = 0;
        while near < far {
            let fails = |at: &usize| stays(*at) + besides > enough as f64;
            let guess = match attempts % 3 {
                2 => near.midpoint(far),
                _ => (near..far).find(|at| !fails(at)).unwrap_or(far - 1),
            };
            let reached = self.compacted(cuts[guess], (size, Digest::Assumed), Effort::Most)?;
            let window = reached.map(|c| c.window);
            if let Some(window) = window {
                besides = window as f64 - stays(guess);
            }
            if window.is_some_and(|window| window <= enough) {
                far = guess;
            } else {
                near = guess + 1;
            }
            attempts += 1;
        }
        Ok(far)
    }

    /// Returns the smallest window that can be reached.
    pub(super) fn floor(&self) -> u64 {
        let steps = self.start();
        let ladder = steps.and_then(|c| self.apply_ladder(c, Effort::Most));
        let compacted = self.cuts().0.last().and_then(|&cut| {
            let most = self.compacted(cut, (SMALLEST_DIGEST, Digest::Made), Effort::Most);
            most.ok().flatten()
        });
        let reached = ladder.ok().into_iter().chain(compacted);
        reached.map(|c| c.window).min().unwrap_or(self.window())
    }
}

/// Returns the uuid of the first message that is kept, for a cut inside a turn.
fn first_kept(session: &Session, cut: Cut) -> Option<String> {
    let first = session.graph().path().get(cut.position() as usize);
    let first = first.filter(|_| cut.is_inside_turn())?;
    session.uuid(session.entry(*first))
}

/// Returns a compaction whose digest takes as much room as it may.
fn assumed_digest(step: &Step, bytes: usize) -> Compact {
    Compact {
        summary: Some("digest ".repeat(bytes.div_ceil(7))),
        ..step.compaction().unwrap_or_default()
    }
}

/// Returns the first number that suffices, if `far` does and so does every number after one that does. Few attempts are
/// made if it is `far` or shortly before.
fn last_before(
    mut far: usize,
    suffices: impl Fn(usize) -> Result<bool, Refusal>,
) -> Result<usize, Refusal> {
    let mut near = 0;
    let mut distance = 1;
    let mut is_bounded = false;
    while near < far {
        let attempt = if is_bounded {
            near.midpoint(far)
        } else {
            far.saturating_sub(distance).max(near)
        };
        if suffices(attempt)? {
            far = attempt;
            distance *= 2;
        } else {
            near = attempt + 1;
            is_bounded = true;
        }
    }
    Ok(far)
}
