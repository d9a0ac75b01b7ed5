//! Lists the texts that can be edited.

use rustc_hash::FxHashSet;

use crate::session::Session;
use crate::surgery::Refusal;
use crate::transcript::{EntryIx, Kind};

use super::edit::{Part, Target};
use super::selector::Selector;

/// A text that can be edited.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct EditableText {
    /// The uuid of its message's line.
    pub message: String,
    /// The turn that it belongs to.
    pub turn: u32,
    /// What it is: `prompt`, `answer`, `call`, `result` or `summary`.
    pub what: &'static str,
    /// The text; of a call, its input as JSON.
    pub text: String,
}

impl EditableText {
    /// Returns the texts that a selector matches and that can be edited, in the order of the file. Texts that Claude
    /// Code wrote by itself are left out.
    pub fn selected(session: &Session, selector: &Selector) -> Result<Vec<Self>, Refusal> {
        let selection = selector.select(session)?;
        let mut chosen: FxHashSet<EntryIx> = selection.entries.into_iter().collect();
        chosen.extend(selection.blocks.iter().map(|at| at.entry));
        let (graph, entries) = (session.graph(), session.entries());
        let mut out = Vec::new();
        for (i, e) in session.numbered() {
            let turn = session.turns().of(graph, i);
            let Some(turn) = turn.filter(|_| chosen.contains(&i)) else {
                continue;
            };
            if !e.is_message() || e.flags.meta() || graph.known_as(entries, i) != i {
                continue;
            }
            let (Ok(target), Some(message)) = (Target::of(session, i), session.uuid(e)) else {
                continue;
            };
            let what = match (target.part, e.kind) {
                (Part::Input, _) => "call",
                (Part::Output, _) => "result",
                (Part::Words, _) if e.flags.compact_summary() => "summary",
                (Part::Words, Kind::Assistant) => "answer",
                (Part::Words, _) => "prompt",
            };
            out.push(Self {
                message,
                turn,
                what,
                text: target.text(session),
            });
        }
        Ok(out)
    }
}
