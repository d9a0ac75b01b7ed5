//! What the model is shown of a transcript: a small model of the newest client, independent of the library.

use std::collections::{BTreeSet, HashMap};

use serde_json::Value;

use super::entry::{begins_turn, content, is_boundary, is_chained, is_message, str_of};

/// One block that the model is shown.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Block {
    /// `user`, `assistant` or `system`.
    pub(crate) role: &'static str,
    pub(crate) json: Value,
    /// The id of the API message, for blocks of the model.
    pub(crate) message: String,
    /// The turn to which the block belongs; 0 before the first prompt, and for summaries.
    pub(crate) turn: usize,
    /// The entry of the block, as an index; of no use across transcripts.
    pub(crate) entry: usize,
}

impl Block {
    pub(crate) fn kind(&self) -> &str {
        self.json["type"].as_str().unwrap_or_default()
    }

    pub(crate) fn is_thinking(&self) -> bool {
        matches!(self.kind(), "thinking" | "redacted_thinking")
    }

    /// Whether it is a half of one of these calls, or thinking of one of these messages.
    pub(crate) fn is_of(&self, ids: &BTreeSet<String>) -> bool {
        self.call().is_some_and(|id| ids.contains(id))
            || self.is_thinking() && ids.contains(&self.message)
    }

    /// The id of the call that the block makes or answers.
    pub(crate) fn call(&self) -> Option<&str> {
        let id = self.json.get("id").or_else(|| self.json.get("tool_use_id"));
        id.and_then(Value::as_str)
    }
}

/// A call on the live path.
#[derive(Debug, Clone)]
pub(crate) struct LiveCall {
    pub(crate) id: String,
    pub(crate) message: String,
    pub(crate) tool: String,
    pub(crate) turn: usize,
    pub(crate) failed: bool,
}

/// A transcript, as far as the conversation is concerned.
pub(crate) struct Conversation {
    pub(crate) entries: Vec<Value>,
    by_uuid: HashMap<String, usize>,
    /// The live path through all compactions, and the turn of each entry on it.
    pub(crate) path: Vec<usize>,
    pub(crate) turns: Vec<usize>,
}

impl Conversation {
    /// Reads a transcript.
    pub(crate) fn new(text: &str) -> Self {
        let lines = text
            .lines()
            .filter_map(|l| serde_json::from_str::<Value>(l).ok());
        let mut entries: Vec<Value> = Vec::new();
        let mut by_uuid = HashMap::new();
        for line in lines {
            if let (Some(uuid), true) = (line["uuid"].as_str(), is_chained(&line)) {
                // A line that is written twice counts once, where it stood first, as it was written last.
                if let Some(&first) = by_uuid.get(uuid) {
                    entries[first] = line;
                    continue;
                }
                by_uuid.insert(uuid.to_owned(), entries.len());
            }
            entries.push(line);
        }
        let mut out = Self {
            entries,
            by_uuid,
            path: Vec::new(),
            turns: Vec::new(),
        };
        out.path = out.whole_path();
        out.turns = out.count_turns();
        out
    }

    fn find(&self, uuid: &Value) -> Option<usize> {
        uuid.as_str().and_then(|u| self.by_uuid.get(u).copied())
    }

    /// An entry and all above it, up to a root, from the root on.
    fn upwards(&self, from: usize) -> Vec<usize> {
        let mut out = vec![from];
        while let Some(parent) = self.find(&self.entries[out[out.len() - 1]]["parentUuid"]) {
            if out.contains(&parent) {
                break;
            }
            out.push(parent);
        }
        out.reverse();
        out
    }

    /// The entry where the conversation ends.
    fn leaf(&self) -> Option<usize> {
        let live = |e: &Value| is_chained(e) && e["isSidechain"] != true;
        let last = self.entries.iter().rposition(live)?;
        let above = self.upwards(last);
        let boundary = self.entries.iter().rposition(is_boundary);
        let named = self
            .entries
            .iter()
            .rposition(|e| e["type"] == "last-prompt");
        let named = named.filter(|&n| boundary.is_none_or(|b| b < n));
        let named = named.and_then(|n| self.find(&self.entries[n]["leafUuid"]));
        // Results of parallel calls are not branches of the conversation.
        let of_path = |n: usize| {
            let answers = content(&self.entries[n]);
            let calls: BTreeSet<&str> = answers
                .iter()
                .filter_map(|b| b["tool_use_id"].as_str())
                .collect();
            above.iter().any(|&a| {
                content(&self.entries[a])
                    .iter()
                    .any(|b| calls.contains(str_of(b, "id")))
            }) || above.iter().any(|&a| {
                let id = &self.entries[a]["message"]["id"];
                id.is_string() && *id == self.entries[n]["message"]["id"]
            })
        };
        // A person who went back marks the place, until something follows in the file.
        let ends = self
            .entries
            .iter()
            .rev()
            .find(|e| is_chained(e) || e["type"] == "last-prompt");
        let marked = ends.is_some_and(|e| e["explicit"] == true);
        named
            .filter(|n| marked || !above.contains(n) && !of_path(*n))
            .or(Some(last))
    }

    /// The messages that a boundary keeps, and the entry that they follow.
    fn kept(&self, boundary: usize) -> Option<(usize, Vec<usize>)> {
        let metadata = &self.entries[boundary]["compactMetadata"];
        if let Some(uuids) = metadata["preservedMessages"]["uuids"].as_array() {
            let anchor = self.find(&metadata["preservedMessages"]["anchorUuid"])?;
            let kept: Option<Vec<usize>> = uuids.iter().map(|u| self.find(u)).collect();
            return kept.map(|k| (anchor, k));
        }
        let segment = &metadata["preservedSegment"];
        let (head, tail) = (
            self.find(&segment["headUuid"])?,
            self.find(&segment["tailUuid"])?,
        );
        let above = self.upwards(tail);
        let from = above.iter().position(|&i| i == head)?;
        Some((self.find(&segment["anchorUuid"])?, above[from..].to_vec()))
    }

    /// The path below a root with what its boundary keeps, in the order of the conversation.
    fn with_kept(&self, path: Vec<usize>) -> Vec<usize> {
        let boundary = path
            .first()
            .copied()
            .filter(|&i| is_boundary(&self.entries[i]));
        let Some((anchor, kept)) = boundary.and_then(|b| self.kept(b)) else {
            return path;
        };
        let mut out = Vec::new();
        for i in path.into_iter().filter(|i| !kept.contains(i)) {
            out.push(i);
            if i == anchor {
                out.extend(&kept);
            }
        }
        out
    }

    fn whole_path(&self) -> Vec<usize> {
        let Some(leaf) = self.leaf() else {
            return Vec::new();
        };
        let mut path = self.with_kept(self.upwards(leaf));
        while let Some(&first) = path.first() {
            let Some(before) = self.find(&self.entries[first]["logicalParentUuid"]) else {
                break;
            };
            let mut earlier = self.with_kept(self.upwards(before));
            earlier.retain(|i| !path.contains(i));
            if earlier.is_empty() {
                break;
            }
            earlier.extend(path);
            path = earlier;
        }
        path
    }

    fn count_turns(&self) -> Vec<usize> {
        let mut turn = 0;
        let begins = |at: usize| {
            let answered = || {
                let after = self.path[at + 1..].iter().map(|&i| &self.entries[i]);
                let next = after
                    .clone()
                    .find(|e| e["type"] == "assistant" || begins_turn(e, || true));
                next.is_some_and(|e| e["type"] == "assistant")
            };
            begins_turn(&self.entries[self.path[at]], answered)
        };
        (0..self.path.len())
            .map(|at| {
                turn += usize::from(begins(at));
                turn
            })
            .collect()
    }

    /// How many turns there are.
    pub(crate) fn turns(&self) -> usize {
        self.turns.last().copied().unwrap_or_default()
    }

    /// The first turn that the model is shown and no compaction preserved: a boundary can stand only after it.
    pub(crate) fn first_free_turn(&self) -> usize {
        let from = self.window_start();
        let boundary = self.path.get(from).copied().unwrap_or_default();
        let messages = (from..self.path.len()).filter(|&p| {
            let e = &self.entries[self.path[p]];
            is_message(e) && e["isCompactSummary"] != true && self.path[p] >= boundary
        });
        let turns = messages.map(|p| self.turns[p]).filter(|&t| t > 0);
        turns.min().unwrap_or_default()
    }

    /// The position of the path from which on the model is shown it.
    fn window_start(&self) -> usize {
        self.path
            .iter()
            .rposition(|&i| is_boundary(&self.entries[i]))
            .unwrap_or(0)
    }

    /// What the model is shown.
    pub(crate) fn blocks(&self) -> Vec<Block> {
        self.shown(&self.path[self.window_start()..])
    }

    /// What the model would be shown of some turns alone, as they were; `None` if a compaction is among them or moved
    /// their messages.
    pub(crate) fn of_turns(&self, first: usize, last: usize) -> Option<Vec<Block>> {
        let from = self.turns.iter().position(|&t| t == first)?;
        let end = self.end_of(last)?;
        let path = &self.path[from..=end];
        let boundary = self.path[..from]
            .iter()
            .rfind(|&&i| is_boundary(&self.entries[i]));
        let moved = |i: &usize| boundary.is_some_and(|b| i < b);
        let compacted = path.iter().any(|&i| is_boundary(&self.entries[i]));
        (!compacted && !path.iter().any(moved)).then(|| self.shown(path))
    }

    /// Whether a boundary names messages that it keeps.
    pub(crate) fn has_kept(&self) -> bool {
        let mut kept = self.entries.iter().filter(|e| is_boundary(e));
        kept.any(|e| e["compactMetadata"]["preservedSegment"].is_object())
    }

    /// The messages that the model is shown, by the indices of their entries: prompts, and the first lines of answers.
    pub(crate) fn shown_messages(&self) -> Vec<usize> {
        let mut out: Vec<usize> = Vec::new();
        for block in self.blocks() {
            let e = &self.entries[block.entry];
            let is_new = out.last() != Some(&block.entry);
            let words = block.kind() == "text" && is_message(e) && e["isCompactSummary"] != true;
            if words && is_new && !content(e).iter().any(|b| b["type"] == "tool_result") {
                out.push(block.entry);
            }
        }
        out
    }

    /// The answers that continue a turn after results, by the indices of their entries.
    pub(crate) fn steps(&self) -> Vec<usize> {
        let blocks = self.blocks();
        let continues = |pair: &[Block]| {
            let (result, answer) = (&pair[0], &pair[1]);
            let same_turn = result.turn == answer.turn;
            (result.kind() == "tool_result" && answer.role == "assistant" && same_turn)
                .then_some(answer.entry)
        };
        blocks.windows(2).filter_map(continues).collect()
    }

    /// The turn of an entry of the live path.
    pub(crate) fn turn_of(&self, uuid: &str) -> Option<usize> {
        let mut path = self.path.iter().zip(&self.turns);
        let found = path.find(|&(&i, _)| self.entries[i]["uuid"] == uuid);
        found.map(|(_, &turn)| turn)
    }

    /// Whether a prompt stands between an answer and a result of its calls: once something there changes, what follows
    /// is linked in the order in which it is shown.
    pub(crate) fn has_prompt_before_results(&self) -> bool {
        let mut has_prompt = false;
        self.path.iter().map(|&i| &self.entries[i]).any(|e| {
            let is_result = content(e).iter().any(|b| b["type"] == "tool_result");
            has_prompt &= e["type"] != "assistant";
            has_prompt |= e["type"] == "user" && !is_result;
            has_prompt && is_result
        })
    }

    /// The entries that are on no live path, by their uuids.
    pub(crate) fn abandoned(&self) -> Vec<String> {
        let entries = self.entries.iter().enumerate();
        let off = entries
            .filter(|(i, e)| is_message(e) && e["isSidechain"] != true && !self.path.contains(i));
        off.map(|(_, e)| str_of(e, "uuid").to_owned()).collect()
    }

    /// The position at which a turn ends: before a compaction after its last answer.
    fn end_of(&self, turn: usize) -> Option<usize> {
        let of_turn: Vec<usize> = (0..self.path.len())
            .filter(|&p| self.turns[p] == turn)
            .collect();
        let last = *of_turn.last()?;
        let of = |p: usize| &self.entries[self.path[p]];
        let answered = of_turn
            .iter()
            .rposition(|&p| of(p)["type"] == "assistant")
            .unwrap_or(0);
        let boundary = of_turn[answered..].iter().position(|&p| is_boundary(of(p)));
        Some(boundary.map_or(last, |b| of_turn[answered + b] - 1))
    }

    /// What the model was shown at the end of a turn: as it was then, and, where the turn is kept by a later compaction, as
    /// it is after that.
    pub(crate) fn at(&self, turn: usize) -> Vec<Vec<Block>> {
        let Some(end) = self.end_of(turn) else {
            return Vec::new();
        };
        let from = self.path[..=end]
            .iter()
            .rposition(|&i| is_boundary(&self.entries[i]))
            .unwrap_or(0);
        let now = self.shown(&self.path[from..=end]);
        let then = self.shown(&self.with_kept(self.upwards(self.path[end])));
        vec![now, then]
    }

    /// Whether an entry has a result and words: it is a matter of taste which turn the words belong to.
    pub(crate) fn has_words_beside_results(&self) -> bool {
        let mut blocks = self.entries.iter().map(content);
        blocks.any(|b| b.len() > 1 && b[0]["type"] == "tool_result")
    }
}
