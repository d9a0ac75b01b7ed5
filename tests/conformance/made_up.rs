//! Conversations that a script cannot bring about: the suite writes the lines that clients have been seen to write, in
//! between two runs of the client.

use anyhow::{Context as _, Result};
use serde_json::{Value, json};

use crate::record::made_up_id;
use crate::scenarios::{How, MakeUp, SUMMARY, Step, asked, step};

/// Four turns of which a person had the first two summarized ("Summarize up to here"), and two turns after that. Client
/// 2.1.45 does not know of turns that a summary keeps.
pub(crate) fn up_to() -> Vec<Step> {
    let mut steps = asked(1..=4);
    steps.push(made_up(summarize_up_to, 2));
    steps.extend(asked(5..=6));
    steps
}

/// A result that the client wrote down twice, with one field more the second time.
pub(crate) fn twice() -> Vec<Step> {
    let mut steps = asked(1..=2);
    steps.push(made_up(write_twice, 0));
    steps.extend(asked(3..=4));
    steps
}

/// `hides` is the number of turns that the model is no longer shown.
fn made_up(make_up: MakeUp, hides: usize) -> Step {
    step(How::MadeUp { make_up, hides }, Vec::new())
}

/// Adds the boundary and the summary of the first two turns; the boundary names all that follows them as kept.
fn summarize_up_to(entries: &mut Vec<Value>) -> Result<()> {
    let is_prompt = |e: &Value| {
        let content = &e["message"]["content"];
        content == "question 3" || content[0]["text"] == "question 3"
    };
    let head = entries.iter().position(is_prompt);
    let head = head.context("no third prompt")?;
    let is_link = |e: &&Value| e["uuid"].is_string() && e["isSidechain"] != true;
    let uuid = |e: &Value| e["uuid"].clone();
    let kept: Vec<Value> = entries[head..].iter().filter(is_link).map(uuid).collect();
    let before = entries[..head].iter().filter(is_link).map(uuid).next_back();
    let mut answers = entries.iter().filter(|e| e["type"] == "assistant");
    let mut common = answers.next_back().context("no answer")?.clone();
    for own in ["message", "requestId", "type", "uuid", "parentUuid"] {
        common
            .as_object_mut()
            .context("no entry")?
            .shift_remove(own);
    }
    let now = jiff::Timestamp::now().strftime("%Y-%m-%dT%H:%M:%S%.3fZ");
    common["timestamp"] = json!(now.to_string());
    let [boundary, summary] = ["boundary", "summary"].map(made_up_id);
    let segment = json!({"headUuid": kept.first(), "anchorUuid": summary, "tailUuid": kept.last()});
    let messages = json!({"anchorUuid": summary, "uuids": kept, "allUuids": kept});
    entries.push(with(
        &common,
        json!({
            "parentUuid": null, "logicalParentUuid": before, "type": "system", "subtype": "compact_boundary",
            "content": "Conversation compacted", "isMeta": false, "level": "info", "uuid": boundary,
            "compactMetadata": {"trigger": "manual", "preTokens": 1000, "preservedSegment": segment, "preservedMessages": messages},
        }),
    ));
    entries.push(with(
        &common,
        json!({
            "parentUuid": boundary, "type": "user", "isCompactSummary": true, "isVisibleInTranscriptOnly": true,
            "message": {"role": "user", "content": SUMMARY}, "uuid": summary,
        }),
    ));
    Ok(())
}

fn with(common: &Value, own: Value) -> Value {
    let mut entry = common.clone();
    if let (Value::Object(entry), Value::Object(own)) = (&mut entry, own) {
        entry.extend(own);
    }
    entry
}

/// Writes the first result of the second turn a second time, right after the first.
fn write_twice(entries: &mut Vec<Value>) -> Result<()> {
    let is_result = |e: &Value| e["message"]["content"][0]["type"] == "tool_result";
    let mut results = entries.iter().enumerate().filter(|(_, e)| is_result(e));
    let (at, entry) = results.next_back().context("no result")?;
    let again = with(entry, json!({"slug": "a-made-up-slug"}));
    entries.insert(at + 1, again);
    Ok(())
}
