//! What each operation promises, as a pure function of the view of the untouched session.

use anyhow::{Context as _, Result};
use serde_json::json;

use crate::case::{Case, PROBE};
use crate::operations::{SUMMARY, last_kept};
use crate::view::PayloadBlock;

/// Stands for a text of the program's own wording.
const NOTE: &str = "(a short note)";

/// The longest that a note in place of an output may be.
const NOTE_LENGTH: usize = 400;

#[expect(clippy::unnecessary_wraps, reason = "one type for all expectations")]
pub(crate) fn same(case: &Case) -> Result<Vec<PayloadBlock>> {
    Ok(case.untouched.shown.clone())
}

#[expect(clippy::unnecessary_wraps, reason = "one type for all expectations")]
pub(crate) fn stripped(case: &Case) -> Result<Vec<PayloadBlock>> {
    let shown = &case.untouched.shown;
    let end = unfinished_at(case, shown);
    let (finished, rest) = shown.split_at(end);
    let kept = finished.iter().filter(|s| !is_thinking(s));
    Ok(kept.chain(rest).cloned().collect())
}

/// Where the last turn begins, if it is unfinished; the API wants its thinking when it goes on.
fn unfinished_at(case: &Case, shown: &[PayloadBlock]) -> usize {
    let last = case.turn_at(shown, case.prompts.len());
    last.filter(|_| !case.awaited.is_empty())
        .unwrap_or(shown.len())
}

fn is_thinking(shown: &PayloadBlock) -> bool {
    shown.is("thinking") || shown.is("redacted_thinking")
}

/// Calls gone with their results, and with the thinking of the messages that they were taken from.
pub(crate) fn dropped(
    case: &Case,
    shown: &[PayloadBlock],
    goes: impl Fn(&str, &str) -> bool,
) -> Vec<PayloadBlock> {
    let ids =
        |calls: &[(String, String)]| calls.iter().map(|(id, _)| id.clone()).collect::<Vec<_>>();
    let goes = |(id, name): &(String, String)| goes(id, name);
    let gone: Vec<String> = case
        .calls
        .iter()
        .flatten()
        .filter(|c| goes(c))
        .map(|(id, _)| id.clone())
        .collect();
    let hit: Vec<String> = case
        .calls
        .iter()
        .filter(|calls| calls.iter().any(goes))
        .flat_map(|calls| ids(calls))
        .collect();
    let names = |shown: &PayloadBlock, kind: &str, field: &str, among: &[String]| {
        shown.is(kind) && among.iter().any(|id| shown.block[field] == id.as_str())
    };
    let mut out = Vec::new();
    for message in shown.chunk_by(|a, b| a.role == b.role) {
        let loses = message.iter().any(|s| names(s, "tool_use", "id", &hit));
        out.extend(message.iter().filter(|s| {
            let pair =
                names(s, "tool_use", "id", &gone) || names(s, "tool_result", "tool_use_id", &gone);
            !(pair || loses && is_thinking(s))
        }));
    }
    out.into_iter().cloned().collect()
}

/// The first call of the last message that has two.
pub(crate) fn one_of_two(case: &Case) -> Option<&str> {
    let parallel = case.calls.iter().rev().find(|calls| calls.len() > 1)?;
    let shown = |id: &str| case.untouched.shown.iter().any(|s| s.block["id"] == id);
    parallel
        .iter()
        .any(|(id, _)| shown(id))
        .then_some(parallel[0].0.as_str())
}

/// The last call of that message, where the client shows its companions too: their results must not go with it.
pub(crate) fn other_of_two(case: &Case) -> Option<&str> {
    let parallel = case.calls.iter().rev().find(|calls| calls.len() > 1)?;
    let shown = |id: &str| case.untouched.shown.iter().any(|s| s.block["id"] == id);
    let all = parallel.iter().all(|(id, _)| shown(id));
    all.then_some(parallel.last()?.0.as_str())
}

/// Whether the model is shown an output that a note would shorten.
pub(crate) fn any_long_output(case: &Case) -> bool {
    let mut outputs = case.untouched.shown.iter().filter(|s| s.is("tool_result"));
    outputs.any(|s| s.without_reminder().block["content"].to_string().len() > NOTE_LENGTH)
}

#[expect(clippy::unnecessary_wraps, reason = "one type for all expectations")]
pub(crate) fn stubbed(case: &Case) -> Result<Vec<PayloadBlock>> {
    let mut shown = case.untouched.shown.clone();
    let end = unfinished_at(case, &shown);
    for result in shown[..end].iter_mut().filter(|s| s.is("tool_result")) {
        result.block["content"] = json!(NOTE);
    }
    Ok(shown)
}

/// Takes outputs that are notes, or short enough to need none, for what [`stubbed`] expects.
pub(crate) fn notes(shown: &mut [PayloadBlock]) {
    for result in shown.iter_mut().filter(|s| s.is("tool_result")) {
        if result.block["content"].to_string().len() < NOTE_LENGTH {
            result.block["content"] = json!(NOTE);
        }
    }
}

/// Everything after the last but one turn gone.
pub(crate) fn truncated(case: &Case) -> Result<Vec<PayloadBlock>> {
    let shown = &case.untouched.shown;
    let from = case
        .turn_at(shown, last_kept(case) + 1)
        .context("the last turn is not shown")?;
    let (kept, probe) = (&shown[..from], &shown[Case::probe_at(shown)..]);
    Ok([kept, probe].concat())
}

/// As it was when the second prompt was asked, with the probe in its place.
pub(crate) fn before_boundary(case: &Case) -> Result<Vec<PayloadBlock>> {
    let mut shown = case.recording.shown_at(&case.prompts[1])?;
    for asked in shown
        .iter_mut()
        .filter(|s| s.text().map(str::trim) == Some(&case.prompts[1]))
    {
        asked.block["text"] = json!(PROBE);
    }
    Ok(shown)
}

/// The summary, the last turn, the probe.
pub(crate) fn compacted(case: &Case) -> Result<Vec<PayloadBlock>> {
    let shown = &case.untouched.shown;
    let from = case
        .turn_at(shown, case.prompts.len())
        .context("the last turn is not shown")?;
    Ok([&[summary()], &shown[from..]].concat())
}

/// The summary, the answer after the last results, and what follows it.
pub(crate) fn compacted_in_turn(case: &Case) -> Result<Vec<PayloadBlock>> {
    let shown = &case.untouched.shown;
    let from = last_step(shown).context("no step is shown")?;
    Ok([&[summary()], &shown[from..]].concat())
}

/// Where the answer begins that follows the last results.
pub(crate) fn last_step(shown: &[PayloadBlock]) -> Option<usize> {
    let shown = &shown[..Case::probe_at(shown)];
    let results = shown.iter().rposition(|s| s.is("tool_result"))?;
    let answer = shown[results..]
        .iter()
        .position(|s| s.role == "assistant")?;
    let between = &shown[results + 1..results + answer];
    // A prompt in between would begin another turn.
    between
        .iter()
        .all(PayloadBlock::is_reminder)
        .then_some(results + answer)
}

fn summary() -> PayloadBlock {
    PayloadBlock {
        role: "user".to_owned(),
        block: json!({"type": "text", "text": SUMMARY}),
    }
}

/// Takes a summary in the program's or the client's words for the bare one.
pub(crate) fn summaries(shown: &mut [PayloadBlock]) {
    for told in shown
        .iter_mut()
        .filter(|s| s.text().is_some_and(|t| t.contains(SUMMARY)))
    {
        told.block["text"] = json!(SUMMARY);
    }
}

/// The last prompt replaced wherever it is quoted, and thinking that quotes it gone.
#[expect(clippy::unnecessary_wraps, reason = "one type for all expectations")]
pub(crate) fn redacted(case: &Case) -> Result<Vec<PayloadBlock>> {
    let secret = case.prompts.last().map_or("", String::as_str);
    let quotes = |s: &PayloadBlock| {
        s.block["thinking"]
            .as_str()
            .is_some_and(|t| t.contains(secret))
    };
    let mut shown = case.untouched.shown.clone();
    shown.retain(|s| !quotes(s));
    for block in &mut shown {
        replace(&mut block.block, secret);
    }
    Ok(shown)
}

fn replace(value: &mut serde_json::Value, secret: &str) {
    match value {
        serde_json::Value::String(text) => *text = text.replace(secret, "[redacted:literal:1]"),
        serde_json::Value::Array(list) => list.iter_mut().for_each(|v| replace(v, secret)),
        serde_json::Value::Object(map) => map.values_mut().for_each(|v| replace(v, secret)),
        _ => {}
    }
}

/// Thinking and one tool's calls gone, and the last turn.
pub(crate) fn planned(case: &Case) -> Result<Vec<PayloadBlock>> {
    let mut shown = dropped(case, &truncated(case)?, |_, name| name == "Bash");
    shown.retain(|s| !is_thinking(s));
    Ok(shown)
}
