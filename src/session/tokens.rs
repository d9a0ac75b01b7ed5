//! How many tokens of the model's window a session takes.

use crate::jsonl::lookup;

use super::entry::{BlockKind, Kind};
use super::graph::Place;
use super::index::Session;

/// Bytes a token, where the session's own record does not tell: text, code and JSON mixed.
const BYTES_PER_TOKEN: f64 = 3.6;

/// What an image takes, whatever its bytes.
const IMAGE: f64 = 1_500.0;

/// The tokens in the window if the session went on now.
///
/// The record of the last answer says how large the window was then; what was said since is estimated.
/// A session that was operated on has no record that fits, so what it lost is taken off by the same
/// measure: `removed` are the bytes shown no longer since the record was made.
pub fn window_tokens(session: &Session, removed: i64) -> u64 {
    let Some((position, recorded)) = last_usage(session) else {
        return (shown_bytes(session, 0) / BYTES_PER_TOKEN).max(0.0) as u64;
    };
    let since = shown_bytes(session, position + 1) / BYTES_PER_TOKEN;
    let kept = recorded as f64 + since + removed as f64 / BYTES_PER_TOKEN;
    kept.max(0.0) as u64
}

/// The line of the file, from 1, whose record [`window_tokens`] goes by: only what was removed before it
/// was still in the window when it was made.
pub fn recorded_at(session: &Session) -> Option<u32> {
    let (position, _) = last_usage(session)?;
    let entry = &session.entries()[session.graph().path()[position as usize] as usize];
    session
        .document()
        .origin(entry.line as usize)
        .map(|l| l as u32 + 1)
}

/// The newest record of the window's size on the live path, and where.
fn last_usage(session: &Session) -> Option<(u32, u64)> {
    let path = session.graph().path();
    for (position, &i) in path.iter().enumerate().rev() {
        let e = &session.entries()[i as usize];
        if e.is_boundary() {
            return None;
        }
        if e.kind != Kind::Assistant || !e.flags.usage() || e.flags.synthetic() {
            continue;
        }
        let text = session.text(e);
        let usage = lookup(text, &["message", "usage"])?.of(text);
        let number = |key: &str| {
            let raw = lookup(usage, &[key])
                .map(|s| s.of(usage))
                .unwrap_or_default();
            std::str::from_utf8(raw)
                .ok()
                .and_then(|s| s.parse::<u64>().ok())
                .unwrap_or(0)
        };
        let total = [
            "input_tokens",
            "cache_read_input_tokens",
            "cache_creation_input_tokens",
            "output_tokens",
        ]
        .map(number)
        .iter()
        .sum::<u64>();
        if total > 0 {
            return Some((position as u32, total));
        }
    }
    None
}

/// The bytes of what is shown from a position of the path on, images by their price.
fn shown_bytes(session: &Session, from: u32) -> f64 {
    let from = from.max(session.graph().window());
    let mut bytes = 0.0;
    for (i, e) in session.entries().iter().enumerate() {
        let (Place::Path(p) | Place::Beside(p)) = session.graph().place(i) else {
            continue;
        };
        if p < from || !e.is_message() {
            continue;
        }
        bytes += e.content.len() as f64;
        for block in session
            .blocks(e)
            .iter()
            .filter(|b| b.kind == BlockKind::Image)
        {
            bytes += IMAGE * BYTES_PER_TOKEN - block.span.len() as f64;
        }
    }
    bytes
}
