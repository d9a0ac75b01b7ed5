//! A session as a tree: turns, their messages, and the blocks of those.

mod builder;

use std::path::PathBuf;
use std::sync::Arc;

use rustc_hash::{FxHashMap, FxHashSet};

use crate::session::Session;
use crate::store::Stamp;
use crate::transcript::{BlockIx, EntryIx};
use crate::view::{
    Branch, Branches, Conversation, ItemContent, Overview, SessionText, Status, Subagent, TurnItem,
    TurnStats, window_limit,
};
use crate::window::{Calibration, EntryWeights, Weight};

/// How many characters of a prompt are kept for its row.
pub(super) const PROMPT: usize = 400;

/// How many characters of a uuid name an entry.
const SHORT: usize = 8;

/// What stands for a block that a node does not have.
pub(super) const NO_BLOCK: BlockIx = BlockIx::MAX;

/// What a row of the tree is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[allow(missing_docs)]
pub enum NodeKind {
    Turn,
    /// What a person wrote.
    Prompt,
    /// A message of the model.
    Answer,
    /// A summary that replaces what came before it.
    Summary,
    /// Something that the client added.
    Note,
    Thinking,
    Text,
    Call,
    Result,
    Media,
    /// A compaction, which is drawn as a rule.
    Compaction,
    /// An abandoned branch.
    Branch,
    /// A subagent that a call started.
    Subagent,
    /// Something that happened on a branch or in a subagent: it can be read, and nothing else.
    Aside,
}

/// A row of the tree. The rows below it follow it directly.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Node {
    /// What it is.
    pub kind: NodeKind,
    /// How far it is indented.
    pub depth: u8,
    /// Whether the model is shown it.
    pub shown: bool,
    /// Whether it counts in the context window as it is.
    pub counts: bool,
    /// Whether it is a failure.
    pub failed: bool,
    /// Its turn; 0 is what comes before the first prompt.
    pub turn: u32,
    /// The number of its first entry. For branches, subagents and what happened in them, its place in their list.
    number: u32,
    /// Its block.
    pub block: BlockIx,
    /// The block of the call that it belongs to.
    pub call: BlockIx,
    /// The row after its last descendant.
    pub end: u32,
    /// Its tokens.
    pub tokens: f32,
    /// Its bytes in the file.
    pub bytes: u64,
}

/// What identifies a row after the session was read again, because it grew.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct NodeKey(NodeKindGroup, u32);

#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
enum NodeKindGroup {
    Turn,
    Entry,
    Block,
    Branch,
    Subagent,
    Aside,
}

impl Node {
    /// Returns what identifies it.
    pub fn key(&self) -> NodeKey {
        match self.kind {
            NodeKind::Turn => NodeKey(NodeKindGroup::Turn, self.turn),
            NodeKind::Branch => NodeKey(NodeKindGroup::Branch, self.number),
            NodeKind::Subagent => NodeKey(NodeKindGroup::Subagent, self.number),
            NodeKind::Aside => NodeKey(NodeKindGroup::Aside, self.number),
            _ if self.block == NO_BLOCK => NodeKey(NodeKindGroup::Entry, self.number),
            _ => NodeKey(NodeKindGroup::Block, self.block.number()),
        }
    }

    /// Returns its first entry, if it is part of the conversation.
    pub fn entry(&self) -> EntryIx {
        EntryIx::new(self.number as usize)
    }

    /// Returns its place in the list of branches, of subagents or of what happened in them, if it is one of these.
    pub fn place_in_list(&self) -> usize {
        self.number as usize
    }

    /// Whether it has a conversation of its own, which is read when it is unfolded.
    pub fn is_aside_heading(&self) -> bool {
        matches!(self.kind, NodeKind::Branch | NodeKind::Subagent)
    }

    /// Whether it is a whole message.
    pub fn is_message(&self) -> bool {
        matches!(
            self.kind,
            NodeKind::Prompt | NodeKind::Answer | NodeKind::Summary | NodeKind::Note
        )
    }
}

/// A session that is open on the operating table, with its tree.
#[derive(Debug, Clone)]
pub struct Tree {
    /// The session.
    pub session: Arc<Session>,
    /// The transcript.
    pub path: PathBuf,
    /// The session's id.
    pub id: String,
    /// What the command line calls the session: the beginning of its id, or its path.
    pub name: String,
    /// The state of the file when it was read.
    pub stamp: Option<Stamp>,
    /// Its title or first prompt.
    pub title: SessionText,
    /// The rows.
    pub nodes: Vec<Node>,
    /// The prompts of the turns; 0 is empty.
    pub prompts: Vec<SessionText>,
    /// The entries of messages that have more than one, by their first.
    pub lines: FxHashMap<EntryIx, Vec<EntryIx>>,
    /// The abandoned branches.
    pub branches: Vec<Branch>,
    /// The subagents.
    pub agents: Vec<Subagent>,
    /// What happened on branches and in subagents that were unfolded.
    pub asides: Vec<TurnItem>,
    /// Tokens in the context window.
    pub window: u64,
    /// Tokens that fit into it.
    pub limit: u64,
    /// Bytes of the transcript.
    pub bytes: u64,
    /// The entries of calls, by their blocks.
    pub calls: FxHashMap<BlockIx, EntryIx>,
    /// The beginnings of uuids that several entries have.
    ambiguous: FxHashSet<String>,
    /// The largest turn, in tokens.
    pub largest_turn: f32,
    /// The largest block, in tokens.
    pub largest_block: f32,
    calibration: Calibration,
}

impl Tree {
    /// Makes the tree of a session; `agents` are the subagents that it started.
    pub fn of(session: Arc<Session>, path: PathBuf, id: String, agents: Vec<Subagent>) -> Self {
        let name = id.chars().take(SHORT).collect();
        let weights = EntryWeights::of(&session);
        let calibration = Calibration::by(&session, &weights);
        let stats = TurnStats::all(&session, &weights);
        let most = stats.iter().filter_map(|s| s.window).max();
        let most = most.unwrap_or(0).max(calibration.window());
        let model = Status::of(&session).model;
        let mut tree = Self {
            path,
            name,
            stamp: None,
            title: Overview::of(&session).name(),
            nodes: Vec::with_capacity(session.entries().len() * 2),
            prompts: vec![SessionText::default(); session.turns().len() + 1],
            lines: FxHashMap::default(),
            branches: Branches::of(&session, &id).branches,
            agents,
            asides: Vec::new(),
            window: calibration.window(),
            limit: window_limit(model.as_ref().map(SessionText::raw), most),
            bytes: session.document().len(),
            calls: FxHashMap::default(),
            ambiguous: ambiguous(&session),
            largest_turn: 1.0,
            largest_block: 1.0,
            id,
            calibration,
            session: Arc::clone(&session),
        };
        builder::build(&session, &weights, &stats, &mut tree);
        tree
    }

    /// Returns the tokens that something of this weight takes.
    pub fn tokens(&self, weight: Weight) -> f32 {
        self.calibration.tokens(weight).max(0.0) as f32
    }

    /// Returns the tokens that a text of so many bytes takes.
    pub fn text_tokens(&self, bytes: usize) -> f32 {
        self.tokens(Weight::of_text(bytes))
    }

    /// How many turns the session has.
    pub fn turns(&self) -> u32 {
        self.session.turns().len() as u32
    }

    /// Returns the entries of a message.
    pub fn entries_of(&self, node: &Node) -> Vec<EntryIx> {
        let lines = self.lines.get(&node.entry());
        lines.cloned().unwrap_or_else(|| vec![node.entry()])
    }

    /// Returns the beginning of an entry's uuid, as long as no other entry has it.
    pub fn short_uuid(&self, entry: EntryIx) -> String {
        let uuid = self.session.uuid(self.session.entry(entry));
        let uuid = uuid.unwrap_or_default();
        let short: String = uuid.chars().take(SHORT).collect();
        if self.ambiguous.contains(&short) {
            uuid
        } else {
            short
        }
    }

    /// Returns the row above a row that it belongs to.
    pub fn parent(&self, row: usize) -> Option<usize> {
        let depth = self.nodes[row].depth;
        let above = self.nodes[..row].iter().rposition(|n| n.depth < depth);
        above.filter(|_| depth > 0)
    }

    /// Adds the conversation of a branch or a subagent below its row. Returns how many rows that are.
    pub fn insert_aside(&mut self, row: usize, conversation: Conversation) -> usize {
        let heading = self.nodes[row];
        let items = conversation.turn_contents.into_iter();
        let items: Vec<TurnItem> = items.flat_map(|turn| turn.items).collect();
        let first = self.asides.len();
        let nodes: Vec<Node> = (0..items.len())
            .map(|n| Node {
                kind: NodeKind::Aside,
                depth: heading.depth + 1,
                shown: false,
                counts: false,
                failed: matches!(items[n].content, ItemContent::Result { error: true, .. }),
                number: (first + n) as u32,
                block: NO_BLOCK,
                call: NO_BLOCK,
                end: (row + 2 + n) as u32,
                tokens: 0.0,
                bytes: 0,
                ..heading
            })
            .collect();
        let added = nodes.len();
        for node in &mut self.nodes {
            if node.end as usize > row {
                node.end += added as u32;
            }
        }
        let below = row + 1;
        self.nodes.splice(below..below, nodes);
        self.asides.extend(items);
        added
    }

    /// Returns the row with this key.
    pub fn find(&self, key: NodeKey) -> Option<usize> {
        self.nodes.iter().position(|n| n.key() == key)
    }
}

/// Returns the beginnings of uuids that several entries have.
fn ambiguous(session: &Session) -> FxHashSet<String> {
    let mut seen = FxHashSet::default();
    let chained = session.entries().iter().filter(|e| e.is_chained());
    let short = chained.filter_map(|e| {
        let uuid = session.uuid(e)?;
        Some(uuid.chars().take(SHORT).collect::<String>())
    });
    let again = |short: &String| !seen.insert(short.clone());
    short.filter(again).collect()
}
