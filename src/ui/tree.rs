//! A session as a tree: turns, their messages, and the blocks of those.

use std::path::PathBuf;
use std::sync::Arc;

use rustc_hash::{FxHashMap, FxHashSet};

use crate::session::{At, Session};
use crate::store::Stamp;
use crate::transcript::{Block, BlockKind, Entry, Id, Kind, PromptKind, Subtype};
use crate::view::{
    Branch, Branches, Overview, SessionText, Status, Subagent, TurnStats, live_members,
    window_limit,
};
use crate::window::{Calibration, EntryWeights, Weight, weight_of_block};

/// How many characters of a prompt are kept for its row.
const PROMPT: usize = 400;

/// How many characters of a uuid name an entry.
const SHORT: usize = 8;

/// What stands for a number that a node does not have.
pub(super) const NONE: u32 = u32::MAX;

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
    /// Its first entry. For branches and subagents, its place in their list.
    pub entry: u32,
    /// Its block.
    pub block: u32,
    /// The block of the call that it belongs to.
    pub call: u32,
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
}

impl Node {
    /// Returns what identifies it.
    pub fn key(&self) -> NodeKey {
        match self.kind {
            NodeKind::Turn => NodeKey(NodeKindGroup::Turn, self.turn),
            NodeKind::Branch => NodeKey(NodeKindGroup::Branch, self.entry),
            NodeKind::Subagent => NodeKey(NodeKindGroup::Subagent, self.entry),
            _ if self.block == NONE => NodeKey(NodeKindGroup::Entry, self.entry),
            _ => NodeKey(NodeKindGroup::Block, self.block),
        }
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
    pub lines: FxHashMap<u32, Vec<u32>>,
    /// The abandoned branches.
    pub branches: Vec<Branch>,
    /// The subagents.
    pub agents: Vec<Subagent>,
    /// Tokens in the context window.
    pub window: u64,
    /// Tokens that fit into it.
    pub limit: u64,
    /// Bytes of the transcript.
    pub bytes: u64,
    /// The entries of calls, by their blocks.
    pub calls: FxHashMap<u32, u32>,
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
        Builder {
            session: &session,
            weights: &weights,
            tree: &mut tree,
            later: Vec::new(),
        }
        .build(&stats);
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
    pub fn entries_of(&self, node: &Node) -> Vec<u32> {
        let lines = self.lines.get(&node.entry);
        lines.cloned().unwrap_or_else(|| vec![node.entry])
    }

    /// Returns the beginning of an entry's uuid, as long as no other entry has it.
    pub fn short_uuid(&self, entry: u32) -> String {
        let uuid = self.session.uuid(&self.session.entries()[entry as usize]);
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

/// The lines of one message.
struct Group {
    id: Id,
    entries: Vec<u32>,
}

struct Builder<'a> {
    session: &'a Session,
    weights: &'a EntryWeights,
    tree: &'a mut Tree,
    /// Rows that follow the turn at its own level: a compaction and its summary.
    later: Vec<Node>,
}

impl Builder<'_> {
    fn build(&mut self, stats: &[TurnStats]) {
        let members = live_members(self.session, 0, self.tree.turns());
        let mut members = members.as_slice();
        for stat in stats {
            let count = members.partition_point(|(turn, _)| *turn <= stat.number);
            let (own, rest) = members.split_at(count);
            members = rest;
            let prompt: String = stat.prompt.raw().chars().take(PROMPT).collect();
            self.tree.prompts[stat.number as usize] = prompt.into();
            self.turn(stat, own);
            self.branches_after(Some(stat.number));
        }
        self.branches_after(None);
        for at in 0..self.tree.nodes.len() {
            let node = &self.tree.nodes[at];
            let (tokens, is_turn) = (node.tokens, node.kind == NodeKind::Turn);
            let largest = if is_turn {
                &mut self.tree.largest_turn
            } else if node.block != NONE {
                &mut self.tree.largest_block
            } else {
                continue;
            };
            *largest = largest.max(tokens);
        }
    }

    fn turn(&mut self, stat: &TurnStats, members: &[(u32, u32)]) {
        if stat.number == 0 && members.is_empty() {
            return;
        }
        let row = self.tree.nodes.len();
        let tokens = self.tree.tokens(stat.weight);
        self.tree.nodes.push(Node {
            kind: NodeKind::Turn,
            depth: 0,
            shown: stat.shown,
            counts: stat.shown,
            failed: stat.errors > 0,
            turn: stat.number,
            entry: members.first().map_or(NONE, |m| m.1),
            block: NONE,
            call: NONE,
            end: 0,
            tokens,
            bytes: stat.bytes,
        });
        let groups = self.groups(members);
        let is_answer = |g: &Group| {
            let e = &self.session.entries()[g.entries[0] as usize];
            e.kind == Kind::Assistant
        };
        let last_answer = groups.iter().rposition(is_answer).unwrap_or(0);
        let mut compacted = false;
        for (n, group) in groups.iter().enumerate() {
            let e = &self.session.entries()[group.entries[0] as usize];
            compacted |= e.is_boundary() && n >= last_answer;
            self.message(stat.number, group, compacted);
        }
        let end = self.tree.nodes.len() as u32;
        self.tree.nodes[row].end = end;
        for mut node in std::mem::take(&mut self.later) {
            node.depth = 0;
            node.end = self.tree.nodes.len() as u32 + 1;
            self.tree.nodes.push(node);
        }
    }

    /// Returns the messages of a turn in the order of their first lines.
    fn groups(&self, members: &[(u32, u32)]) -> Vec<Group> {
        let mut groups: Vec<Group> = Vec::new();
        let mut places: FxHashMap<Id, usize> = FxHashMap::default();
        for &(_, i) in members {
            let e = &self.session.entries()[i as usize];
            let id = match e.kind {
                Kind::Assistant => e.message_id,
                _ => Id::NONE,
            };
            if let Some(&place) = places.get(&id).filter(|_| id.is_some()) {
                groups[place].entries.push(i);
                continue;
            }
            if id.is_some() {
                places.insert(id, groups.len());
            }
            let entries = vec![i];
            groups.push(Group { id, entries });
        }
        groups
    }

    fn message(&mut self, turn: u32, group: &Group, is_later: bool) {
        let session = self.session;
        let first = group.entries[0];
        let e = &session.entries()[first as usize];
        let Some(kind) = kind_of(session, e) else {
            return;
        };
        let row = self.tree.nodes.len();
        let weight: Weight = group.entries.iter().map(|&i| self.own_weight(i)).sum();
        let lines = group
            .entries
            .iter()
            .map(|&i| &session.entries()[i as usize]);
        let bytes = lines.map(|e| session.text(e).len() as u64 + 1).sum();
        let node = Node {
            kind,
            depth: 1,
            shown: session.graph().is_shown(first as usize),
            counts: self.counts(first),
            failed: e.flags.api_error(),
            turn,
            entry: first,
            block: NONE,
            call: NONE,
            end: row as u32 + 1,
            tokens: self.tree.tokens(weight),
            bytes,
        };
        if is_later {
            self.later.push(node);
            return;
        }
        self.tree.nodes.push(node);
        if group.id.is_some() && group.entries.len() > 1 {
            self.tree.lines.insert(first, group.entries.clone());
        }
        for &i in &group.entries {
            self.blocks(turn, i);
        }
        // A message of one text needs no row for it.
        if let [.., only] = &self.tree.nodes[row..]
            && self.tree.nodes.len() == row + 2
            && only.kind == NodeKind::Text
        {
            self.tree.nodes.pop();
        }
        self.close(row);
    }

    /// Sets where the rows of a message end, and adds what its calls and results weigh.
    fn close(&mut self, row: usize) {
        let end = self.tree.nodes.len() as u32;
        let results = self.tree.nodes[row + 1..].iter();
        let results = results.filter(|n| matches!(n.kind, NodeKind::Result));
        let (tokens, bytes) = results.fold((0.0, 0), |(t, b), n| (t + n.tokens, b + n.bytes));
        let failed = self.tree.nodes[row + 1..].iter().any(|n| n.failed);
        let node = &mut self.tree.nodes[row];
        node.end = end;
        node.tokens += tokens;
        node.bytes += bytes;
        node.failed |= failed;
    }

    /// The weight of an entry without the results in it that are listed after their calls.
    fn own_weight(&self, i: u32) -> Weight {
        let e = &self.session.entries()[i as usize];
        let line = self.session.text(e);
        let listed = self.session.blocks(e).iter();
        let listed = listed.filter(|b| b.kind.is_result() && is_answered(self.session, b));
        let listed: Weight = listed.map(|b| weight_of_block(b, line)).sum();
        self.weights.weight(i as usize) - listed
    }

    fn counts(&self, i: u32) -> bool {
        let shown = self.weights.shown(self.session, i as usize);
        shown != Weight::default()
    }

    fn blocks(&mut self, turn: u32, i: u32) {
        let e = &self.session.entries()[i as usize];
        for block in e.blocks.0..e.blocks.1 {
            let kind = match self.session.block(block).kind {
                kind if kind.is_thinking() => NodeKind::Thinking,
                kind if kind.is_call() => NodeKind::Call,
                kind if kind.is_result() => {
                    if is_answered(self.session, self.session.block(block)) {
                        continue;
                    }
                    NodeKind::Result
                }
                BlockKind::Image | BlockKind::Document => NodeKind::Media,
                _ => NodeKind::Text,
            };
            let call = if kind == NodeKind::Call {
                self.tree.calls.insert(block, i);
                block
            } else {
                NONE
            };
            self.block(turn, At { entry: i, block }, kind, call);
            if kind == NodeKind::Call {
                self.results(turn, block);
            }
        }
    }

    /// Adds the results of a call, and the subagent that it started.
    fn results(&mut self, turn: u32, call: u32) {
        let block = self.session.block(call);
        let Some(known) = self.session.calls().of(block) else {
            return;
        };
        if known.uses.first().is_some_and(|first| first.block != call) {
            return;
        }
        for &at in &known.results {
            self.block(turn, at, NodeKind::Result, call);
        }
        let name = |agent: &Subagent| {
            let id = agent.call_id.as_ref()?;
            Some(Id::of(id.raw().as_bytes()))
        };
        let started = self.tree.agents.iter();
        let Some(at) = started
            .into_iter()
            .position(|a| name(a) == Some(block.tool))
        else {
            return;
        };
        let bytes = self.tree.agents[at].bytes.unwrap_or(0);
        self.tree.nodes.push(Node {
            kind: NodeKind::Subagent,
            depth: 3,
            shown: false,
            counts: false,
            failed: false,
            turn,
            entry: at as u32,
            block: NONE,
            call,
            end: self.tree.nodes.len() as u32 + 1,
            tokens: 0.0,
            bytes,
        });
    }

    fn block(&mut self, turn: u32, at: At, kind: NodeKind, call: u32) {
        let e = &self.session.entries()[at.entry as usize];
        let block = self.session.block(at.block);
        let weight = weight_of_block(block, self.session.text(e));
        let dropped = kind == NodeKind::Thinking
            && self.weights.shown(self.session, at.entry as usize).thinking <= 0.0;
        self.tree.nodes.push(Node {
            kind,
            depth: if kind == NodeKind::Result { 3 } else { 2 },
            shown: self.session.graph().is_shown(at.entry as usize),
            counts: self.counts(at.entry) && !dropped,
            failed: block.is_failed(),
            turn,
            entry: at.entry,
            block: at.block,
            call,
            end: self.tree.nodes.len() as u32 + 1,
            tokens: self.tree.tokens(weight),
            bytes: block.span.len() as u64,
        });
    }

    /// Adds the branches that leave the live path after a turn, or those that are not connected to it.
    fn branches_after(&mut self, turn: Option<u32>) {
        let found = self.tree.branches.iter().enumerate();
        let found = found.filter(|(_, b)| b.after_turn == turn);
        let places: Vec<(usize, u64)> = found.map(|(at, b)| (at, b.bytes)).collect();
        for (at, bytes) in places {
            self.tree.nodes.push(Node {
                kind: NodeKind::Branch,
                depth: 0,
                shown: false,
                counts: false,
                failed: false,
                turn: turn.unwrap_or(self.tree.turns()),
                entry: at as u32,
                block: NONE,
                call: NONE,
                end: self.tree.nodes.len() as u32 + 1,
                tokens: 0.0,
                bytes,
            });
        }
    }
}

/// Whether a result is listed after its call.
fn is_answered(session: &Session, block: &Block) -> bool {
    let call = session.calls().of(block);
    call.is_some_and(|call| !call.uses.is_empty())
}

/// Returns what an entry is in the tree; `None` if it gets no row of its own.
fn kind_of(session: &Session, e: &Entry) -> Option<NodeKind> {
    match (e.kind, e.prompt) {
        (Kind::User, PromptKind::Words | PromptKind::Command) => Some(NodeKind::Prompt),
        (Kind::User, _) if e.flags.compact_summary() => Some(NodeKind::Summary),
        (Kind::User, _) => {
            let blocks = session.blocks(e);
            let is_listed = |b: &Block| b.kind.is_result() && is_answered(session, b);
            let all_listed = !blocks.is_empty() && blocks.iter().all(is_listed);
            (!all_listed).then_some(NodeKind::Note)
        }
        (Kind::Assistant, _) => Some(NodeKind::Answer),
        (Kind::System, _) if e.is_boundary() => Some(NodeKind::Compaction),
        (Kind::System, _) => (e.subtype == Subtype::LocalCommand).then_some(NodeKind::Note),
        (Kind::Attachment, _) if e.subtype == Subtype::QueuedCommand => Some(NodeKind::Prompt),
        (Kind::Attachment, _) => Some(NodeKind::Note),
        _ => None,
    }
}
