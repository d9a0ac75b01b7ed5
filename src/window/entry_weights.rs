//! The weight of each entry of a session, and the context sizes that its answers recorded.

use rayon::prelude::*;

use super::dropped_thinking::DroppedThinking;
use super::usage::recorded_window;
use super::weight::{Weight, weigh};
use crate::document::{LineMap, LineSource};
use crate::session::{Session, Standing};
use crate::transcript::{Entry, EntryColumn, EntryIx, Kind};

/// The weight of one entry. There is one for every line, so it is kept small.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
struct EntryWeight {
    text: f32,
    thinking: f32,
    images: f32,
    /// The context window at the request that the entry answers; 0 if it has no record.
    window: u32,
    /// Whether the client sends it anew once it is no longer shown.
    announced: bool,
}

impl EntryWeight {
    fn of(session: &Session, e: &Entry) -> Self {
        let weight = entry_weight(session, e);
        let window = recorded_window(session, e).unwrap_or(0);
        Self {
            text: weight.text as f32,
            thinking: weight.thinking as f32,
            images: weight.images as f32,
            window: u32::try_from(window).unwrap_or(u32::MAX),
            announced: e.kind == Kind::Attachment && e.flags.announced(),
        }
    }

    fn weight(self) -> Weight {
        Weight {
            text: f64::from(self.text),
            thinking: f64::from(self.thinking),
            images: f64::from(self.images),
        }
    }
}

/// The weights of a session's entries.
///
/// Weighing reads every line that may be shown. For a session that was derived from another, only the
/// new lines are read.
#[derive(Debug, Clone)]
pub struct EntryWeights {
    weights: EntryColumn<EntryWeight>,
    dropped_thinking: DroppedThinking,
}

impl EntryWeights {
    /// Weighs what is on the live path and beside it.
    pub fn of(session: &Session) -> Self {
        let entries = (0..session.entries().len())
            .into_par_iter()
            .with_min_len(64);
        let weights = entries.map(|i| weight_at(session, EntryIx::new(i)));
        Self::new(session, weights.collect())
    }

    /// Weighs a session that was derived from another, which has these weights.
    #[must_use]
    pub fn derived(&self, from: &Session, to: &Session, lines: &LineMap) -> Self {
        let weights = to.numbered().map(|(i, e)| {
            let known = match lines.sources()[e.line] {
                LineSource::Kept(old) => from.lines()[old].entry(),
                LineSource::Edited(_) | LineSource::Inserted => None,
            };
            match known.filter(|&old| is_weighed(from, old)) {
                Some(old) => self.weights[old],
                None => weight_at(to, i),
            }
        });
        Self::new(to, weights.collect())
    }

    fn new(session: &Session, weights: Vec<EntryWeight>) -> Self {
        let mut out = Self {
            weights: EntryColumn::new(weights),
            dropped_thinking: DroppedThinking::default(),
        };
        let weigh = |i: EntryIx| (out.weight(i), out.window(i));
        out.dropped_thinking = DroppedThinking::of(session, weigh);
        out
    }

    /// The weight of an entry in the context window as it is: nothing if it is not shown.
    pub fn shown(&self, session: &Session, entry: EntryIx) -> Weight {
        let graph = session.graph();
        let is_shown = match graph.place(entry) {
            Standing::Path(p) => p >= graph.window_start(),
            Standing::Beside(p) => p >= graph.window_start() && session.heads()[entry].is_message(),
            Standing::Branch(_) | Standing::Apart | Standing::Metadata => false,
        };
        if !is_shown {
            return Weight::default();
        }
        let mut weight = self.weight(entry);
        if weight.thinking > 0.0 && self.dropped_thinking.is_dropped(session, entry) {
            weight.thinking = 0.0;
        }
        weight
    }

    /// Whether the client sends an entry anew once it is no longer shown.
    pub fn is_told_again(&self, entry: EntryIx) -> bool {
        self.weights[entry].announced
    }

    /// The context window at the request that an entry answers, if it has a record.
    pub fn window(&self, entry: EntryIx) -> Option<u64> {
        let window = self.weights[entry].window;
        (window > 0).then(|| u64::from(window))
    }

    /// The weight of an entry where it is shown.
    pub fn weight(&self, entry: EntryIx) -> Weight {
        self.weights[entry].weight()
    }

    /// The thinking that the model no longer sees.
    pub(crate) fn dropped_thinking(&self) -> DroppedThinking {
        self.dropped_thinking
    }
}

/// Weighs an entry as if it was shown.
pub(crate) fn entry_weight(session: &Session, e: &Entry) -> Weight {
    weigh(|| session.text(e), session.blocks(e), e)
}

fn weight_at(session: &Session, entry: EntryIx) -> EntryWeight {
    if is_weighed(session, entry) {
        EntryWeight::of(session, session.entry(entry))
    } else {
        EntryWeight::default()
    }
}

/// Whether an entry may have been shown.
fn is_weighed(session: &Session, entry: EntryIx) -> bool {
    matches!(
        session.graph().place(entry),
        Standing::Path(_) | Standing::Beside(_)
    )
}
