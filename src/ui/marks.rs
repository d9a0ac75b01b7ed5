//! What is marked for change, and the plan that the marks are.

mod plan;

use std::collections::{BTreeMap, BTreeSet};

use crate::json::{decode, lookup};
use crate::ops;
use crate::session::Standing;
use crate::transcript::{BlockIx, EntryIx, Id};

use super::step::Step;
use super::tree::{NO_BLOCK, Node, NodeKind, Tree};

/// How much of an output stays beside the note that replaces it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Default)]
pub struct Stub {
    /// Lines at the beginning.
    pub head: usize,
    /// Lines at the end.
    pub tail: usize,
    /// Whether lines that matter stay, such as failures.
    pub key_lines: bool,
}

/// A compaction that is asked for.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Compaction {
    /// The last turn that is summarised.
    pub at: u32,
    /// The entry of the first message of that turn that is kept, if only the turn's first part is summarised.
    pub before: Option<EntryIx>,
    /// The summary, where a person wrote or changed it.
    pub summary: Option<String>,
    /// The size of the digest.
    pub max_tokens: Option<usize>,
}

/// What happens to a row.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Fate {
    /// Nothing.
    Kept,
    /// Something below it changes.
    Touched,
    /// It is deleted.
    Deleted,
    /// Its output is replaced by a note.
    Stubbed,
    /// It is thinking that is removed.
    Stripped,
    /// It is an image or document that is replaced by a note.
    Dropped,
    /// Its text is replaced.
    Edited,
    /// It comes after the place where the session is cut.
    Cut,
    /// A summary takes its place.
    Summarised,
}

impl Fate {
    /// Returns it in one word for the end of a row.
    pub fn word(self) -> &'static str {
        match self {
            Fate::Kept | Fate::Touched => "",
            Fate::Deleted => "delete",
            Fate::Stubbed => "stub",
            Fate::Stripped => "strip",
            Fate::Dropped => "drop",
            Fate::Edited => "edit",
            Fate::Cut => "cut",
            Fate::Summarised => "compact",
        }
    }

    /// Whether nothing of the row is left as it is.
    pub fn is_whole(self) -> bool {
        !matches!(self, Fate::Kept | Fate::Touched)
    }
}

/// Everything that is marked.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Marks {
    /// Turns that are deleted.
    pub turns: BTreeSet<u32>,
    /// Messages that are deleted, by their first entries.
    pub messages: BTreeSet<EntryIx>,
    /// Calls that are deleted, by their blocks.
    pub calls: BTreeSet<BlockIx>,
    /// Calls whose outputs are replaced by notes, by their blocks.
    pub stubs: BTreeMap<BlockIx, Stub>,
    /// Entries that lose their thinking.
    pub thinking: BTreeSet<EntryIx>,
    /// Turns that lose their images and documents.
    pub images: BTreeSet<u32>,
    /// Entries whose texts are replaced.
    pub edits: BTreeMap<EntryIx, String>,
    /// The last turn that is kept.
    pub cut: Option<u32>,
    /// A compaction.
    pub compaction: Option<Compaction>,
    /// Whether secrets are replaced, in all files of the session.
    pub redact: bool,
    /// Steps that were typed, which come last.
    pub more: Vec<Step>,
}

/// Adds a value to a set, or removes it.
fn set<T: Ord>(all: &mut BTreeSet<T>, value: T, on: bool) {
    if on {
        all.insert(value);
    } else {
        all.remove(&value);
    }
}

impl Marks {
    /// Whether nothing is marked.
    pub fn is_empty(&self) -> bool {
        *self == Self::default()
    }

    /// Marks a row for deletion, or takes that back. Returns why that is not possible, if it is not.
    pub fn delete(&mut self, node: &Node, on: bool) -> Result<(), &'static str> {
        match node.kind {
            NodeKind::Turn if node.turn == 0 => {
                return Err("what comes before the first prompt is not a turn: mark its messages");
            }
            NodeKind::Turn => set(&mut self.turns, node.turn, on),
            NodeKind::Call | NodeKind::Result if node.call != NO_BLOCK => {
                set(&mut self.calls, node.call, on);
                self.stubs.remove(&node.call);
            }
            NodeKind::Thinking => set(&mut self.thinking, node.entry(), on),
            NodeKind::Media => set(&mut self.images, node.turn, on),
            NodeKind::Compaction => return Err("a compaction is undone with :uncompact"),
            NodeKind::Branch | NodeKind::Subagent | NodeKind::Aside => {
                return Err("branches and subagents can only be read here");
            }
            NodeKind::Summary => return Err("a summary can be edited (e), but not deleted"),
            NodeKind::Text | NodeKind::Call | NodeKind::Result => {
                return Err("a text is deleted with its message: mark the row above it");
            }
            NodeKind::Prompt | NodeKind::Answer | NodeKind::Note => {
                set(&mut self.messages, node.entry(), on);
            }
        }
        Ok(())
    }

    /// Replaces the output of a call by a note, or takes that back.
    pub fn stub(&mut self, call: BlockIx, stub: Option<Stub>) {
        self.calls.remove(&call);
        match stub {
            Some(stub) => drop(self.stubs.insert(call, stub)),
            None => drop(self.stubs.remove(&call)),
        }
    }

    /// Takes over what `trim` proposes.
    pub fn propose(&mut self, tree: &Tree, steps: &[ops::ChosenStep]) {
        use ops::Step::{Calls, Compact, Hidden, Images, Outputs, Thinking};
        let calls = calls_by_id(tree);
        let numbers = |ids: &[String]| -> Vec<BlockIx> {
            ids.iter().filter_map(|id| calls.get(id).copied()).collect()
        };
        for chosen in steps {
            match &chosen.step {
                Outputs { kind, ids } => {
                    let (head, tail) = kind.ends();
                    let key_lines = kind.keeps_key_lines();
                    let stub = Stub {
                        head,
                        tail,
                        key_lines,
                    };
                    for call in numbers(ids) {
                        self.stub(call, Some(stub));
                    }
                }
                Images(span) => self.images.extend(span.first..=span.last),
                Thinking(span) => {
                    let turns = span.first..=span.last;
                    self.thinking
                        .extend(thinking_in(&tree.nodes, |n| turns.contains(&n.turn)));
                }
                Calls { ids } => {
                    for call in numbers(ids) {
                        self.stubs.remove(&call);
                        self.calls.insert(call);
                    }
                }
                Compact {
                    at,
                    before,
                    max_tokens,
                    ..
                } => {
                    let kept = before.as_ref().map(|uuid| Id::of(uuid.as_bytes()));
                    let kept = kept.and_then(|id| tree.session.find(id));
                    self.compaction = Some(Compaction {
                        at: *at,
                        before: kept,
                        summary: None,
                        max_tokens: Some(*max_tokens),
                    });
                }
                Hidden { .. } => {}
            }
        }
    }

    /// Returns what happens to a row itself.
    pub fn fate(&self, tree: &Tree, row: usize) -> Fate {
        let node = &tree.nodes[row];
        if self.cut.is_some_and(|cut| node.turn > cut) {
            return Fate::Cut;
        }
        if self.turns.contains(&node.turn) && node.kind != NodeKind::Compaction {
            return Fate::Deleted;
        }
        let own = self.own_fate(tree, node);
        if own.is_whole() {
            return own;
        }
        if self.is_summarised(tree, node) {
            return Fate::Summarised;
        }
        let below = row + 1..(node.end as usize).max(row + 1);
        let touched = below.into_iter().any(|at| {
            let node = &tree.nodes[at];
            self.own_fate(tree, node).is_whole()
        });
        if touched { Fate::Touched } else { Fate::Kept }
    }

    fn is_summarised(&self, tree: &Tree, node: &Node) -> bool {
        let Some(compaction) = self.compaction.as_ref().filter(|_| node.shown) else {
            return false;
        };
        match compaction.before {
            Some(kept) if node.turn == compaction.at => {
                let position = |entry: EntryIx| match tree.session.graph().place(entry) {
                    Standing::Path(p) | Standing::Beside(p) => Some(p),
                    _ => None,
                };
                node.kind != NodeKind::Turn && position(node.entry()) < position(kept)
            }
            _ => node.turn <= compaction.at,
        }
    }

    /// Returns what happens to a row by its own mark, or by that of its message.
    fn own_fate(&self, tree: &Tree, node: &Node) -> Fate {
        if self.edits.contains_key(&node.entry()) && is_edited(tree, node) {
            return Fate::Edited;
        }
        match node.kind {
            NodeKind::Thinking if self.thinking.contains(&node.entry()) => Fate::Stripped,
            NodeKind::Media if self.images.contains(&node.turn) => Fate::Dropped,
            _ if node.call != NO_BLOCK && self.calls.contains(&node.call) => Fate::Deleted,
            NodeKind::Result if self.stubs.contains_key(&node.call) => Fate::Stubbed,
            _ if node.is_message() && self.messages.contains(&node.entry()) => Fate::Deleted,
            _ => Fate::Kept,
        }
    }
}

/// Returns the entries of the thinking among some rows.
pub(super) fn thinking_in(nodes: &[Node], is_meant: impl Fn(&Node) -> bool) -> BTreeSet<EntryIx> {
    let thinking = nodes.iter().filter(|n| n.kind == NodeKind::Thinking);
    thinking.filter(|n| is_meant(n)).map(Node::entry).collect()
}

/// Whether a row shows the text of its entry that an edit replaces.
fn is_edited(tree: &Tree, node: &Node) -> bool {
    match node.kind {
        NodeKind::Text | NodeKind::Call | NodeKind::Result => true,
        // A message whose text has a row of its own.
        _ if node.is_message() => {
            let e = tree.session.entry(node.entry());
            e.flags.string_content() || tree.session.blocks(e).len() == 1
        }
        _ => false,
    }
}

/// Returns the id of the call that a block makes.
pub(super) fn call_id(tree: &Tree, block: BlockIx) -> Option<String> {
    let entry = *tree.calls.get(&block)?;
    let line = tree.session.text(&tree.session.entries()[entry]);
    let raw = tree.session.block(block).span.of(line);
    let id = lookup(raw, &["id"])?;
    Some(decode(id.of(raw)).into_owned())
}

fn calls_by_id(tree: &Tree) -> BTreeMap<String, BlockIx> {
    let blocks = tree.calls.keys().copied();
    blocks
        .filter_map(|block| Some((call_id(tree, block)?, block)))
        .collect()
}
