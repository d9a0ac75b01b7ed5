//! Operations that would make room in a session, and what each would save.

use crate::session::Session;
use crate::surgery::{Detail, Forecast, Transform};
use crate::window::{Calibration, Category, EntryWeights};

use super::compact::DIGEST_BYTES;
use super::{Compact, DropHidden, DropImages, DropTools, SizeSpec, StripThinking};

/// An operation that is worth trying.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Suggestion {
    /// Remove all thinking.
    StripThinking,
    /// Replace large outputs of old turns by notes.
    StubLargeOutputs {
        /// Outputs of more bytes than this are large.
        larger_than: u64,
        /// How many turns at the end stay as they are.
        keep_last: u32,
    },
    /// Replace all images and documents by notes.
    DropImages,
    /// Remove calls that failed.
    DropFailedCalls,
    /// Remove the calls of one tool in old turns.
    DropTool {
        /// The tool's name.
        tool: String,
        /// How many turns at the end stay as they are.
        keep_last: u32,
    },
    /// Replace old turns by a summary.
    Compact {
        /// How many turns at the end stay as they are.
        keep_last: u32,
        /// The tokens in the context window now.
        window: u64,
    },
    /// Remove what the model is not shown.
    DropHidden,
}

impl Suggestion {
    /// Returns the operation.
    pub fn transform(&self) -> Box<dyn Transform> {
        match self.clone() {
            Self::StripThinking => Box::new(StripThinking::default()),
            Self::StubLargeOutputs {
                larger_than,
                keep_last,
            } => Box::new(DropTools {
                stub: true,
                larger_than: Some(SizeSpec(larger_than)),
                keep_last: Some(keep_last),
                ..DropTools::default()
            }),
            Self::DropImages => Box::new(DropImages::default()),
            Self::DropHidden => Box::new(DropHidden::default()),
            Self::DropFailedCalls => Box::new(DropTools {
                errors: true,
                ..DropTools::default()
            }),
            Self::DropTool { tool, keep_last } => Box::new(DropTools {
                tool: vec![tool],
                keep_last: Some(keep_last),
                ..DropTools::default()
            }),
            Self::Compact { keep_last, window } => Box::new(Compact {
                keep_last: Some(keep_last),
                window: Some(window),
                ..Compact::default()
            }),
        }
    }
}

/// A suggestion that was planned, and what it would change.
#[derive(Debug)]
pub struct Tried {
    /// The operation.
    pub suggestion: Suggestion,
    forecast: Forecast,
}

/// What an operation would save.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Saving {
    /// Tokens that leave the context window.
    pub tokens: u64,
    /// Bytes that leave the file; negative if it grows.
    pub bytes: i64,
}

impl Tried {
    /// Returns what the operation would save, if it saves anything.
    pub fn saving(&self, calibration: &Calibration) -> Option<Saving> {
        let tokens = (-calibration.tokens(self.forecast.window)).max(0.0) as u64;
        let bytes = -self.forecast.bytes;
        (tokens > 0 || bytes > 0).then_some(Saving { tokens, bytes })
    }
}

/// Plans operations on a session to find out what they would save.
#[derive(Debug, Clone, Copy)]
pub struct Advisor<'a> {
    /// The session.
    pub session: &'a Session,
    /// What its entries weigh.
    pub weights: &'a EntryWeights,
}

/// How many turns at the end all suggestions leave as they are.
const KEPT: u32 = 3;

/// Outputs of more bytes than this are worth a note.
const LARGE: u64 = 10_000;

/// From this size of a transcript on, a digest of it is taken to fill its room: to make one would take longer than
/// everything else that an inspection does, and would change the saving by less than a hundredth.
const LONG: u64 = 1 << 20;

impl Advisor<'_> {
    /// Tries operations that keep the words of the conversation, the least harmful first.
    pub fn on_bulk(&self) -> Vec<Tried> {
        let strip = || self.tried(Suggestion::StripThinking);
        let stub = || {
            self.tried(Suggestion::StubLargeOutputs {
                larger_than: LARGE,
                keep_last: KEPT,
            })
        };
        let images = || self.tried(Suggestion::DropImages);
        let errors = || self.tried(Suggestion::DropFailedCalls);
        let ((strip, stub), (images, errors)) =
            rayon::join(|| rayon::join(strip, stub), || rayon::join(images, errors));
        let tried = [strip, stub, images, errors].into_iter().flatten();
        tried.collect()
    }

    /// Tries to remove what the model is not shown.
    pub fn on_hidden(&self) -> Option<Tried> {
        self.tried(Suggestion::DropHidden)
    }

    /// Tries to remove the calls of the tool whose results are largest. A tool with an unusual name is
    /// left out: it would be read as a pattern.
    pub fn on_largest(&self, parts: &[(Category, u64)]) -> Option<Tried> {
        let largest = parts.iter().find_map(|(part, _)| match part {
            Category::Results(tool) => Some(tool.clone()),
            _ => None,
        });
        let plain = |c: char| c.is_ascii_alphanumeric() || c == '_' || c == '-';
        let tool = largest.filter(|t| t.chars().all(plain))?;
        self.tried(Suggestion::DropTool {
            tool,
            keep_last: KEPT,
        })
    }

    /// Tries a summary of old turns, where the context window takes `window` tokens.
    pub fn on_old_turns(&self, window: u64) -> Option<Tried> {
        if self.session.turns().len() <= KEPT as usize {
            return None;
        }
        let suggestion = Suggestion::Compact {
            keep_last: KEPT,
            window,
        };
        if self.session.document().len() < LONG {
            return self.tried(suggestion);
        }
        let compact = Compact {
            keep_last: Some(KEPT),
            window: Some(window),
            summary: Some("digest ".repeat(DIGEST_BYTES / 7)),
            ..Compact::default()
        };
        self.tried_as(suggestion, &compact)
    }

    fn tried(&self, suggestion: Suggestion) -> Option<Tried> {
        let transform = suggestion.transform();
        self.tried_as(suggestion, &*transform)
    }

    /// Plans a transform that saves as much as the suggested one.
    fn tried_as(&self, suggestion: Suggestion, transform: &dyn Transform) -> Option<Tried> {
        let plan = transform.plan(self.session, Detail::None);
        let plan = plan.ok().filter(|p| !p.is_empty())?;
        let forecast = Forecast::of(self.session, self.weights, &plan);
        Some(Tried {
            suggestion,
            forecast,
        })
    }
}
