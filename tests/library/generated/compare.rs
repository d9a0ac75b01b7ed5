//! Compares a result with the original and with what was promised.

use std::collections::BTreeSet;

use serde_json::Value;

use super::conversation::{Block, Conversation};
use super::promise::{Promise, note};

/// A broken promise, in words.
pub(crate) type Verdict = Result<(), String>;

/// A block with its rank in a user message and the key by which equal ranks are sorted.
type Row = (u8, String, Value);

/// Whether a block is a prompt that was typed while the model worked.
fn is_queued(block: &Block) -> bool {
    let words = block.json["text"].as_str();
    words.is_some_and(|words| words.starts_with("queued-"))
}

/// The messages of some blocks, as they are compared: results first, in the order of their ids, then words, then what
/// the system adds.
fn messages(blocks: &[Block]) -> Vec<(&'static str, Vec<Value>)> {
    let side = |b: &Block| {
        if b.role == "assistant" {
            "assistant"
        } else {
            "user"
        }
    };
    let mut out: Vec<(&'static str, Vec<Row>)> = Vec::new();
    for block in blocks {
        let rank = match (block.role, block.kind()) {
            ("user", "tool_result") => 0,
            // A queued prompt becomes a plain one where the work between it and another prompt is removed.
            ("system", _) if is_queued(block) => 1,
            ("system", _) => 2,
            _ => 1,
        };
        // Words beside a result may change places with other words of the message if the result is removed.
        let words = block.json["text"].as_str().unwrap_or_default();
        let key = match rank {
            0 => block.call().unwrap_or_default().to_owned(),
            1 if words.starts_with("beside-") => words.to_owned(),
            _ => String::new(),
        };
        let row = (rank, key, block.json.clone());
        match out.last_mut() {
            Some((role, rows)) if *role == side(block) => rows.push(row),
            _ => out.push((side(block), vec![row])),
        }
    }
    let sorted = |(role, mut rows): (_, Vec<Row>)| {
        if role == "user" {
            rows.sort_by(|a, b| (a.0, &a.1).cmp(&(b.0, &b.1)));
        }
        (role, rows.into_iter().map(|r| r.2).collect())
    };
    out.into_iter().map(sorted).collect()
}

pub(crate) fn listing(blocks: &[Block]) -> String {
    let rows = messages(blocks).into_iter().flat_map(|(role, blocks)| {
        blocks.into_iter().map(move |b| {
            let words: String = b.to_string().chars().take(150).collect();
            format!("  {role} {words}\n")
        })
    });
    rows.collect()
}

/// Replaces the notes of the program by the one that stands for all of them, and leaves out notes in the place of prompts.
fn with_plain_notes(mut blocks: Vec<Block>) -> Vec<Block> {
    let plain = |value: &mut Value| {
        if value["text"]
            .as_str()
            .is_some_and(|t| t.ends_with("removed by ccsurgery]"))
        {
            *value = note();
        }
    };
    blocks.retain(|b| b.json["text"] != PLACEHOLDER);
    for block in &mut blocks {
        plain(&mut block.json);
        if let Some(Value::Array(parts)) = block.json.get_mut("content") {
            parts.iter_mut().for_each(plain);
        }
    }
    blocks
}

/// Puts the original output back where a note replaced it.
fn with_outputs(mut block: Block, promise: &Promise) -> Result<Block, String> {
    let id = block.call().unwrap_or_default().to_owned();
    if block.kind() != "tool_result" || !promise.stubbed.contains(&id) {
        return Ok(block);
    }
    let wanted = promise.shown[0]
        .iter()
        .find(|b| b.kind() == "tool_result" && b.call() == Some(&id));
    let wanted = wanted
        .map(|b| b.json["content"].clone())
        .unwrap_or_default();
    let words = block.json["content"].to_string();
    let stub = words.contains("[ccsurgery removed ");
    if wanted.to_string().len() > 500 && !stub {
        return Err(format!("stub: the output of {id} is as long as before"));
    }
    if stub {
        block.json["content"] = wanted;
    }
    Ok(block)
}

/// The note in the place of a deleted prompt whose answer stays.
const PLACEHOLDER: &str = "(this prompt was deleted)";

/// Compares what the model is shown with what was promised.
pub(crate) fn shown(before: &Conversation, after: &Conversation, promise: &Promise) -> Verdict {
    if promise.free {
        return Ok(());
    }
    let mut found = Vec::new();
    for block in after.blocks() {
        found.push(with_outputs(block, promise)?);
    }
    let mut found = with_plain_notes(found);
    found.retain(|b| !b.is_of(&promise.answered));
    if promise.summary {
        let first = found
            .first()
            .map(|b| b.json["text"].clone())
            .unwrap_or_default();
        if !first.as_str().is_some_and(|t| t.contains("in short")) {
            return Err(format!(
                "conversation: the first block is not the summary but {first}"
            ));
        }
        found.remove(0);
    }
    if let Some(first) = promise.kept_from {
        let kept = |c: &Conversation| {
            let turn = c.turns() + first;
            let turn = turn.saturating_sub(before.turns());
            let blocks = c.blocks().into_iter();
            let kept = blocks.filter(|b| b.turn >= turn && b.turn > 0 && !b.is_thinking());
            with_plain_notes(kept.collect())
        };
        let (was, is) = (kept(before), kept(after));
        if messages(&was) != messages(&is) {
            return Err(format!(
                "conversation: the last turns are\n{}instead of\n{}",
                listing(&is),
                listing(&was)
            ));
        }
        return Ok(());
    }
    let is = messages(&found);
    let wanted = |blocks: &Vec<Block>| messages(&with_plain_notes(blocks.clone()));
    if promise.shown.iter().any(|blocks| wanted(blocks) == is) {
        return Ok(());
    }
    let wanted = promise
        .shown
        .first()
        .map(|b| listing(b))
        .unwrap_or_default();
    Err(format!(
        "conversation: the model is shown\n{}instead of\n{wanted}",
        listing(&found)
    ))
}

/// Checks the rules of the API that surgery can break.
pub(crate) fn api(before: &Conversation, after: &Conversation) -> Verdict {
    let blocks = after.blocks();
    let mut made = BTreeSet::new();
    for block in &blocks {
        if block.kind() == "text"
            && block.json["text"]
                .as_str()
                .is_none_or(|t| t.trim().is_empty())
        {
            return Err("API: a blank text".to_owned());
        }
        if block.kind() == "tool_use" && !made.insert(block.call()) {
            return Err(format!("API: the call {:?} twice", block.call()));
        }
    }
    if blocks.first().is_some_and(|b| b.role == "assistant")
        && before
            .blocks()
            .first()
            .is_some_and(|b| b.role != "assistant")
    {
        return Err("API: the first message is the model's".to_owned());
    }
    if after.stray_results() > before.stray_results() {
        return Err("API: a result without its call".to_owned());
    }
    if after.has_open_call() && !before.has_open_call() {
        return Err("API: a call without its result".to_owned());
    }
    if !are_paired(&blocks) && are_paired(&before.blocks()) {
        return Err("API: the results after an answer are not those of its calls".to_owned());
    }
    Ok(())
}

/// Whether every answer is followed by the results of exactly its calls.
fn are_paired(blocks: &[Block]) -> bool {
    let ids = |blocks: &[Value], key: &str| -> BTreeSet<String> {
        let ids = blocks.iter().filter_map(|b| b[key].as_str());
        ids.map(str::to_owned).collect()
    };
    let messages = messages(blocks);
    let after = messages.iter().skip(1).map(|(_, blocks)| &blocks[..]);
    let after = after.chain([&[][..]]);
    messages.iter().zip(after).all(|((role, blocks), next)| {
        *role == "user" || ids(blocks, "id") == ids(next, "tool_use_id")
    })
}

/// Checks that lines which the operation is not about are as they were, in their order. The last answer of the result may
/// record another size of the context window.
pub(crate) fn lines(before: &str, after: &str, answer: &str, promise: &Promise) -> Verdict {
    let records = |text: &str| -> Vec<(String, Value)> {
        let values = text
            .lines()
            .map(|l| (l.to_owned(), serde_json::from_str(l).unwrap_or_default()));
        values.collect()
    };
    let (was, is) = (records(before), records(after));
    let uuid = |v: &Value| v["uuid"].as_str().map(str::to_owned);
    let left: BTreeSet<String> = is.iter().filter_map(|(_, v)| uuid(v)).collect();
    let removed: BTreeSet<String> = was
        .iter()
        .filter_map(|(_, v)| uuid(v))
        .filter(|u| !left.contains(u))
        .collect();
    let same: BTreeSet<&str> = is.iter().map(|(l, _)| l.as_str()).collect();
    for (line, value) in &was {
        if same.contains(line.as_str()) {
            continue;
        }
        let about = |texts: &[String]| texts.iter().any(|t| line.contains(t.as_str()));
        let gone = uuid(value).is_none_or(|u| removed.contains(&u));
        let names_removed = removed.iter().any(|u| line.contains(u.as_str()));
        let usage = value["message"]["id"].as_str().is_some_and(|m| m == answer);
        // A prompt becomes a note where its answer stays, and a queued one a plain one where it would change places.
        let now = is
            .iter()
            .find(|(_, v)| uuid(v).is_some() && uuid(v) == uuid(value));
        let noted = now.is_some_and(|(l, _)| l.contains(PLACEHOLDER));
        let queued = line.contains("queued_command");
        let retimed = || {
            let plain = |mut v: Value| {
                v["timestamp"] = Value::Null;
                v
            };
            let now = is.iter().find(|(_, v)| uuid(v) == uuid(value));
            now.is_some_and(|(_, v)| plain(v.clone()) == plain(value.clone()))
        };
        let allowed = if gone {
            promise.removes_lines || about(&promise.touches) || uuid(value).is_none()
        } else {
            let expected = names_removed || usage || noted || queued;
            about(&promise.touches) || expected || promise.moves_leaf && retimed()
        };
        if !allowed {
            let what = if gone { "removed" } else { "changed" };
            return Err(format!(
                "lines: {what} without need: {}",
                line.chars().take(300).collect::<String>()
            ));
        }
    }
    let known: BTreeSet<&str> = was.iter().map(|(l, _)| l.as_str()).collect();
    let mut rest = was.iter().map(|(l, _)| l.as_str());
    let moved = is
        .iter()
        .filter(|(l, v)| uuid(v).is_some() && known.contains(l.as_str()))
        .find(|(l, _)| !rest.any(|w| w == l));
    match moved {
        Some((line, _)) => Err(format!(
            "lines: moved: {}",
            line.chars().take(300).collect::<String>()
        )),
        None => Ok(()),
    }
}

/// Messages whose blocks are compared in any order, without line breaks at their end.
pub(crate) fn sorted_messages(blocks: &[Block]) -> Vec<(&'static str, Vec<String>)> {
    let plain = |mut json: Value| {
        if let Some(Value::String(words)) = json.get_mut("text") {
            words.truncate(words.trim_end().len());
        }
        json.to_string()
    };
    let sorted = |(role, blocks): (_, Vec<Value>)| {
        let mut rows: Vec<String> = blocks.into_iter().map(plain).collect();
        rows.sort();
        (role, rows)
    };
    messages(blocks).into_iter().map(sorted).collect()
}
