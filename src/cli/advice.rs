//! What each operation would save, by planning it.

use rayon::prelude::*;

use crate::ops::{Compact, DropTools, Forecast, SizeSpec, StripThinking};
use crate::rewrite::Transform;
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

/// The operations that would save something, the least harmful first.
pub(super) fn advise(
    session: &Session,
    id: &str,
    (ledger, calibration): (&Ledger, &Calibration),
    parts: &[(Part, u64)],
) -> Vec<Advice> {
    let last = Some(3);
    let mut tried: Vec<(String, String, Box<dyn Transform + Send>)> = vec![
        (
            format!("strip-thinking {id}"),
            "all thinking goes".to_owned(),
            Box::new(StripThinking::default()),
        ),
        (
            format!("drop-tools {id} --stub --larger-than 10k --keep-last 3"),
            "large outputs of old turns become notes".to_owned(),
            Box::new(DropTools {
                stub: true,
                larger_than: Some(SizeSpec(10_000)),
                keep_last: last,
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
    let largest = parts.iter().find_map(|(part, _)| match part {
        Part::Results(tool) => Some(tool.clone()),
        _ => None,
    });
    if let Some(tool) = largest.filter(|t| {
        t.chars()
            .all(|c| c.is_ascii_alphanumeric() || c == '_' || c == '-')
    }) {
        tried.push((
            format!("drop-tools {id} --tool {tool} --keep-last 3"),
            format!("calls of {tool} in old turns go"),
            Box::new(DropTools {
                tool: vec![tool],
                keep_last: last,
                ..DropTools::default()
            }),
        ));
    }
    if session.turns().len() > 3 {
        tried.push((
            format!("compact {id} --keep-last 3"),
            "old turns become a summary".to_owned(),
            Box::new(Compact {
                keep_last: last,
                ..Compact::default()
            }),
        ));
    }
    let saved = |(command, what, transform): (String, String, Box<dyn Transform + Send>)| {
        let plan = transform.plan(session).ok().filter(|p| !p.is_empty())?;
        let forecast = Forecast::of(session, ledger, &plan);
        let tokens = (-calibration.tokens(forecast.window)).max(0.0) as u64;
        let bytes = -forecast.bytes;
        (tokens > 0 || bytes > 0).then_some(Advice {
            command,
            what,
            tokens,
            bytes,
        })
    };
    tried.into_par_iter().filter_map(saved).collect()
}
