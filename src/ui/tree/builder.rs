//! Makes the rows of a tree.

use rustc_hash::{FxHashMap, FxHashSet};

use crate::session::{At, Session};
use crate::transcript::{Block, BlockIx, BlockKind, Entry, EntryIx, Id, Kind, PromptKind, Subtype};
use crate::view::{Subagent, TurnStats, live_members};
use crate::window::{EntryWeights, Weight, weight_of_block};

use super::{NO_BLOCK, Node, NodeKind, PROMPT, Tree};

/// Adds all rows of a session to its tree.
pub(super) fn build(
    session: &Session,
    weights: &EntryWeights,
    stats: &[TurnStats],
    tree: &mut Tree,
) {
    let mut builder = Builder {
        session,
        weights,
        tree,
        later: Vec::new(),
    };
    builder.build(stats);
}

/// The lines of one message.
struct Group {
    id: Id,
    entries: Vec<EntryIx>,
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
        self.other_agents();
        for at in 0..self.tree.nodes.len() {
            let node = &self.tree.nodes[at];
            let (tokens, is_turn) = (node.tokens, node.kind == NodeKind::Turn);
            let largest = if is_turn {
                &mut self.tree.largest_turn
            } else if node.block != NO_BLOCK {
                &mut self.tree.largest_block
            } else {
                continue;
            };
            *largest = largest.max(tokens);
        }
    }

    fn turn(&mut self, stat: &TurnStats, members: &[(u32, EntryIx)]) {
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
            number: members.first().map_or(EntryIx::MAX, |m| m.1).number(),
            block: NO_BLOCK,
            call: NO_BLOCK,
            end: 0,
            tokens,
            bytes: stat.bytes,
        });
        let groups = self.groups(members);
        let is_answer = |g: &Group| {
            let e = self.session.entry(g.entries[0]);
            e.kind == Kind::Assistant
        };
        let last_answer = groups.iter().rposition(is_answer).unwrap_or(0);
        let mut compacted = false;
        for (n, group) in groups.iter().enumerate() {
            let e = self.session.entry(group.entries[0]);
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
    fn groups(&self, members: &[(u32, EntryIx)]) -> Vec<Group> {
        let mut groups: Vec<Group> = Vec::new();
        let mut places: FxHashMap<Id, usize> = FxHashMap::default();
        for &(_, i) in members {
            let e = self.session.entry(i);
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
        let e = session.entry(first);
        let Some(kind) = kind_of(session, e) else {
            return;
        };
        let row = self.tree.nodes.len();
        let weight: Weight = group.entries.iter().map(|&i| self.own_weight(i)).sum();
        let lines = group.entries.iter().map(|&i| session.entry(i));
        let bytes = lines.map(|e| session.text(e).len() as u64 + 1).sum();
        let node = Node {
            kind,
            depth: 1,
            shown: session.graph().is_shown(first),
            counts: self.counts(first),
            failed: e.flags.api_error(),
            turn,
            number: first.number(),
            block: NO_BLOCK,
            call: NO_BLOCK,
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
    fn own_weight(&self, i: EntryIx) -> Weight {
        let e = self.session.entry(i);
        let line = self.session.text(e);
        let listed = self.session.blocks(e).iter();
        let listed = listed.filter(|b| b.kind.is_result() && is_answered(self.session, b));
        let listed: Weight = listed.map(|b| weight_of_block(b, line)).sum();
        self.weights.weight(i) - listed
    }

    fn counts(&self, i: EntryIx) -> bool {
        let shown = self.weights.shown(self.session, i);
        shown != Weight::default()
    }

    fn blocks(&mut self, turn: u32, i: EntryIx) {
        let e = self.session.entry(i);
        for block in e.blocks.numbers() {
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
                NO_BLOCK
            };
            self.block(turn, At { entry: i, block }, kind, call);
            if kind == NodeKind::Call {
                self.results(turn, block);
            }
        }
    }

    /// Adds the results of a call, and the subagent that it started.
    fn results(&mut self, turn: u32, call: BlockIx) {
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
        self.agent(at, turn, 3, call);
    }

    /// Adds the subagents that no call in the tree started.
    fn other_agents(&mut self) {
        let nodes = self.tree.nodes.iter();
        let placed = nodes.filter(|n| n.kind == NodeKind::Subagent);
        let placed: FxHashSet<u32> = placed.map(|n| n.number).collect();
        for at in 0..self.tree.agents.len() {
            if !placed.contains(&(at as u32)) {
                let turn = self.tree.agents[at].turn;
                self.agent(at, turn.unwrap_or(self.tree.turns()), 0, NO_BLOCK);
            }
        }
    }

    fn agent(&mut self, at: usize, turn: u32, depth: u8, call: BlockIx) {
        self.tree.nodes.push(Node {
            kind: NodeKind::Subagent,
            depth,
            shown: false,
            counts: false,
            failed: false,
            turn,
            number: at as u32,
            block: NO_BLOCK,
            call,
            end: self.tree.nodes.len() as u32 + 1,
            tokens: 0.0,
            bytes: self.tree.agents[at].bytes.unwrap_or(0),
        });
    }

    fn block(&mut self, turn: u32, at: At, kind: NodeKind, call: BlockIx) {
        let e = self.session.entry(at.entry);
        let block = self.session.block(at.block);
        let weight = weight_of_block(block, self.session.text(e));
        let dropped = kind == NodeKind::Thinking
            && self.weights.shown(self.session, at.entry).thinking <= 0.0;
        self.tree.nodes.push(Node {
            kind,
            depth: if kind == NodeKind::Result { 3 } else { 2 },
            shown: self.session.graph().is_shown(at.entry),
            counts: self.counts(at.entry) && !dropped,
            failed: block.is_failed(),
            turn,
            number: at.entry.number(),
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
                number: at as u32,
                block: NO_BLOCK,
                call: NO_BLOCK,
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
