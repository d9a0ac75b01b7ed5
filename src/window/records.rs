//! The context sizes that answers recorded along the live path, each with the content shown by then.

use rustc_hash::FxHashMap;

use super::dropped_thinking::last_model;
use super::entry_weights::EntryWeights;
use super::measure::Measure;
use super::weight::{Weight, usual_scale};
use crate::session::{Session, Standing};
use crate::transcript::{EntryIx, Id, Kind, Subtype};

/// The context window at one request: the content that was shown, and the tokens that it took.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct Record {
    /// The answer's first entry on the path.
    pub(crate) entry: EntryIx,
    /// The answer.
    message: Id,
    /// The weight of what the session shows at that request.
    pub(crate) shown: Weight,
    /// The tokens that the answer recorded.
    pub(crate) tokens: f64,
    /// The number of compactions before it, those of results alone included.
    pub(crate) segment: u32,
    /// The measure that is kept beside it, if it was lowered.
    pub(crate) measure: Option<Measure>,
}

impl Record {
    /// Whether both are the record of the same answer to the same content.
    pub(crate) fn is_same(&self, other: &Self) -> bool {
        (self.message, self.shown, self.tokens) == (other.message, other.shown, other.tokens)
    }
}

/// The records of a session.
#[derive(Debug, Default)]
pub(crate) struct Records {
    pub(crate) all: Vec<Record>,
    /// The weight of what is shown since the last boundary.
    pub(crate) shown: Weight,
    /// The part of it that the client sends anew once it is no longer shown.
    pub(crate) announced: Weight,
    /// The number of records before the last boundary.
    pub(crate) compacted: usize,
    /// The scale that is usual for the session's model, if that is known.
    pub(crate) usual_scale: Option<f64>,
}

impl Records {
    /// Collects the records along the live path.
    pub(crate) fn of(session: &Session, weights: &EntryWeights) -> Self {
        let (entries, heads) = (session.entries(), session.heads());
        let beside = weights_beside(session, weights);
        let drops_thinking = weights.dropped_thinking().drops();
        let turns = session.turns();
        let mut out = Self {
            usual_scale: last_model(session).and_then(usual_scale),
            ..Self::default()
        };
        let (mut segment, mut boundary, mut turn) = (0, EntryIx::default(), 0);
        let mut last_message = Id::NONE;
        for (position, &i) in session.graph().path().iter().enumerate() {
            let position = position as u32;
            let (head, weight) = (heads[i], weights.weight(i));
            if head.is_boundary() {
                boundary = i;
                out.shown = Weight::default();
                out.announced = Weight::default();
                out.compacted = out.all.len();
                segment += 1;
                continue;
            }
            // The client cleared old results: records fall, though the file still has them.
            if head.subtype == Subtype::MicrocompactBoundary {
                segment += 1;
            }
            if drops_thinking && turns.at_position(position) != turn {
                turn = turns.at_position(position);
                out.shown.thinking = 0.0;
            }
            if head.kind == Kind::Assistant {
                let e = &entries[i];
                // The lines of one message all repeat its usage; the first stands for the request.
                let repeated = e.message_id.is_some() && e.message_id == last_message;
                // A preserved message recorded the window before the compaction.
                let preserved = i < boundary;
                if !repeated
                    && !preserved
                    && let Some(tokens) = weights.window(i)
                {
                    out.all.push(Record {
                        entry: i,
                        message: e.message_id.some().unwrap_or(e.uuid),
                        shown: out.shown,
                        tokens: tokens as f64,
                        segment,
                        measure: Measure::kept_with(session, e),
                    });
                }
                last_message = e.message_id;
            }
            out.shown += weight;
            if let Some(&beside) = beside.get(&position) {
                out.shown += beside;
            }
            if head.kind == Kind::Attachment && weights.is_told_again(i) {
                out.announced += weight;
            }
        }
        out
    }

    /// The records since the last boundary.
    pub(crate) fn recent(&self) -> &[Record] {
        &self.all[self.compacted..]
    }
}

/// The weight of the messages beside each position of the path; most sessions have few.
fn weights_beside(session: &Session, weights: &EntryWeights) -> FxHashMap<u32, Weight> {
    let mut beside: FxHashMap<u32, Weight> = FxHashMap::default();
    for (i, head) in session.numbers().zip(session.heads()) {
        if let Standing::Beside(p) = session.graph().place(i)
            && head.is_message()
        {
            *beside.entry(p).or_default() += weights.weight(i);
        }
    }
    beside
}
