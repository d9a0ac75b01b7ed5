//! Limits a redaction to a part of the conversation.

use rustc_hash::{FxHashMap, FxHashSet};

use crate::document::LineIx;
use crate::json::Span;
use crate::session::Session;
use crate::surgery::Refusal;
use crate::transcript::{EntryIx, LineState};

use super::selector::Selector;
use super::turn_filter::TurnFilter;

/// The content in which secrets are replaced.
pub(crate) enum RedactScope {
    /// The whole file.
    Everything,
    /// Whole turns.
    Turns(TurnFilter),
    /// What a selector matches.
    Selected {
        /// Entries that are selected as a whole.
        entries: FxHashSet<EntryIx>,
        /// The blocks of other entries.
        blocks: FxHashMap<EntryIx, Vec<Span>>,
    },
}

impl RedactScope {
    /// Looks up in a session what a selector names.
    pub(crate) fn new(only: &Selector, session: &Session) -> Result<Self, Refusal> {
        if only.is_empty() {
            return Ok(Self::Everything);
        }
        if only.selects_whole_turns() {
            return Ok(Self::Turns(only.turn_filter(session)?));
        }
        let selection = only.select(session)?;
        let mut blocks: FxHashMap<EntryIx, Vec<Span>> = FxHashMap::default();
        for at in selection.blocks {
            let span = session.block(at.block).span;
            blocks.entry(at.entry).or_default().push(span);
        }
        Ok(Self::Selected {
            entries: selection.entries.into_iter().collect(),
            blocks,
        })
    }

    /// Whether a secret that begins at this byte of a line is replaced. The copies that a client keeps beside the content
    /// of a selected block belong to it.
    pub(crate) fn holds(&self, session: &Session, line: LineIx, at: usize) -> bool {
        if matches!(self, Self::Everything) {
            return true;
        }
        let Some(LineState::Entry(entry)) = session.lines().get(line.index()) else {
            return false;
        };
        let entry = *entry;
        match self {
            Self::Everything => true,
            Self::Turns(filter) => filter.holds(session, entry),
            Self::Selected { entries, blocks } => {
                let content = session.entry(entry).content.range();
                let in_blocks = blocks.get(&entry).is_some_and(|spans| {
                    let inside = |span: &Span| span.range().contains(&at);
                    !content.contains(&at) || spans.iter().any(inside)
                });
                in_blocks || entries.contains(&entry)
            }
        }
    }
}
