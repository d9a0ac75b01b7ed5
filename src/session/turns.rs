//! Turns: a person's prompt with all that answers it.

use super::graph::{Graph, Standing};
use super::session::Session;
use crate::transcript::{BlockKind, Entry, EntryHead, EntryIx, Kind, PromptKind, Subtype};

/// One turn of the live path.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Turn {
    /// Counted from 1 along the live path, through compactions.
    pub number: u32,
    /// The entry of the prompt.
    pub prompt: EntryIx,
    /// Its positions on the path: from the prompt up to the next one's.
    pub path: (u32, u32),
}

/// The turns of the live path, and which turn each entry belongs to.
#[derive(Debug, Default)]
pub struct Turns {
    turns: Vec<Turn>,
    /// For each position of the path, how many turns have begun by then.
    by_position: Vec<u32>,
}

impl Turns {
    pub(crate) fn build(heads: &[EntryHead], graph: &Graph) -> Self {
        let path = graph.path();
        let mut starts: Vec<usize> = Vec::new();
        for (position, &i) in path.iter().enumerate() {
            let e = heads[i];
            let answered = || was_answered(heads, &path[position + 1..]);
            let begins = match e.prompt {
                PromptKind::Words => true,
                PromptKind::Command => answered(),
                // At the end of the path clients show it with the next prompt only.
                PromptKind::Machine | PromptKind::None => is_queued_prompt(e) && answered(),
            };
            if begins && !e.flags.sidechain() {
                starts.push(position);
            }
        }
        let turns: Vec<Turn> = starts
            .iter()
            .enumerate()
            .map(|(n, &from)| Turn {
                number: n as u32 + 1,
                prompt: path[from],
                path: (
                    from as u32,
                    starts.get(n + 1).copied().unwrap_or(path.len()) as u32,
                ),
            })
            .collect();
        let mut by_position = Vec::with_capacity(path.len());
        let mut begun = 0;
        for position in 0..path.len() {
            begun += usize::from(starts.get(begun) == Some(&position));
            by_position.push(begun as u32);
        }
        Self { turns, by_position }
    }

    /// All turns in order.
    pub fn iter(&self) -> impl ExactSizeIterator<Item = &Turn> + DoubleEndedIterator {
        self.turns.iter()
    }

    /// The same, as a slice.
    pub fn all(&self) -> &[Turn] {
        &self.turns
    }

    /// How many there are.
    pub fn len(&self) -> usize {
        self.turns.len()
    }

    /// Whether there is none.
    pub fn is_empty(&self) -> bool {
        self.turns.is_empty()
    }

    /// The turn with this number.
    pub fn get(&self, number: u32) -> Option<&Turn> {
        self.turns.get((number as usize).checked_sub(1)?)
    }

    /// The position of the path at which a turn begins; behind all others, where there is no such turn.
    pub fn begin(&self, number: u32) -> u32 {
        if number == 0 {
            return 0;
        }
        self.get(number).map_or(u32::MAX, |turn| turn.path.0)
    }

    /// The number of the turn at a position of the path; 0 before the first prompt.
    pub fn at_position(&self, position: u32) -> u32 {
        self.by_position
            .get(position as usize)
            .copied()
            .unwrap_or(0)
    }

    /// The number of the turn to which an entry belongs: 0 before the first prompt, `None` if it is
    /// not shown with the live path.
    pub fn of(&self, graph: &Graph, entry: EntryIx) -> Option<u32> {
        match graph.place(entry) {
            Standing::Path(p) | Standing::Beside(p) => Some(self.at_position(p)),
            Standing::Branch(_) | Standing::Apart | Standing::Metadata => None,
        }
    }
}

/// Where a turn ends on the path: where the next begins, or at a compaction in between.
///
/// What was compacted after the turn's last answer is no part of it: a copy that kept that boundary would
/// show the model a summary instead of the turns that were asked for, and old clients nothing at all.
pub fn turn_end(session: &Session, turn: &Turn) -> u32 {
    let (from, to) = turn.path;
    let path = &session.graph().path()[from as usize..to as usize];
    let entry = |&i: &EntryIx| session.entry(i);
    let answered = path
        .iter()
        .map(entry)
        .rposition(|e| e.kind == Kind::Assistant && !e.flags.synthetic());
    let tail = answered.map_or(0, |at| at + 1);
    let boundary = path[tail..].iter().map(entry).position(|e| e.is_boundary());
    boundary.map_or(to, |at| from + (tail + at) as u32)
}

/// The last turn, if it is unfinished; see [`Session::unfinished_turn`].
pub(crate) fn unfinished(session: &Session) -> Option<u32> {
    let (entries, graph) = (session.entries(), session.graph());
    let last = *graph.path().last()?;
    // A prompt that arrived before the last results follows them on the path.
    let waits = graph.leaf().filter(|&leaf| ends_midstream(graph, leaf));
    let leaf = waits.unwrap_or(last);
    let count = session.turns().of(graph, leaf)?;
    let leaf = &entries[leaf];
    let of_kind = |e: &Entry, kind: BlockKind| session.blocks(e).iter().any(|b| b.kind == kind);
    let awaits_model = leaf.kind == Kind::User
        && leaf.prompt == PromptKind::None
        && of_kind(leaf, BlockKind::ToolResult);
    let start = session.turns().begin(count);
    let in_turn = |&i: &EntryIx| matches!(graph.place(i), Standing::Path(p) | Standing::Beside(p) if p >= start);
    let awaits_results = || {
        session
            .numbers()
            .filter(in_turn)
            .map(|i| &entries[i])
            .filter(|e| e.message_id == leaf.message_id && e.kind == Kind::Assistant)
            .flat_map(|e| session.blocks(e))
            .filter(|b| b.kind == BlockKind::ToolUse)
            .any(|b| session.calls().of(b).is_some_and(|c| c.results.is_empty()))
    };
    let awaits = awaits_model || leaf.kind == Kind::Assistant && awaits_results();
    awaits.then_some(count)
}

/// Whether an entry is part of a stretch at the end of the path that a prompt arrived in.
fn ends_midstream(graph: &Graph, entry: EntryIx) -> bool {
    let last = graph.midstream().last();
    let last = last.filter(|stretch| stretch.1 as usize == graph.path().len());
    last.is_some_and(|stretch| matches!(graph.place(entry), Standing::Path(p) if p >= stretch.0))
}

/// Whether an entry is a prompt that a person typed while the model worked.
pub(crate) fn is_queued_prompt(head: EntryHead) -> bool {
    head.kind == Kind::Attachment
        && head.subtype == Subtype::QueuedCommand
        && !head.flags.not_by_person()
}

/// Whether the model answers before the next prompt.
fn was_answered(heads: &[EntryHead], after: &[EntryIx]) -> bool {
    for &i in after {
        let e = heads[i];
        if e.kind == Kind::Assistant && !e.flags.synthetic() {
            return true;
        }
        if matches!(e.prompt, PromptKind::Words | PromptKind::Command) || is_queued_prompt(e) {
            return false;
        }
    }
    false
}

#[cfg(test)]
mod tests;
