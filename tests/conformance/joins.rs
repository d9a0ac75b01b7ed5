//! Operations that need another session first, or the id of a message: what is done before, and what is expected.

use anyhow::{Context as _, Result, ensure};
use serde_json::{Value, json};

use crate::case::Case;
use crate::cells::ccsurgery;
use crate::expect;
use crate::operations::SUMMARY;
use crate::record::Recording;
use crate::view::PayloadBlock;

/// The text that the suite gives to `edit`.
const EDITED: &str = "An edited text.";

/// The first turn after the last compaction, and the last one, where there are two at least and both are finished.
pub(crate) fn turns(case: &Case) -> Option<(usize, usize)> {
    let (first, last) = (case.compacted + 1, case.prompts.len());
    (first < last && case.awaited.is_empty()).then_some((first, last))
}

/// Makes the sessions that an operation needs, and returns its command line with the session that it is for.
pub(crate) fn prepare(
    case: &Case,
    operation: &str,
    mut args: Vec<String>,
) -> Result<(Vec<String>, String)> {
    let own = case.recording.session.clone();
    let made = |words: &[&str]| -> Result<String> {
        let report = ccsurgery(case, &[words, &[&own]].concat())?;
        let id = report["target"]["session_id"].as_str();
        Ok(id.context("no new session")?.to_owned())
    };
    let extracted = |range: String| made(&["extract", "--turns", &range]);
    match (operation, turns(case)) {
        ("graft", Some((_, last))) => {
            let first = insertion(case).context("too few turns")?;
            let target = extracted(format!("{first}..{}", last - 1))?;
            args.extend(["--from".to_owned(), extracted(last.to_string())?]);
            Ok((args, target))
        }
        ("graft-again" | "graft-at", Some((_, last))) => {
            args.extend(["--from".to_owned(), extracted(last.to_string())?]);
            Ok((args, own))
        }
        ("uncompact-own", _) => {
            let target = made(&["compact", "--keep-last", "1", "--summary", SUMMARY])?;
            Ok((args, target))
        }
        _ => Ok((args, own)),
    }
}

/// How many sessions are made before the one that an operation makes.
pub(crate) fn made_before(operation: &str) -> usize {
    match operation {
        "graft" => 2,
        "graft-again" | "graft-at" | "uncompact-own" => 1,
        _ => 0,
    }
}

/// The first turns after a compaction and the last one, joined again.
pub(crate) fn joined(case: &Case) -> Result<Vec<PayloadBlock>> {
    let first = insertion(case).context("too few turns")?;
    let shown = &case.untouched.shown;
    let from = case
        .turn_at(shown, first)
        .context("the turn is not shown")?;
    Ok(shown[from..].to_vec())
}

/// The last turn alone.
pub(crate) fn extracted(case: &Case) -> Result<Vec<PayloadBlock>> {
    let shown = &case.untouched.shown;
    let from = case.turn_at(shown, case.prompts.len());
    Ok(shown[from.context("the last turn is not shown")?..].to_vec())
}

/// The last turn a second time, at the end.
pub(crate) fn repeated(case: &Case) -> Result<Vec<PayloadBlock>> {
    let shown = &case.untouched.shown;
    let at = Case::probe_at(shown);
    Ok([&shown[..at], &last_turn(case)?, &shown[at..]].concat())
}

/// The turn after which a turn is inserted: the first one that is not before a compaction, nor kept by it.
pub(crate) fn insertion(case: &Case) -> Option<usize> {
    let (first, last) = turns(case)?;
    let turn = first.max(case.summarized + 1);
    (turn < last).then_some(turn)
}

/// The last turn a second time, after an earlier one.
pub(crate) fn inserted(case: &Case) -> Result<Vec<PayloadBlock>> {
    let turn = insertion(case).context("too few turns")?;
    let shown = &case.untouched.shown;
    let at = case.turn_at(shown, turn + 1);
    let at = at.context("the turn is not shown")?;
    Ok([&shown[..at], &last_turn(case)?, &shown[at..]].concat())
}

/// The last turn as it is inserted: its calls get new ids, so the thinking of their messages is removed.
fn last_turn(case: &Case) -> Result<Vec<PayloadBlock>> {
    let shown = &case.untouched.shown;
    let from = case.turn_at(shown, case.prompts.len());
    let from = from.context("the last turn is not shown")?;
    let turn = &shown[from..Case::probe_at(shown)];
    let mut out = Vec::new();
    for message in turn.chunk_by(|a, b| a.role == b.role) {
        let has_call = message.iter().any(|s| s.is("tool_use"));
        let kept = message.iter().filter(|s| !(has_call && is_thinking(s)));
        out.extend(kept.cloned());
    }
    Ok(out)
}

fn is_thinking(shown: &PayloadBlock) -> bool {
    shown.is("thinking") || shown.is("redacted_thinking")
}

/// Gives calls of an inserted turn the ids that they had: the session has them already, so they got new ones.
pub(crate) fn unify(case: &Case, shown: &mut [PayloadBlock]) -> Result<()> {
    let known: Vec<&String> = case.calls.iter().flatten().map(|(id, _)| id).collect();
    let is_call = |s: &&PayloadBlock| s.is("tool_use");
    let last = last_turn(case)?;
    let old = last.iter().filter(is_call).filter_map(PayloadBlock::call);
    let old: Vec<&str> = old.collect();
    let new = shown.iter().filter(is_call).filter_map(PayloadBlock::call);
    let mut new: Vec<String> = new.map(str::to_owned).collect();
    new.retain(|id| !known.contains(&id));
    for s in shown {
        let field = if s.is("tool_use") {
            "id"
        } else {
            "tool_use_id"
        };
        let place = new.iter().position(|id| s.block[field] == id.as_str());
        if let Some(id) = place.and_then(|n| old.get(n)) {
            s.block[field] = json!(id);
        }
    }
    Ok(())
}

/// The entries of the recorded transcript.
fn entries(recording: &Recording) -> Option<Vec<Value>> {
    let home = recording.pristine().join("home");
    let path = recording.transcript();
    let path = home.join(path.strip_prefix(recording.home()).ok()?);
    let text = fs_err::read_to_string(path).ok()?;
    let entries = text.lines().filter_map(|l| serde_json::from_str(l).ok());
    Some(entries.collect())
}

/// Whether an entry of the conversation has this prompt, typed at rest or while the model worked.
pub(crate) fn mentions(recording: &Recording, prompt: &str) -> bool {
    let has = |e: &Value| {
        let content = &e["message"]["content"];
        e["attachment"]["prompt"] == prompt || content == prompt || content[0]["text"] == prompt
    };
    entries(recording).is_some_and(|entries| entries.iter().any(has))
}

/// The uuid of the last entry of a kind with this text.
fn id_of(case: &Case, kind: &str, text: &str) -> Option<String> {
    let has = |e: &&Value| {
        let content = &e["message"]["content"];
        e["type"] == kind && (content == text || content[0]["text"] == text)
    };
    let entries = entries(&case.recording)?;
    let found = entries.iter().rev().find(has)?;
    Some(found["uuid"].as_str()?.to_owned())
}

/// The command line that compacts before the answer that follows the last results.
pub(crate) fn compact_in_turn(case: &Case) -> Option<Vec<String>> {
    let first = &case.untouched.shown[expect::last_step(&case.untouched.shown)?].block;
    let is_it = |block: &Value| {
        ["text", "thinking", "id", "data"]
            .iter()
            .any(|key| !first[*key].is_null() && first[*key] == block[*key])
    };
    let entries = entries(&case.recording)?;
    let mut lines = entries.iter().rev().filter(|e| e["type"] == "assistant");
    let found = lines.find(|e| {
        let content = e["message"]["content"].as_array();
        content.is_some_and(|content| content.first().is_some_and(is_it))
    })?;
    let id = found["uuid"].as_str()?;
    let args = ["compact", "--before", id, "--summary", SUMMARY];
    Some(args.map(str::to_owned).into())
}

/// The command line that edits the last prompt.
pub(crate) fn edit_prompt(case: &Case) -> Option<Vec<String>> {
    let id = id_of(case, "user", case.prompts.last()?)?;
    Some(["edit", &id, "--text", EDITED].map(str::to_owned).into())
}

/// The command line that edits the last text of the model.
pub(crate) fn edit_answer(case: &Case) -> Option<Vec<String>> {
    turns(case)?;
    let shown = &case.untouched.shown;
    let id = id_of(case, "assistant", shown[answer_at(shown)?].text()?)?;
    Some(["edit", &id, "--text", EDITED].map(str::to_owned).into())
}

fn answer_at(shown: &[PayloadBlock]) -> Option<usize> {
    let is_answer = |s: &PayloadBlock| s.role == "assistant" && s.is("text");
    shown[..Case::probe_at(shown)].iter().rposition(is_answer)
}

pub(crate) fn with_edited_prompt(case: &Case) -> Result<Vec<PayloadBlock>> {
    let mut shown = case.untouched.shown.clone();
    let at = case.turn_at(&shown, case.prompts.len());
    shown[at.context("the last turn is not shown")?].block["text"] = json!(EDITED);
    Ok(shown)
}

/// The answer with another text, and without the thinking of its message.
pub(crate) fn with_edited_answer(case: &Case) -> Result<Vec<PayloadBlock>> {
    let mut shown = case.untouched.shown.clone();
    let at = answer_at(&shown).context("no answer is shown")?;
    shown[at].block["text"] = json!(EDITED);
    let before = shown[..at].iter().rposition(|s| s.role != "assistant");
    let first = before.map_or(0, |at| at + 1);
    let mut place = 0..;
    shown.retain(|s| {
        let in_message = place.next().is_some_and(|n| (first..=at).contains(&n));
        !(in_message && is_thinking(s))
    });
    Ok(shown)
}

/// Whether there is a compaction, and the client shows what follows it. 2.1.97 by itself leaves out messages that a compaction
/// up to a turn keeps, so that no request shows what must be there.
pub(crate) fn shows_what_follows(case: &Case) -> bool {
    let next = case.compacted + 1;
    let is_shown = || case.turn_at(&case.untouched.shown, next).is_some();
    case.compacted > 0 && (next > case.prompts.len() || is_shown())
}

/// What was there when the last prompt before the compaction was asked, and what came after the compaction. What answers
/// that prompt is in no request of the recording.
pub(crate) fn uncompacted(case: &Case) -> Result<Vec<PayloadBlock>> {
    let prompt = &case.prompts[case.compacted - 1];
    let mut shown = case.recording.shown_at(prompt)?;
    let asked = case.turn_at(&shown, case.compacted);
    shown.truncate(asked.context("the prompt is not shown")? + 1);
    let after = &case.untouched.shown;
    let from = case.turn_at(after, case.compacted + 1);
    let from = from.unwrap_or_else(|| Case::probe_at(after));
    shown.extend_from_slice(&after[from..]);
    Ok(shown)
}

/// Leaves out what answers the last prompt before the compaction; it must be there.
pub(crate) fn without_answer(case: &Case, shown: &mut Vec<PayloadBlock>) -> Result<()> {
    let from = case.turn_at(shown, case.compacted);
    let from = from.context("the prompt is not shown")? + 1;
    let to = case.turn_at(shown, case.compacted + 1);
    let to = to.unwrap_or_else(|| Case::probe_at(shown));
    ensure!(from < to, "the answer before the compaction is not shown");
    let answer: Vec<PayloadBlock> = shown.drain(from..to).collect();
    let is_text = |s: &PayloadBlock| s.role == "assistant" && s.is("text");
    ensure!(answer.iter().any(is_text), "the answer has no text");
    Ok(())
}

/// The command line that restores the branch of a session that was rewound.
pub(crate) fn restore_branch(case: &Case) -> Option<Vec<String>> {
    if case.scenario.name != "rewound" {
        return None;
    }
    let id = id_of(case, "user", LEFT)?;
    Some(["restore-branch", &id].map(str::to_owned).into())
}

/// The prompt that was left by rewinding.
const LEFT: &str = "question 2";

/// As it was when the prompt was asked that was left later; what answers it is not compared.
pub(crate) fn left(case: &Case) -> Result<Vec<PayloadBlock>> {
    let mut shown = case.recording.shown_at(LEFT)?;
    let prompt = shown
        .iter()
        .position(|s| s.text().map(str::trim) == Some(LEFT));
    shown.truncate(prompt.context("the prompt is not shown")? + 1);
    Ok(shown)
}
