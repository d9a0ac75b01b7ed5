//! The steps of a trim: each a transform, a part of a plan's file, and words.

use std::fmt::Write as _;

use crate::human::bytes;
use crate::surgery::Transform;

use super::compact::Compact;
use super::drop_hidden::DropHidden;
use super::drop_images::DropImages;
use super::drop_tools::{DropTools, SizeSpec};
use super::strip_thinking::StripThinking;

/// An output of more bytes than this is large.
const LARGE: u64 = 6_000;

/// Lines of a large output that stay, at its head and at its tail.
const ENDS: usize = 10;

/// The first and last turn that a step is for, and how many turns at the end it leaves alone.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Reach {
    /// The first turn.
    pub first: u32,
    /// The last turn.
    pub last: u32,
    /// How many turns at the session's end are left alone.
    pub keep_last: u32,
}

impl std::fmt::Display for Reach {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        if self.first == self.last {
            write!(f, "turn {}", self.first)
        } else {
            write!(f, "turns {} to {}", self.first, self.last)
        }
    }
}

/// One step of a trim.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Step {
    /// What the model is not shown goes.
    Hidden {
        /// How many turns at the end are left alone.
        keep_last: u32,
    },
    /// Thinking goes.
    Thinking(Reach),
    /// Outputs of reads become notes, where the file was read again.
    Reads {
        /// The ids of the calls.
        ids: Vec<String>,
        /// How many turns at the end are left alone.
        keep_last: u32,
    },
    /// Large outputs keep head and tail.
    Large(Reach),
    /// Images and documents become notes.
    Images(Reach),
    /// All other outputs become notes.
    Outputs(Reach),
    /// Calls go with their outputs.
    Calls(Reach),
    /// Turns become a digest.
    Compact {
        /// The first turn of it that was shown.
        first: u32,
        /// The last turn of it.
        at: u32,
        /// The digest's size.
        max_tokens: usize,
    },
}

impl Step {
    /// The operation that does it.
    pub fn transform(&self) -> Box<dyn Transform> {
        let outputs = |reach: &Reach| DropTools {
            turns: Some((reach.first, reach.last).into()),
            keep_last: Some(reach.keep_last),
            stub: true,
            ..DropTools::default()
        };
        match self {
            Step::Hidden { keep_last } => Box::new(DropHidden {
                keep_last: Some(*keep_last),
            }),
            Step::Thinking(reach) => Box::new(StripThinking {
                turns: Some((reach.first, reach.last).into()),
                keep_last: Some(reach.keep_last),
            }),
            Step::Reads { ids, keep_last } => Box::new(DropTools {
                id: ids.clone(),
                keep_last: Some(*keep_last),
                stub: true,
                ..DropTools::default()
            }),
            Step::Large(reach) => Box::new(DropTools {
                larger_than: Some(SizeSpec(LARGE)),
                without_images: true,
                head: ENDS,
                tail: ENDS,
                ..outputs(reach)
            }),
            Step::Images(reach) => Box::new(DropImages {
                turns: Some((reach.first, reach.last).into()),
                keep_last: Some(reach.keep_last),
            }),
            Step::Outputs(reach) => Box::new(outputs(reach)),
            Step::Calls(reach) => Box::new(DropTools {
                stub: false,
                ..outputs(reach)
            }),
            Step::Compact { at, max_tokens, .. } => Box::new(Compact {
                at: Some((*at).into()),
                max_tokens: Some(*max_tokens),
                ..Compact::default()
            }),
        }
    }

    /// The step as a part of a plan's file.
    pub fn toml(&self) -> String {
        let mut out = format!("[[step]]\nop = \"{}\"\n", self.transform().name());
        let reach = match self {
            Step::Thinking(reach)
            | Step::Large(reach)
            | Step::Images(reach)
            | Step::Outputs(reach)
            | Step::Calls(reach) => Some(reach),
            _ => None,
        };
        if let Some(Reach { first, last, .. }) = reach {
            let _ = writeln!(out, "turns = \"{first}..{last}\"");
        }
        match self {
            Step::Reads { ids, .. } => {
                out.push_str("id = [\n");
                for id in ids {
                    let _ = writeln!(out, "  {},", toml::Value::from(id.as_str()));
                }
                out.push_str("]\nstub = true\n");
            }
            Step::Large(_) => {
                let _ = writeln!(
                    out,
                    "larger-than = {LARGE}\nwithout-images = true\nstub = true\nhead = {ENDS}\ntail = {ENDS}"
                );
            }
            Step::Outputs(_) => out.push_str("stub = true\n"),
            Step::Compact { at, max_tokens, .. } => {
                let _ = writeln!(out, "at = {at}\nmax-tokens = {max_tokens}");
            }
            Step::Hidden { .. } | Step::Thinking(_) | Step::Images(_) | Step::Calls(_) => {}
        }
        let keep_last = match self {
            Step::Hidden { keep_last } | Step::Reads { keep_last, .. } => Some(*keep_last),
            _ => reach.map(|r| r.keep_last),
        };
        if let Some(keep_last) = keep_last {
            let _ = writeln!(out, "keep-last = {keep_last}");
        }
        out
    }

    /// What becomes of what, in words.
    pub fn words(&self) -> String {
        match self {
            Step::Hidden { .. } => "what the model is not shown goes".to_owned(),
            Step::Thinking(reach) => format!("thinking of {reach} goes"),
            Step::Reads { ids, .. } if ids.len() == 1 => {
                "1 read of a file that was read again becomes a note".to_owned()
            }
            Step::Reads { ids, .. } => format!(
                "{} reads of files that were read again become notes",
                ids.len()
            ),
            Step::Large(reach) => format!(
                "outputs over {} of {reach} keep {ENDS} lines at head and tail",
                bytes(LARGE)
            ),
            Step::Images(reach) => format!("images and documents of {reach} become notes"),
            Step::Outputs(reach) => format!("other outputs of {reach} become notes"),
            Step::Calls(reach) => format!("calls of {reach} go with their outputs"),
            Step::Compact { first, at, .. } => {
                let reach = Reach {
                    first: *first,
                    last: *at,
                    keep_last: 0,
                };
                let verb = if first == at { "becomes" } else { "become" };
                format!("{reach} {verb} a digest")
            }
        }
    }
}
