//! The blocks and calls of a conversation.

use std::collections::{BTreeMap, BTreeSet, HashMap};

use serde_json::Value;

use super::conversation::{Block, Conversation, LiveCall};
use super::entry::{attached, content, is_message, str_of};

impl Conversation {
    /// The last turn, if it waits for results or for the model after results.
    pub(crate) fn unfinished_turn(&self) -> Option<usize> {
        let last = self
            .path
            .iter()
            .rposition(|&i| is_message(&self.entries[i]))?;
        let (leaf, turn) = (&self.entries[self.path[last]], self.turns[last]);
        if leaf["type"] == "user" {
            // A prompt may have arrived before the result: the turn that waits is that of the call.
            let result = content(leaf)
                .into_iter()
                .find(|b| b["type"] == "tool_result")?;
            let calls = self.calls();
            let call = calls
                .iter()
                .find(|c| result["tool_use_id"] == c.id.as_str());
            return Some(call.map_or(turn, |c| c.turn));
        }
        let open = self.open_messages();
        open.contains(str_of(&leaf["message"], "id"))
            .then_some(turn)
    }

    /// The id of the last message of the model on the live path.
    pub(crate) fn last_message(&self) -> &str {
        let messages = self.path.iter().rev().map(|&i| &self.entries[i]);
        let mut answers = messages.filter(|e| e["type"] == "assistant");
        answers
            .next()
            .map(|e| str_of(&e["message"], "id"))
            .unwrap_or_default()
    }

    /// Whether a call of the live conversation has no result.
    pub(crate) fn has_open_call(&self) -> bool {
        let answered = self.answered();
        self.calls().iter().any(|c| !answered.contains_key(&c.id))
    }

    /// The ids of calls that are not on the live path, and of their messages.
    pub(crate) fn other_calls(&self) -> Vec<String> {
        let live: BTreeSet<String> = self.calls().into_iter().map(|c| c.id).collect();
        let mut out = Vec::new();
        for e in &self.entries {
            let calls = content(e).into_iter().filter(|b| b["type"] == "tool_use");
            for id in calls
                .map(|b| str_of(&b, "id").to_owned())
                .filter(|id| !live.contains(id))
            {
                out.extend([id, str_of(&e["message"], "id").to_owned()]);
            }
        }
        out
    }

    /// The messages of the live conversation with a call that has no result.
    pub(crate) fn open_messages(&self) -> BTreeSet<String> {
        let answered = self.answered();
        let open = self
            .calls()
            .into_iter()
            .filter(|c| !answered.contains_key(&c.id));
        open.map(|c| c.message).collect()
    }

    /// The calls of the live conversation that have no result.
    pub(crate) fn open_calls(&self) -> BTreeSet<String> {
        let answered = self.answered();
        let ids = self.calls().into_iter().map(|c| c.id);
        ids.filter(|id| !answered.contains_key(id)).collect()
    }

    /// The calls of the live conversation, with those that have no result.
    pub(crate) fn calls(&self) -> Vec<LiveCall> {
        let answered = self.answered();
        let turn_of: HashMap<&str, usize> = self
            .path
            .iter()
            .zip(&self.turns)
            .map(|(&i, &turn)| (str_of(&self.entries[i]["message"], "id"), turn))
            .collect();
        let mut out = Vec::new();
        for e in self.entries.iter().filter(|e| e["type"] == "assistant") {
            let message = str_of(&e["message"], "id");
            let Some(&turn) = turn_of.get(message) else {
                continue;
            };
            for block in content(e).iter().filter(|b| b["type"] == "tool_use") {
                let id = str_of(block, "id").to_owned();
                let result = answered
                    .get(&id)
                    .map(|&i| content(&self.entries[i]))
                    .unwrap_or_default();
                let failed = result
                    .iter()
                    .any(|b| b["is_error"] == true && b["tool_use_id"] == id.as_str());
                let (message, tool) = (message.to_owned(), str_of(block, "name").to_owned());
                out.push(LiveCall {
                    id,
                    message,
                    tool,
                    turn,
                    failed,
                });
            }
        }
        out
    }

    /// Results whose call is nowhere.
    pub(crate) fn stray_results(&self) -> usize {
        let blocks: Vec<Value> = self.entries.iter().flat_map(content).collect();
        let made: BTreeSet<&str> = blocks.iter().filter_map(|b| b["id"].as_str()).collect();
        blocks
            .iter()
            .filter_map(|b| b["tool_use_id"].as_str())
            .filter(|id| !made.contains(id))
            .count()
    }

    /// The entry of each call's result.
    fn answered(&self) -> BTreeMap<String, usize> {
        let mut out = BTreeMap::new();
        for (i, e) in self
            .entries
            .iter()
            .enumerate()
            .filter(|(_, e)| e["isSidechain"] != true && e["type"] == "user")
        {
            for block in content(e) {
                if let Some(id) = block["tool_use_id"].as_str() {
                    out.entry(id.to_owned()).or_insert(i);
                }
            }
        }
        out
    }

    /// Numbers the parts of a path between prompts: the lines of a message are put together, but not across a prompt.
    fn parts(&self, path: &[usize]) -> HashMap<usize, usize> {
        let mut part = 0;
        let number = |&i: &usize| {
            let e = &self.entries[i];
            let answers = content(e).iter().any(|b| b["type"] == "tool_result");
            part += usize::from(e["type"] == "user" && !answers);
            (i, part)
        };
        path.iter().map(number).collect()
    }

    /// Whether a hook reports on a call after this turn.
    pub(crate) fn reports_after(&self, call: &str, turn: usize) -> bool {
        let mut path = self.path.iter().zip(&self.turns);
        path.any(|(&i, &t)| t > turn && self.entries[i]["attachment"]["toolUseID"] == call)
    }

    /// Whether a prompt arrived between two lines of a message.
    pub(crate) fn has_split_message(&self) -> bool {
        let parts = self.parts(&self.path);
        let answers = self
            .path
            .iter()
            .filter(|&&i| self.entries[i]["type"] == "assistant");
        let of = |i: &usize| (str_of(&self.entries[*i]["message"], "id"), parts[i]);
        let all: BTreeMap<&str, usize> = answers.clone().map(of).collect();
        answers.map(of).any(|(id, part)| all[id] != part)
    }

    /// The part of a path to which a line of a message belongs. A line beside the live path belongs to the last part of that
    /// path that has one; one that is before or after the given path does not belong to it.
    fn part_of(&self, line: usize, path: &[usize], parts: &HashMap<usize, usize>) -> Option<usize> {
        let id = str_of(&self.entries[line]["message"], "id");
        let own = |i: &&usize| str_of(&self.entries[**i]["message"], "id") == id;
        let on_path = |i: usize| self.path.iter().position(|&on_path| on_path == i);
        let known = match on_path(line) {
            Some(_) => line,
            None => self.path.iter().rfind(own).copied().unwrap_or(line),
        };
        if let Some(&part) = parts.get(&known) {
            return Some(part);
        }
        let stretch = || path.iter().filter_map(|&i| on_path(i));
        let outside = |p: usize| stretch().max() < Some(p) || stretch().min() > Some(p);
        if on_path(known).is_some_and(outside) {
            return None;
        }
        let last = path.iter().rfind(own);
        last.and_then(|last| parts.get(last).copied())
    }

    /// Turns a stretch of the path into blocks: the lines of a message together, results after their calls.
    pub(crate) fn shown(&self, path: &[usize]) -> Vec<Block> {
        let answered = self.answered();
        let turn_of: HashMap<usize, usize> = self
            .path
            .iter()
            .copied()
            .zip(self.turns.iter().copied())
            .collect();
        let mut out: Vec<Block> = Vec::new();
        let mut seen = BTreeSet::new();
        let parts = self.parts(path);
        for &i in path {
            let e = &self.entries[i];
            let part = parts.get(&i).copied();
            let is_summary = e["isCompactSummary"] == true;
            let turn = turn_of.get(&i).copied().filter(|_| !is_summary);
            let turn = turn.unwrap_or_default();
            let block = |role, json, message: &str| Block {
                role,
                json,
                message: message.to_owned(),
                turn,
                entry: i,
            };
            match str_of(e, "type") {
                "assistant" => {
                    let id = str_of(&e["message"], "id");
                    if !seen.insert((id.to_owned(), part)) {
                        continue;
                    }
                    let lines = self.entries.iter().enumerate().filter(|(l, line)| {
                        line["type"] == "assistant"
                            && str_of(&line["message"], "id") == id
                            && self.part_of(*l, path, &parts) == part
                    });
                    let blocks = lines.flat_map(|(_, line)| content(line));
                    let whole = |b: &Value| {
                        b["type"] != "tool_use" || answered.contains_key(str_of(b, "id"))
                    };
                    let blocks: Vec<Value> = blocks.filter(whole).collect();
                    if blocks
                        .iter()
                        .all(|b| matches!(str_of(b, "type"), "thinking" | "redacted_thinking"))
                    {
                        continue;
                    }
                    let mut calls: Vec<String> = blocks
                        .iter()
                        .filter_map(|b| b["id"].as_str().map(str::to_owned))
                        .collect();
                    // Results are shown in the order of the file.
                    calls.sort_by_key(|call| answered[call]);
                    out.extend(blocks.into_iter().map(|b| block("assistant", b, id)));
                    for call in calls {
                        let entry = answered[&call];
                        // Words beside a result are shown with it; on the path they follow anyway.
                        let beside =
                            |b: &Value| b["type"] != "tool_result" && !path.contains(&entry);
                        let own = |b: &Value| b["tool_use_id"] == call.as_str();
                        let result = content(&self.entries[entry])
                            .into_iter()
                            .filter(|b| own(b) || beside(b));
                        let of_result = |json| Block {
                            entry,
                            ..block("user", json, "")
                        };
                        out.extend(result.map(of_result));
                    }
                }
                "user" => {
                    let words = content(e)
                        .into_iter()
                        .filter(|b| b["type"] != "tool_result");
                    out.extend(words.map(|b| block("user", b, "")));
                }
                "attachment" => {
                    let (role, texts) = attached(e);
                    out.extend(texts.into_iter().map(|b| block(role, b, "")));
                }
                _ => {}
            }
        }
        out
    }
}
