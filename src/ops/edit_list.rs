//! Lists the texts of some turns that can be edited.

use crate::session::{Session, TurnRange};
use crate::surgery::Refusal;
use crate::transcript::Kind;

use super::edit::{Part, Target};

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
    /// Returns the texts of these turns that can be edited, in the order of the file. Texts that Claude Code wrote by
    /// itself are left out.
    pub fn all_in(session: &Session, turns: &TurnRange) -> Result<Vec<Self>, Refusal> {
        let (first, last) = turns.resolve(session)?;
        let (graph, entries) = (session.graph(), session.entries());
        let mut out = Vec::new();
        for (i, e) in session.numbered() {
            let turn = session.turns().of(graph, i);
            let Some(turn) = turn.filter(|turn| (first..=last).contains(turn)) else {
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
