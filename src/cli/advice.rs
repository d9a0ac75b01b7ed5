//! What each operation would save, by planning it.

use rayon::prelude::*;

use crate::ops::{Compact, DropTools, Forecast, SizeSpec, StripThinking};
use crate::rewrite::{Say, Transform};
use crate::session::{Calibration, Ledger, Part, Session};

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

/// An operation to try: its command, what it does to the conversation, and itself.
type Trial = (String, String, Box<dyn Transform + Send>);

/// Plans operations to see what they would save.
#[derive(Clone, Copy)]
pub(super) struct Advisor<'a> {
    pub(super) session: &'a Session,
    /// The session's name on the command line.
    pub(super) id: &'a str,
    pub(super) ledger: &'a Ledger,
    pub(super) calibration: &'a Calibration,
}

/// How many last turns advice leaves alone.
const KEPT: u32 = 3;

impl Advisor<'_> {
    /// The operations that would save something, the least harmful first.
    pub(super) fn advise(&self) -> Vec<Advice> {
        let id = self.id;
        let mut tried: Vec<Trial> = vec![
            (
                format!("strip-thinking {id}"),
                "all thinking goes".to_owned(),
                Box::new(StripThinking::default()),
            ),
            (
                format!("drop-tools {id} --stub --larger-than 10k --keep-last {KEPT}"),
                "large outputs of old turns become notes".to_owned(),
                Box::new(DropTools {
                    stub: true,
                    larger_than: Some(SizeSpec(10_000)),
                    keep_last: Some(KEPT),
                    ..DropTools::default()
                }),
            ),
            (
                format!("drop-tools {id} --errors"),
                "calls that failed go".to_owned(),
                Box::new(DropTools {
                    errors: true,
                    ..DropTools::default()
                }),
            ),
        ];
        if self.session.turns().len() > KEPT as usize {
            tried.push((
                format!("compact {id} --keep-last {KEPT}"),
                "old turns become a summary".to_owned(),
                Box::new(Compact {
                    keep_last: Some(KEPT),
                    window: Some(self.calibration.window()),
                    ..Compact::default()
                }),
            ));
        }
        let saved = tried.into_par_iter().filter_map(|t| self.saved(t));
        saved.collect()
    }

    /// What it would save to drop the calls of the tool whose results are largest.
    pub(super) fn on_largest(&self, parts: &[(Part, u64)]) -> Option<Advice> {
        let largest = parts.iter().find_map(|(part, _)| match part {
            Part::Results(tool) => Some(tool.clone()),
            _ => None,
        });
        let plain = |c: char| c.is_ascii_alphanumeric() || c == '_' || c == '-';
        let tool = largest.filter(|t| t.chars().all(plain))?;
        let id = self.id;
        self.saved((
            format!("drop-tools {id} --tool {tool} --keep-last {KEPT}"),
            format!("calls of {tool} in old turns go"),
            Box::new(DropTools {
                tool: vec![tool],
                keep_last: Some(KEPT),
                ..DropTools::default()
            }),
        ))
    }

    fn saved(&self, (command, what, transform): Trial) -> Option<Advice> {
        let plan = transform.plan_saying(self.session, Say::Nothing).ok();
        let plan = plan.filter(|p| !p.is_empty())?;
        let forecast = Forecast::of(self.session, self.ledger, &plan);
        let tokens = (-self.calibration.tokens(forecast.window)).max(0.0) as u64;
        let bytes = -forecast.bytes;
        (tokens > 0 || bytes > 0).then_some(Advice {
            command,
            what,
            tokens,
            bytes,
        })
    }
}
