//! The plan that marks are.
//!
//! Each step sees the session as the step before it left it. So steps that change the numbers of turns come after those that
//! name turns by number, and what is deleted with a turn or a message is not named again.

use std::collections::{BTreeMap, BTreeSet};

use super::{Marks, Stub, call_id};
use crate::transcript::{BlockIx, EntryIx};
use crate::ui::step::{OptionValue, Plan, Step};
use crate::ui::tree::{NO_BLOCK, NodeKind, Tree};

impl Marks {
    /// Returns the plan that the marks are.
    pub fn plan(&self, tree: &Tree) -> Plan {
        let session = &*tree.session;
        let last = self.cut.unwrap_or(u32::MAX);
        let stays = |turn: u32| turn <= last && !self.turns.contains(&turn);
        let turn_of = |entry: EntryIx| session.turns().of(session.graph(), entry);
        let entry_stays = |entry: EntryIx| turn_of(entry).is_none_or(stays);
        let mut steps = Vec::new();
        if let Some(cut) = self.cut {
            steps.push(Step::new("truncate").text("at", cut.to_string()));
        }
        for (entry, text) in self.edits.iter().filter(|(e, _)| entry_stays(**e)) {
            let message = tree.short_uuid(*entry);
            let step = Step::new("edit").text("message", message);
            steps.push(step.text("text", text));
        }
        let all: BTreeSet<u32> = (1..=tree.turns()).collect();
        let mut by_turns = |operation: &str, turns: &BTreeSet<u32>, holding: &BTreeSet<u32>| {
            let wanted = |turn: &u32| *turn > 0 && stays(*turn);
            let wanted: BTreeSet<u32> = turns.iter().copied().filter(wanted).collect();
            for (first, last) in ranges(&wanted, holding) {
                let step = Step::new(operation).text("turns", range_text(first, last));
                steps.push(step);
            }
        };
        let thinking = holding(tree, NodeKind::Thinking);
        let (whole_turns, single) = self.thinking_by_turn(tree);
        by_turns("strip-thinking", &whole_turns, &thinking);
        // Images may be inside results, which have no rows for them.
        by_turns("drop-images", &self.images, &all);
        let single = single.into_iter().filter(|e| entry_stays(*e));
        let single: Vec<String> = single.map(|e| tree.short_uuid(e)).collect();
        if !single.is_empty() {
            let step = Step::new("strip-thinking");
            steps.push(step.with("message", OptionValue::List(single)));
        }
        let deleted = deleted_calls(tree, self);
        self.push_stubs(tree, &deleted, &entry_stays, &mut steps);
        let turns: BTreeSet<u32> = self.turns.iter().copied().filter(|t| *t <= last).collect();
        // The last ones first, so that the numbers of the others stay right.
        for (first, last) in ranges(&turns, &all).into_iter().rev() {
            steps.push(Step::new("delete").text("turns", range_text(first, last)));
        }
        let messages = self.messages.iter().filter(|e| entry_stays(**e));
        let messages: Vec<String> = messages.map(|e| tree.short_uuid(*e)).collect();
        if !messages.is_empty() {
            steps.push(Step::new("delete").with("message", OptionValue::List(messages)));
        }
        let calls = self.calls.iter().filter(|c| !deleted.contains(c));
        let calls: Vec<String> = calls.filter_map(|c| call_id(tree, *c)).collect();
        if !calls.is_empty() {
            steps.push(Step::new("delete").with("id", OptionValue::List(calls)));
        }
        steps.extend(self.compaction_step(tree, &stays));
        steps.extend(self.more.iter().cloned());
        if self.redact {
            steps.push(Step::new("redact"));
        }
        Plan { steps }
    }

    /// Divides the marked thinking into turns that lose all of theirs, and single entries.
    fn thinking_by_turn(&self, tree: &Tree) -> (BTreeSet<u32>, BTreeSet<EntryIx>) {
        let mut turns: BTreeMap<u32, BTreeSet<EntryIx>> = BTreeMap::new();
        for node in tree.nodes.iter().filter(|n| n.kind == NodeKind::Thinking) {
            turns.entry(node.turn).or_default().insert(node.entry());
        }
        let (mut whole, mut single) = (BTreeSet::new(), BTreeSet::new());
        for (turn, entries) in turns {
            if turn > 0 && entries.is_subset(&self.thinking) {
                whole.insert(turn);
            } else {
                single.extend(entries.intersection(&self.thinking));
            }
        }
        (whole, single)
    }

    fn push_stubs(
        &self,
        tree: &Tree,
        deleted: &BTreeSet<BlockIx>,
        entry_stays: &impl Fn(EntryIx) -> bool,
        steps: &mut Vec<Step>,
    ) {
        let mut styles: BTreeMap<Stub, Vec<String>> = BTreeMap::new();
        for (call, stub) in &self.stubs {
            let stays = tree.calls.get(call).is_none_or(|e| entry_stays(*e));
            if stays && !deleted.contains(call) && !self.calls.contains(call) {
                styles
                    .entry(*stub)
                    .or_default()
                    .extend(call_id(tree, *call));
            }
        }
        for (stub, ids) in styles {
            let mut step = Step::new("drop-tools").with("id", OptionValue::List(ids));
            step = step.with("stub", OptionValue::Given);
            for (name, lines) in [("head", stub.head), ("tail", stub.tail)] {
                if lines > 0 {
                    step = step.with(name, OptionValue::Number(lines as u64));
                }
            }
            if stub.key_lines {
                step = step.with("key-lines", OptionValue::Given);
            }
            steps.push(step);
        }
    }

    /// Returns the compaction. Its turn is named by an entry that stays, because turns before it may be deleted.
    fn compaction_step(&self, tree: &Tree, stays: &impl Fn(u32) -> bool) -> Option<Step> {
        let compaction = self.compaction.as_ref()?;
        let mut nodes = tree.nodes.iter().rev();
        let found = nodes.find(|n| {
            n.is_message()
                && n.turn > 0
                && n.turn <= compaction.at
                && stays(n.turn)
                && !self.messages.contains(&n.entry())
        })?;
        let at = if self.turns.is_empty() && self.messages.is_empty() {
            compaction.at.to_string()
        } else {
            tree.short_uuid(found.entry())
        };
        let kept = compaction.before.filter(|_| stays(compaction.at));
        let mut step = match kept {
            Some(entry) => Step::new("compact").text("before", tree.short_uuid(entry)),
            None => Step::new("compact").text("at", at),
        };
        if let Some(summary) = &compaction.summary {
            step = step.text("summary", summary);
        } else if let Some(size) = compaction.max_tokens {
            step = step.with("max-tokens", OptionValue::Number(size as u64));
        }
        Some(step)
    }
}

/// Returns the calls that are deleted with their turns or messages.
fn deleted_calls(tree: &Tree, marks: &Marks) -> BTreeSet<BlockIx> {
    let mut out = BTreeSet::new();
    for (row, node) in tree.nodes.iter().enumerate() {
        let with_turn = node.kind == NodeKind::Turn
            && (marks.turns.contains(&node.turn) || marks.cut.is_some_and(|cut| node.turn > cut));
        if with_turn || node.is_message() && marks.messages.contains(&node.entry()) {
            let below = &tree.nodes[row + 1..(node.end as usize).max(row + 1)];
            out.extend(below.iter().map(|n| n.call).filter(|c| *c != NO_BLOCK));
        }
    }
    out
}

/// Returns the turns that hold blocks of a kind.
fn holding(tree: &Tree, kind: NodeKind) -> BTreeSet<u32> {
    let nodes = tree.nodes.iter().filter(|n| n.kind == kind);
    nodes.map(|n| n.turn).collect()
}

/// Joins turns to ranges. A range may span turns that hold nothing of the kind.
fn ranges(turns: &BTreeSet<u32>, holding: &BTreeSet<u32>) -> Vec<(u32, u32)> {
    let mut out: Vec<(u32, u32)> = Vec::new();
    for &turn in turns {
        match out.last_mut() {
            Some((_, last)) if holding.range(*last + 1..turn).next().is_none() => *last = turn,
            _ => out.push((turn, turn)),
        }
    }
    out
}

fn range_text(first: u32, last: u32) -> String {
    if first == last {
        first.to_string()
    } else {
        format!("{first}..{last}")
    }
}
