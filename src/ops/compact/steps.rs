//! The places inside turns at which a conversation can be cut in two.

use rustc_hash::FxHashMap;

use crate::session::{At, Session, Standing};
use crate::transcript::{EntryIx, Id, Kind};

/// Returns the positions of the live path, in order, at which the model continues a turn after results: everything before
/// such a position can be summarised. Claude Code compacts there when the context window is full in the middle of a turn.
///
/// All calls before the position are answered before it, no message has lines on both sides, and only what the model is
/// shown counts.
pub(crate) fn step_starts(session: &Session) -> Vec<u32> {
    let (graph, heads) = (session.graph(), session.heads());
    let path = graph.path();
    let joined = Joined::of(session);
    let mut turns = session.turns().iter().map(|turn| turn.path.0).peekable();
    let mut in_turn = false;
    // Whether the last message before the position is the user's: results, or what the client added to them.
    let mut after_results = false;
    let mut out = Vec::new();
    for (position, &i) in path.iter().enumerate() {
        let head = heads[i];
        let flags = head.flags;
        if turns.next_if_eq(&(position as u32)).is_some() {
            (in_turn, after_results) = (true, false);
        } else if head.kind == Kind::Assistant {
            let is_answer = !flags.synthetic() && !flags.api_error() && !flags.sidechain();
            if in_turn && after_results && is_answer && !joined.holds(position) {
                out.push(position as u32);
            }
            after_results = false;
        } else if head.kind == Kind::User {
            after_results = true;
        }
    }
    out.retain(|&position| position > graph.window_start());
    out
}

/// The places of the live path that must not be cut, because what is before them belongs together with what follows.
struct Joined(Vec<i32>);

impl Joined {
    fn of(session: &Session) -> Self {
        let graph = session.graph();
        let length = graph.path().len() as u32;
        let mut joined = Self(vec![0; length as usize + 2]);
        let place = |entry: EntryIx| match graph.place(entry) {
            Standing::Path(p) | Standing::Beside(p) => Some(p),
            _ => None,
        };
        let place_of = |at: &At| place(at.entry);
        let unfinished = session.unfinished_turn();
        for call in session.calls().iter() {
            let made = call.uses.iter().filter_map(place_of).min();
            let answered = call.results.iter().filter_map(place_of).max();
            match (made, answered) {
                (Some(made), Some(answered)) => joined.join(made, answered),
                (Some(made), None) if Some(session.turns().at_position(made)) == unfinished => {
                    joined.join(made, length);
                }
                _ => {}
            }
        }
        let mut messages: FxHashMap<Id, (u32, u32)> = FxHashMap::default();
        for (i, e) in session.entries_of(Kind::Assistant) {
            if let (Some(id), Some(p)) = (e.message_id.some(), place(i)) {
                let span = messages.entry(id).or_insert((p, p));
                *span = (span.0.min(p), span.1.max(p));
            }
        }
        for (first, last) in messages.into_values() {
            joined.join(first, last);
        }
        for &(from, to) in graph.midstream() {
            joined.join(from, to - 1);
        }
        // Messages that a compaction preserved stand before it in the file.
        if let Some(end) = graph.preserved_end() {
            joined.join(0, end - 1);
        }
        // Clients continue at the leaf, so it is kept.
        if let Some(leaf) = graph.leaf().and_then(place) {
            joined.join(leaf, length);
        }
        joined.sum()
    }

    /// Forbids cuts after one position and up to another.
    fn join(&mut self, first: u32, last: u32) {
        let (first, last) = (first.min(last), first.max(last));
        self.0[first as usize + 1] += 1;
        self.0[last as usize + 1] -= 1;
    }

    fn sum(mut self) -> Self {
        let mut open = 0;
        for count in &mut self.0 {
            open += *count;
            *count = open;
        }
        self
    }

    /// Whether a position is forbidden.
    fn holds(&self, position: usize) -> bool {
        self.0[position] > 0
    }
}
