//! Estimates how many tokens of the context window a session takes.
//!
//! The usage of each answer records the true size of the context window at its request. Compared with
//! the weight of what was shown by then, the records show how many tokens this session's content takes,
//! and how many the system prompt and the tools take.

use super::entry_weights::{EntryWeights, entry_weight};
use super::fit::Fit;
use super::measure::Measure;
use super::records::{Record, Records};
use super::usage::recorded_window;
use super::weight::{Weight, text_bytes_per_token};
use crate::session::Session;
use crate::transcript::EntryIx;

/// How many tokens the content of a session takes, by its own records.
#[derive(Debug, Clone, PartialEq)]
pub struct Calibration {
    /// Bytes of text that make a token.
    pub bytes_per_token: f64,
    /// Whether that was measured on this session rather than assumed.
    pub measured: bool,
    /// The tokens of the system prompt, the tools and whatever else is not in the file.
    pub constant: f64,
    /// The number of answers with a record.
    pub records: usize,
    /// The context window at the last answer since the last compaction, as recorded.
    pub recorded: Option<u64>,
    /// The same, as it is estimated; `None` if there is no other record to estimate it by.
    pub estimated: Option<u64>,
    /// Tokens per unit of weight.
    scale: f64,
    /// The weight of what was added since that answer's request.
    since: Weight,
    /// The weight of everything that is shown.
    shown: Weight,
    /// The part of it that the client sends anew once it is no longer shown.
    announced: Weight,
    all_records: Vec<Record>,
    /// The number of records before the last compaction.
    compacted: usize,
    drops_thinking: bool,
}

/// A record that is larger than the context window, and what it should be.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Overstated {
    /// An entry of the answer with the record.
    pub entry: EntryIx,
    /// The context window at its request, as it is now.
    pub window: u64,
    /// The measure by which that was estimated.
    pub(super) measure: Measure,
}

impl Calibration {
    /// Measures a session.
    pub fn of(session: &Session) -> Self {
        Self::by(session, &EntryWeights::of(session))
    }

    /// Returns the context window by the last record and what was added since, without measuring the
    /// session; `None` if no answer that is shown has a record.
    pub fn recorded_at_a_glance(session: &Session) -> Option<u64> {
        let (entries, graph) = (session.entries(), session.graph());
        let path = &graph.path()[graph.window_start() as usize..];
        let entry = |i: &EntryIx| &entries[*i];
        let boundary = path.first().filter(|i| entry(i).is_boundary()).copied();
        let (last, window) = path.iter().enumerate().rev().find_map(|(position, i)| {
            // A preserved message recorded the window before the compaction.
            let preserved = boundary.is_some_and(|b| *i < b);
            let window = recorded_window(session, entry(i)).filter(|_| !preserved);
            window.map(|window| (position, window))
        })?;
        // The lines of an answer share its record, and none of them was shown at its request.
        let message = entry(&path[last]).message_id;
        let of_it = |i: &&EntryIx| entry(i).message_id == message;
        let lines = path[..=last].iter().rev().take_while(of_it).count();
        let since: Weight = path[last + 1 - lines.max(1)..]
            .iter()
            .map(|i| entry_weight(session, entry(i)))
            .sum();
        Some(window + (since.scaled() + since.images) as u64)
    }

    /// Measures a session whose entries are weighed already.
    pub fn by(session: &Session, weights: &EntryWeights) -> Self {
        let records = Records::of(session, weights);
        let fit = Fit::of(&records);
        let last = records.recent().last();
        let estimate = |r: &Record| fit.constant + r.shown.scaled() * fit.scale + r.shown.images;
        let has_others = fit.records > 1;
        Self {
            bytes_per_token: text_bytes_per_token(fit.scale),
            measured: fit.measured,
            constant: fit.constant,
            records: records.all.len(),
            recorded: last.map(|r| r.tokens as u64),
            estimated: last.filter(|_| has_others).map(|r| estimate(r) as u64),
            scale: fit.scale,
            since: records.shown - last.map(|r| r.shown).unwrap_or_default(),
            shown: records.shown,
            announced: records.announced,
            compacted: records.compacted,
            all_records: records.all,
            drops_thinking: weights.dropped_thinking().drops(),
        }
    }

    fn measure(&self) -> Measure {
        Measure {
            scale: self.measured.then_some(self.scale),
            constant: self.constant,
            drops_thinking: self.drops_thinking,
        }
    }

    /// The tokens that something of this weight takes.
    pub fn tokens(&self, weight: Weight) -> f64 {
        weight.scaled() * self.scale + weight.images
    }

    /// The tokens that a text of so many bytes takes.
    pub fn text_tokens(&self, bytes: usize) -> u64 {
        self.tokens(Weight::of_text(bytes)) as u64
    }

    /// The bytes of text that so many tokens hold.
    pub fn text_bytes(&self, tokens: usize) -> usize {
        (tokens as f64 * self.bytes_per_token) as usize
    }

    /// The tokens in the context window if the session continued now: the last record and what was
    /// added since; without a record, an estimate.
    pub fn window(&self) -> u64 {
        let tokens = match self.recorded {
            Some(recorded) => recorded as f64 + self.tokens(self.since),
            None => self.constant + self.tokens(self.shown),
        };
        tokens.max(0.0) as u64
    }

    /// The tokens in the context window of a session that was made from the measured one.
    ///
    /// The result's last record counts if everything that was shown then still is. Otherwise the
    /// change is estimated by this measure. What the client announces about itself and its
    /// surroundings is not lost: it will be sent again.
    pub fn window_of(&self, result: &Calibration) -> u64 {
        if result.last().is_some_and(|last| self.holds(last)) {
            return result.window();
        }
        let told_again = (self.announced - result.announced).text.max(0.0);
        let shown = result.shown
            + Weight {
                text: told_again,
                ..Weight::default()
            };
        let (before, after) = (self.tokens(self.shown), self.tokens(shown));
        let window = self.window() as f64;
        // The client cleared much of what the file still shows: that is removed only once.
        let cleared = self.constant + before - window;
        let cleared = if cleared > window * MUCH && before > 0.0 {
            cleared * (1.0 - (after / before).clamp(0.0, 1.0))
        } else {
            0.0
        };
        (window + after - before + cleared).max(0.0) as u64
    }

    /// The last record of a result, if it is clearly larger than the result's context window: clients
    /// decide by it whether to compact.
    pub fn overstated(&self, result: &Calibration) -> Option<Overstated> {
        let last = result.last().filter(|last| !self.holds(last))?;
        let since = self.tokens(result.since);
        let window = (self.window_of(result) as f64 - since).max(1.0);
        (window <= last.tokens * CLEARLY).then_some(Overstated {
            entry: last.entry,
            window: window as u64,
            measure: self.measure(),
        })
    }

    /// The last record since the last compaction.
    fn last(&self) -> Option<&Record> {
        self.all_records[self.compacted..].last()
    }

    /// Whether a record of a result is one of this session's, with the same content, and true.
    fn holds(&self, record: &Record) -> bool {
        let Some(at) = self.all_records.iter().rposition(|r| r.is_same(record)) else {
            return false;
        };
        let own = &self.all_records[at];
        let later = self.all_records[at + 1..].iter();
        let fell = later
            .take_while(|r| r.segment == own.segment)
            .any(|r| r.tokens < own.tokens * OUTDATED);
        !fell
    }

    /// The error of the estimate, as a part of the record: 0.02 is two percent too much.
    pub fn error(&self) -> Option<f64> {
        let (recorded, estimated) = (self.recorded?, self.estimated?);
        (recorded > 0).then(|| (estimated as f64 - recorded as f64) / recorded as f64)
    }
}

/// Up to this part of a record, an estimate shows that the record is clearly too large.
const CLEARLY: f64 = 0.99;

/// Above this part of the context window, the estimate shows that the client cleared content.
const MUCH: f64 = 0.1;

/// Below this part of an earlier record, a record shows that the earlier one is of content that was
/// removed, if no compaction is between them.
const OUTDATED: f64 = 0.75;

#[cfg(test)]
mod tests;
