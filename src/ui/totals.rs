//! What a session takes before and after the marked changes, as sums over the rows.

use super::marks::{Compaction, Fate, Marks};
use super::tree::{Node, NodeKind, Tree};

/// How many bytes the note has that replaces an output or an image.
const NOTE: usize = 60;

/// The size of a digest in tokens, where none is asked for.
const DIGEST: u64 = 2_800;

/// The size of a session.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Totals {
    /// Tokens in the context window.
    pub tokens: u64,
    /// Bytes of the transcript.
    pub bytes: u64,
    /// Turns.
    pub turns: u64,
}

impl Totals {
    /// Returns the size of a session as it is.
    pub fn before(tree: &Tree) -> Self {
        Self {
            tokens: tree.window,
            bytes: tree.bytes,
            turns: u64::from(tree.turns()),
        }
    }

    /// Estimates the size after the marked changes. The exact one is that of the preview.
    pub fn after(tree: &Tree, marks: &Marks) -> Self {
        let mut gone = Gone::default();
        let mut row = 0;
        while row < tree.nodes.len() {
            let node = &tree.nodes[row];
            let fate = if node.kind == NodeKind::Turn {
                turn_fate(marks, node)
            } else {
                marks.fate(tree, row)
            };
            row = if gone.take(tree, node, fate) {
                (node.end as usize).max(row + 1)
            } else {
                row + 1
            };
        }
        let before = Self::before(tree);
        let digest = match &marks.compaction {
            Some(c) => c.max_tokens.map_or(DIGEST, |n| n as u64),
            None => 0,
        };
        let left = before.tokens.saturating_sub(gone.tokens as u64);
        Self {
            tokens: left + digest,
            bytes: before.bytes.saturating_sub(gone.bytes),
            turns: before.turns.saturating_sub(gone.turns),
        }
    }
}

/// What happens to a turn as a whole, without a look at its rows.
fn turn_fate(marks: &Marks, node: &Node) -> Fate {
    // Of a turn that is summarised in part, its rows are looked at.
    let is_summarised = |c: &Compaction| {
        node.shown && (node.turn < c.at || node.turn == c.at && c.before.is_none())
    };
    if marks.cut.is_some_and(|cut| node.turn > cut) {
        Fate::Cut
    } else if marks.turns.contains(&node.turn) {
        Fate::Deleted
    } else if marks.compaction.as_ref().is_some_and(is_summarised) {
        Fate::Summarised
    } else {
        Fate::Kept
    }
}

#[derive(Default)]
struct Gone {
    tokens: f64,
    bytes: u64,
    turns: u64,
}

impl Gone {
    /// Takes a row away; returns whether the rows below it are gone with it.
    fn take(&mut self, tree: &Tree, node: &Node, fate: Fate) -> bool {
        // What a subagent wrote is in files of its own.
        if matches!(node.kind, NodeKind::Subagent | NodeKind::Aside) {
            return false;
        }
        let tokens = if node.counts {
            f64::from(node.tokens)
        } else {
            0.0
        };
        match fate {
            Fate::Kept | Fate::Touched | Fate::Edited => return false,
            Fate::Summarised => self.tokens += tokens,
            Fate::Deleted | Fate::Cut | Fate::Stripped => {
                self.tokens += tokens;
                self.bytes += node.bytes;
                self.turns += u64::from(node.kind == NodeKind::Turn);
                // The result of a call that is deleted has a row of its own.
                return node.kind != NodeKind::Call;
            }
            Fate::Stubbed | Fate::Dropped => {
                self.tokens += (tokens - f64::from(tree.text_tokens(NOTE))).max(0.0);
                self.bytes += node.bytes.saturating_sub(NOTE as u64);
            }
        }
        true
    }
}
