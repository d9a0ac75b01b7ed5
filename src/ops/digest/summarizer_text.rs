//! The text that a summarizer reads: the turns as plain text, not longer than it can take.

use std::fmt::Write as _;

use rustc_hash::FxHashSet;

use crate::ops::compact::Cut;
use crate::session::Session;
use crate::view::{ItemContent, TurnContent, TurnItem};

use super::layout::largest;
use super::text::shorten;

/// The most bytes that a summarizer is given: about 100k tokens.
const MOST: usize = 400_000;

/// The shortest that inputs and results become before anything else is shortened.
const SHORTEST: usize = 200;

/// One thing that happened, with a label in front of it.
struct Piece {
    label: String,
    text: String,
    /// Whether it is an input or a result, which are shortened first.
    bulky: bool,
}

/// Returns the text for a summarizer: prompts, answers, calls and results before a cut, of a compacted conversation those
/// since the last summary.
pub fn summarised_text(session: &Session, cut: Cut) -> String {
    let from = session.turns().at_position(session.graph().window_start());
    let turns = TurnContent::of(session, from.min(cut.turn()), cut.turn());
    let kept = kept_part(session, cut);
    let is_summarised = |item: &TurnItem| !item.uuid.as_ref().is_some_and(|u| kept.contains(u));
    let items = turns.into_iter().flat_map(|t| t.items);
    let items = items.take_while(is_summarised);
    let mut items: Vec<ItemContent> = items.map(|i| i.content).collect();
    let is_boundary = |i: &ItemContent| matches!(i, ItemContent::Compaction { .. });
    if let Some(at) = items.iter().rposition(is_boundary) {
        items.drain(..=at);
    }
    let pieces: Vec<Piece> = items.into_iter().filter_map(piece).collect();
    let size = |limit: usize| -> usize {
        let of = |p: &Piece| {
            p.label.len()
                + 4
                + if p.bulky {
                    p.text.len().min(limit)
                } else {
                    p.text.len()
                }
        };
        pieces.iter().map(of).sum()
    };
    let limit = largest(SHORTEST, MOST, |limit| size(limit) <= MOST);
    let mut out = String::new();
    for Piece { label, text, bulky } in pieces {
        let text = if bulky { shorten(&text, limit) } else { text };
        let _ = write!(out, "{label}: {text}\n\n");
    }
    shorten(&out, MOST)
}

/// Returns the uuids of the entries that are kept of the last turn.
fn kept_part(session: &Session, cut: Cut) -> FxHashSet<String> {
    let end = session
        .turns()
        .get(cut.turn())
        .map_or(0, |turn| turn.path.1);
    let kept = session
        .graph()
        .path()
        .get(cut.position() as usize..end as usize);
    let entries = kept.unwrap_or_default().iter();
    let uuids = entries.filter_map(|&i| session.uuid(session.entry(i)));
    uuids.collect()
}

fn piece(item: ItemContent) -> Option<Piece> {
    let (label, text, bulky) = match item {
        ItemContent::Prompt { text } => ("User".to_owned(), text.into_raw(), false),
        ItemContent::Answer { text } => ("Assistant".to_owned(), text.into_raw(), false),
        ItemContent::Call(call) => (
            format!("Assistant calls {}", call.tool.raw()),
            call.input.raw().to_owned(),
            true,
        ),
        ItemContent::Result { text, error, .. } => {
            let label = if error { "Result (failed)" } else { "Result" };
            (label.to_owned(), text.into_raw(), true)
        }
        ItemContent::Summary { text } => ("Earlier summary".to_owned(), text.into_raw(), false),
        _ => return None,
    };
    (!text.trim().is_empty()).then_some(Piece { label, text, bulky })
}
