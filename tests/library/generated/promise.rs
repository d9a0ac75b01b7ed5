//! What each operation promises.

use std::collections::BTreeSet;

use ccsurgery::secrets::{placeholder, placeholders};
use serde_json::{Value, json};

use super::conversation::{Block, Conversation, LiveCall};
use super::entry::{is_message, str_of};
use super::operation::{Choice, EDITED, Operation};
use super::recipe::TOOLS;

/// What an operation promises.
#[derive(Debug, Default)]
pub(crate) struct Promise {
    /// What the model is shown afterwards: one of these.
    pub(crate) shown: Vec<Vec<Block>>,
    /// Calls whose output may become a note.
    pub(crate) stubbed: BTreeSet<String>,
    /// Calls without a result, and their messages: a result may be added, so that the model is shown the call.
    pub(crate) answered: BTreeSet<String>,
    /// Texts that no longer occur in the file.
    pub(crate) gone: Vec<String>,
    /// Lines with one of these texts may be edited or removed.
    pub(crate) touches: Vec<String>,
    /// Whether any line may be removed.
    pub(crate) removes_lines: bool,
    /// Whether the new leaf may get a later time: old clients continue from the newest entry.
    pub(crate) moves_leaf: bool,
    /// Whether the operation may refuse.
    pub(crate) may_refuse: bool,
    /// The turns from this one on are kept as they are, if nothing more is promised.
    pub(crate) kept_from: Option<usize>,
    /// Whether the first block is a new summary.
    pub(crate) summary: bool,
    /// Whether nothing is promised about what the model is shown, beyond what the library itself verifies.
    pub(crate) free: bool,
}

/// Fields of thinking that occur in no other block.
const SECRET: [&str; 2] = ["signature", "data"];

impl Operation {
    /// What it promises for a session.
    pub(crate) fn promise(&self, before: &Conversation) -> Promise {
        let blocks = before.blocks();
        let turns = before.turns();
        // What an unfinished turn waits for is kept.
        let spared = before.unfinished_turn().unwrap_or(usize::MAX);
        let last = |keep: &Option<usize>| keep.map_or(usize::MAX, |n| turns.saturating_sub(n));
        match self {
            Self::Repair => {
                let mut answered = before.open_messages();
                // What follows an added result hangs on it.
                let touches = if answered.is_empty() {
                    None
                } else {
                    Some("parentUuid")
                };
                answered.extend(before.open_calls());
                Promise {
                    shown: vec![blocks.into_iter().filter(|b| !b.is_of(&answered)).collect()],
                    removes_lines: true,
                    touches: touches.into_iter().map(str::to_owned).collect(),
                    answered,
                    ..Promise::default()
                }
            }
            Self::Clone => Promise {
                shown: vec![blocks],
                removes_lines: true,
                ..Promise::default()
            },
            Self::DropHidden { .. } => Promise {
                shown: vec![blocks],
                removes_lines: true,
                touches: vec!["\"toolUseResult\"".to_owned()],
                ..Promise::default()
            },
            Self::CloneAt(n) | Self::Truncate(n) => Promise {
                shown: before.at(*n),
                removes_lines: true,
                moves_leaf: true,
                may_refuse: before.has_open_call(),
                ..Promise::default()
            },
            Self::StripThinking { keep_last } => {
                let limit = last(keep_last);
                without(blocks, |b| {
                    b.is_thinking() && b.turn <= limit && b.turn != spared
                })
            }
            Self::DropTools(choice) => {
                let calls = before.calls();
                let number = |c: &LiveCall| calls.iter().position(|other| other.id == c.id);
                let chosen = calls.iter().filter(|c| match choice {
                    Choice::All => c.turn != spared,
                    Choice::Tool(n) => c.tool == TOOLS[*n] && c.turn != spared,
                    Choice::Number(n) => number(c) == Some(*n),
                    Choice::Errors => c.failed && c.turn != spared,
                    Choice::KeepLast(n) => {
                        let limit = turns.saturating_sub(*n);
                        c.turn <= limit && c.turn != spared && !before.reports_after(&c.id, limit)
                    }
                });
                let mut promise = drop_calls(blocks, &chosen.collect::<Vec<_>>());
                let one = matches!(choice, Choice::Number(_));
                promise.may_refuse = one && before.unfinished_turn().is_some();
                // The prompt of a removed call is the new leaf, if the call was killed.
                promise.moves_leaf = before.has_open_call();
                // What follows a removed result hangs on the words beside it, if there are any.
                promise.touches.push("\"beside-".to_owned());
                let joins = before.has_words_beside_results() || before.has_prompt_before_results();
                promise
                    .touches
                    .extend(joins.then(|| "parentUuid".to_owned()));
                // Abandoned branches are treated as the turn that they leave.
                promise
                    .touches
                    .extend((!one).then(|| before.other_calls()).into_iter().flatten());
                promise
            }
            Self::Stub { tool, .. } => {
                let calls = before.calls();
                let chosen = calls
                    .iter()
                    .filter(|c| tool.is_none_or(|n| c.tool == TOOLS[n]) && c.turn != spared);
                let stubbed: BTreeSet<String> = chosen.map(|c| c.id.clone()).collect();
                let touches = stubbed
                    .iter()
                    .cloned()
                    .chain(before.other_calls())
                    .collect();
                Promise {
                    shown: vec![blocks],
                    stubbed,
                    touches,
                    ..Promise::default()
                }
            }
            Self::DropImages { keep_last } => {
                let limit = last(keep_last);
                let noted = blocks.into_iter().map(|b| {
                    if b.turn <= limit && b.turn != spared {
                        note_images(b)
                    } else {
                        b
                    }
                });
                Promise {
                    shown: vec![noted.collect()],
                    touches: vec!["\"image\"".to_owned()],
                    ..Promise::default()
                }
            }
            Self::Compact { keep_last, .. } if turns <= *keep_last => Promise {
                shown: vec![blocks],
                ..Promise::default()
            },
            Self::Compact {
                keep_last,
                drop_history,
            } => {
                let first = (turns + 1).saturating_sub(*keep_last);
                let kept = blocks
                    .into_iter()
                    .filter(|b| b.turn >= first && b.turn > 0)
                    .collect();
                Promise {
                    shown: vec![kept],
                    removes_lines: *drop_history,
                    touches: vec!["parentUuid".to_owned()],
                    may_refuse: before.first_free_turn() >= first
                        || before.first_free_turn() == 0
                        || before.has_split_message()
                        || before.unfinished_turn().is_some_and(|turn| turn < first),
                    summary: true,
                    ..Promise::default()
                }
            }
            Self::CompactInTurn { drop_history, .. } => {
                let (uuid, _) = self.message(before);
                let is_first = |b: &Block| before.entries[b.entry]["uuid"] == uuid.as_str();
                let kept = blocks.into_iter().skip_while(|b| !is_first(b)).collect();
                Promise {
                    shown: vec![kept],
                    removes_lines: *drop_history,
                    touches: vec!["parentUuid".to_owned()],
                    // A turn whose prompt is gone is not compacted again.
                    may_refuse: before.has_kept()
                        || before.has_split_message()
                        || before.turn_of(&uuid) == Some(0),
                    summary: true,
                    ..Promise::default()
                }
            }
            Self::Trim { keep_last } => Promise {
                kept_from: Some((turns + 1).saturating_sub(*keep_last)),
                may_refuse: true,
                removes_lines: true,
                touches: vec!["uuid".to_owned()],
                ..Promise::default()
            },
            Self::DeleteTurns(from, to) => {
                let kept = blocks
                    .into_iter()
                    .filter(|b| !(*from..=*to).contains(&b.turn));
                let mut shown = vec![kept.collect()];
                if *to == turns && *from > 1 {
                    shown.extend(before.at(from - 1));
                }
                Promise {
                    shown,
                    removes_lines: true,
                    moves_leaf: true,
                    may_refuse: before.has_open_call()
                        || before.has_kept()
                        || (*from, *to) == (1, turns),
                    ..Promise::default()
                }
            }
            Self::Extract(from, to) => {
                let kept = before.of_turns(*from, *to);
                Promise {
                    may_refuse: kept.is_none() || before.has_open_call(),
                    shown: kept.into_iter().collect(),
                    removes_lines: true,
                    moves_leaf: true,
                    ..Promise::default()
                }
            }
            Self::DeleteTool(n) => {
                let calls = before.calls();
                let chosen = calls.iter().filter(|c| c.tool == TOOLS[*n]);
                let promise = drop_calls(blocks, &chosen.collect::<Vec<_>>());
                Promise {
                    touches: vec!["uuid".to_owned()],
                    ..deleted(promise, before)
                }
            }
            Self::DeleteMessage(_) | Self::DeleteMatch(_) => {
                let (uuid, word) = self.message(before);
                let by_word = matches!(self, Self::DeleteMatch(_));
                let e = before.entries.iter().find(|e| e["uuid"] == uuid.as_str());
                let message = e.map(|e| str_of(&e["message"], "id").to_owned());
                let message = message.unwrap_or_default();
                let is_line = |b: &Block| !message.is_empty() && b.message == message;
                let own = |b: &Block| before.entries[b.entry]["uuid"] == uuid.as_str();
                let calls: BTreeSet<String> = blocks
                    .iter()
                    .filter(|b| !by_word && is_line(b))
                    .filter_map(|b| b.call().map(str::to_owned))
                    .collect();
                let goes = |b: &Block| {
                    let words = b.json["text"].as_str().is_some_and(|t| t.contains(&word));
                    if by_word {
                        words && b.role != "system" && is_message(&before.entries[b.entry])
                            || is_line(b) && b.is_thinking()
                    } else {
                        is_line(b) || message.is_empty() && own(b) || b.is_of(&calls)
                    }
                };
                Promise {
                    touches: vec!["uuid".to_owned()],
                    ..deleted(without(blocks, goes), before)
                }
            }
            Self::Edit(_) => {
                let (uuid, _) = self.message(before);
                let e = before.entries.iter().find(|e| e["uuid"] == uuid.as_str());
                let message = e.map(|e| str_of(&e["message"], "id").to_owned());
                let message = message.unwrap_or_default();
                let mut promise = without(blocks, |b| {
                    b.is_thinking() && !message.is_empty() && b.message == message
                });
                for block in promise.shown.iter_mut().flatten() {
                    let own = before.entries[block.entry]["uuid"] == uuid.as_str();
                    if own && block.kind() == "text" {
                        block.json["text"] = json!(EDITED);
                    }
                }
                Promise {
                    touches: vec!["uuid".to_owned()],
                    removes_lines: true,
                    may_refuse: true,
                    ..promise
                }
            }
            Self::Uncompact | Self::RestoreBranch(_) => Promise {
                may_refuse: true,
                removes_lines: true,
                touches: vec!["uuid".to_owned()],
                free: true,
                ..Promise::default()
            },
            Self::Graft { number, at } => {
                let mut inserted = Conversation::new(&Self::donor(*number)).blocks();
                // They are no entries of this session.
                for block in &mut inserted {
                    block.entry = 0;
                }
                let at = at.unwrap_or(usize::MAX);
                let (mut shown, rest): (Vec<Block>, Vec<Block>) =
                    blocks.into_iter().partition(|b| b.turn <= at);
                shown.extend(inserted);
                shown.extend(rest);
                Promise {
                    shown: vec![shown],
                    touches: vec!["uuid".to_owned()],
                    moves_leaf: true,
                    may_refuse: true,
                    // After a turn that a compaction hides, nothing that is inserted is shown.
                    free: at <= turns && before.first_free_turn() > 1,
                    ..Promise::default()
                }
            }
            Self::Title => Promise {
                shown: vec![blocks],
                ..Promise::default()
            },
            Self::Redact { .. } => redacted(before, &self.secret(before)),
            Self::Plan => {
                let mut promise = without(blocks, |b| b.is_thinking() && b.turn != spared);
                let noted = promise
                    .shown
                    .remove(0)
                    .into_iter()
                    .map(|b| if b.turn == spared { b } else { note_images(b) });
                promise.shown.push(noted.collect());
                promise.removes_lines = true;
                promise
                    .touches
                    .extend(["\"image\"", "\"toolUseResult\""].map(str::to_owned));
                promise
            }
        }
    }
}

/// The promise of a redaction: thinking with the secret is removed, and all other texts have a placeholder instead of it.
fn redacted(before: &Conversation, secret: &str) -> Promise {
    let file: String = before.entries.iter().map(Value::to_string).collect();
    let numbers = placeholders(file.as_bytes()).into_iter();
    let numbers = numbers
        .filter(|(kind, _)| kind == "literal")
        .map(|(_, n)| n);
    let mark = placeholder("literal", 1 + numbers.max().unwrap_or(0));
    let has_secret = |b: &Block| str_of(&b.json, "thinking").contains(secret);
    let blocks = before.blocks();
    let unfinished = before.unfinished_turn();
    let free = blocks
        .iter()
        .any(|b| has_secret(b) && Some(b.turn) == unfinished);
    let mut promise = without(blocks, has_secret);
    for block in promise.shown.iter_mut().flatten() {
        replace_text(&mut block.json, secret, &mark);
    }
    promise.touches.push(secret.to_owned());
    // Ids stay, whatever they are made of.
    if !file.contains(&format!("_{secret}")) {
        promise.gone.push(secret.to_owned());
    }
    Promise {
        removes_lines: true,
        free,
        ..promise
    }
}

/// Replaces a text in all strings of a value.
fn replace_text(value: &mut Value, from: &str, to: &str) {
    match value {
        Value::String(text) => *text = text.replace(from, to),
        Value::Array(all) => all.iter_mut().for_each(|v| replace_text(v, from, to)),
        Value::Object(all) => all.values_mut().for_each(|v| replace_text(v, from, to)),
        _ => {}
    }
}

/// The promise of a deletion: it refuses if nothing would be left, if the last turn waits for the model, or if a compaction
/// depends on what is deleted.
fn deleted(promise: Promise, before: &Conversation) -> Promise {
    let nothing_left = promise.shown.iter().any(|blocks| {
        let is_message = |b: &&Block| is_message(&before.entries[b.entry]) && b.turn > 0;
        blocks.iter().find(is_message).is_none()
    });
    Promise {
        removes_lines: true,
        moves_leaf: true,
        may_refuse: nothing_left
            || before.unfinished_turn().is_some()
            || before.has_open_call()
            || before.has_kept(),
        ..promise
    }
}

/// The blocks without some of them.
fn without(blocks: Vec<Block>, goes: impl Fn(&Block) -> bool) -> Promise {
    let (gone, shown): (Vec<Block>, Vec<Block>) = blocks.into_iter().partition(goes);
    Promise {
        shown: vec![shown],
        gone: gone.iter().flat_map(secrets).collect(),
        touches: ["\"thinking\"", "\"redacted_thinking\""]
            .map(str::to_owned)
            .into(),
        ..Promise::default()
    }
}

/// The blocks without some calls, their results, and the thinking of their messages.
fn drop_calls(blocks: Vec<Block>, chosen: &[&LiveCall]) -> Promise {
    let ids: BTreeSet<&str> = chosen.iter().map(|c| c.id.as_str()).collect();
    let messages: BTreeSet<&str> = chosen.iter().map(|c| c.message.as_str()).collect();
    let goes = |b: &Block| {
        b.call().is_some_and(|id| ids.contains(id))
            || b.is_thinking() && messages.contains(b.message.as_str())
    };
    let mut promise = without(blocks, goes);
    promise.touches = ids
        .iter()
        .chain(&messages)
        .map(|&id| id.to_owned())
        .collect();
    promise
}

/// The texts of a block that occur in no other.
fn secrets(block: &Block) -> Vec<String> {
    let mut out: Vec<String> = SECRET
        .iter()
        .filter_map(|&k| block.json[k].as_str().map(str::to_owned))
        .collect();
    if block.kind() == "tool_result" {
        let words = match &block.json["content"] {
            Value::Array(parts) => parts[0]["text"].as_str(),
            other => other.as_str(),
        };
        let first = words.and_then(|w| w.lines().next());
        let is_note =
            |w: &&str| w.starts_with("[ccsurgery removed") || w.starts_with("[Interrupted");
        let first = first.filter(|w| !is_note(w));
        out.extend(first.map(str::to_owned));
    }
    out
}

/// The note that stands for an image here, whatever its words are.
pub(crate) fn note() -> Value {
    json!({"type": "text", "text": "(a note of ccsurgery)"})
}

/// Images become notes, also those in results.
fn note_images(mut block: Block) -> Block {
    let images = |value: &mut Value| {
        if value["type"] == "image" {
            *value = note();
        }
    };
    images(&mut block.json);
    if let Some(Value::Array(parts)) = block.json.get_mut("content") {
        parts.iter_mut().for_each(images);
    }
    block
}
