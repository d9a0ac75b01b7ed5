//! What each operation would save, by planning it.

use crate::ops::{Compact, DropTools, SizeSpec, StripThinking};
use crate::session::Session;
use crate::surgery::Forecast;
use crate::surgery::{Detail, Transform};
use crate::window::{Calibration, Category, EntryWeights};

/// An operation, and what it would save.
pub(super) struct Advice {
    /// The words behind the program's name.
    pub(super) command: String,
    /// What it does to the conversation.
    pub(super) what: String,
    /// Tokens that leave the window.
    pub(super) tokens: u64,
    /// Bytes that leave the file; negative if it grows.
    pub(super) bytes: i64,
}

/// An operation that was tried: its command, what it does to the conversation, and what it would change.
pub(super) struct Tried {
    command: String,
    what: String,
    forecast: Forecast,
}

impl Tried {
    /// Advises it, if it would save something.
    pub(super) fn advice(self, calibration: &Calibration) -> Option<Advice> {
        let tokens = (-calibration.tokens(self.forecast.window)).max(0.0) as u64;
        let bytes = -self.forecast.bytes;
        (tokens > 0 || bytes > 0).then_some(Advice {
            command: self.command,
            what: self.what,
            tokens,
            bytes,
        })
    }
}

/// Plans operations to see what they would save.
#[derive(Clone, Copy)]
pub(super) struct Advisor<'a> {
    pub(super) session: &'a Session,
    /// The session's name on the command line.
    pub(super) id: &'a str,
    pub(super) ledger: &'a EntryWeights,
}

/// How many last turns advice leaves alone.
const KEPT: u32 = 3;

impl Advisor<'_> {
    /// Tries operations that leave what was said, the least harmful first.
    pub(super) fn on_bulk(&self) -> Vec<Tried> {
        let id = self.id;
        let strip = || {
            self.tried(
                format!("strip-thinking {id}"),
                "all thinking goes".to_owned(),
                &StripThinking::default(),
            )
        };
        let stub = || {
            self.tried(
                format!("drop-tools {id} --stub --larger-than 10k --keep-last {KEPT}"),
                "large outputs of old turns become notes".to_owned(),
                &DropTools {
                    stub: true,
                    larger_than: Some(SizeSpec(10_000)),
                    keep_last: Some(KEPT),
                    ..DropTools::default()
                },
            )
        };
        let errors = || {
            self.tried(
                format!("drop-tools {id} --errors"),
                "calls that failed go".to_owned(),
                &DropTools {
                    errors: true,
                    ..DropTools::default()
                },
            )
        };
        let ((strip, stub), errors) = rayon::join(|| rayon::join(strip, stub), errors);
        [strip, stub, errors].into_iter().flatten().collect()
    }

    /// Tries to drop the calls of the tool whose results are largest.
    pub(super) fn on_largest(&self, parts: &[(Category, u64)]) -> Option<Tried> {
        let largest = parts.iter().find_map(|(part, _)| match part {
            Category::Results(tool) => Some(tool.clone()),
            _ => None,
        });
        let plain = |c: char| c.is_ascii_alphanumeric() || c == '_' || c == '-';
        let tool = largest.filter(|t| t.chars().all(plain))?;
        let id = self.id;
        self.tried(
            format!("drop-tools {id} --tool {tool} --keep-last {KEPT}"),
            format!("calls of {tool} in old turns go"),
            &DropTools {
                tool: vec![tool],
                keep_last: Some(KEPT),
                ..DropTools::default()
            },
        )
    }

    /// Tries a summary of old turns, where the window takes so many tokens.
    pub(super) fn on_old_turns(&self, window: u64) -> Option<Tried> {
        if self.session.turns().len() <= KEPT as usize {
            return None;
        }
        self.tried(
            format!("compact {} --keep-last {KEPT}", self.id),
            "old turns become a summary".to_owned(),
            &Compact {
                keep_last: Some(KEPT),
                window: Some(window),
                ..Compact::default()
            },
        )
    }

    fn tried(&self, command: String, what: String, transform: &dyn Transform) -> Option<Tried> {
        let plan = transform.plan(self.session, Detail::None).ok();
        let plan = plan.filter(|p| !p.is_empty())?;
        let forecast = Forecast::of(self.session, self.ledger, &plan);
        Some(Tried {
            command,
            what,
            forecast,
        })
    }
}
