//! Runs an operation with the real program and compares what it made with what it promises.

use std::collections::BTreeSet;

use serde_json::Value;

use super::common::{Home, SESSION};
use super::conversation::{Block, Conversation};
use super::operation::{Operation, Promise, note};

/// A broken promise, in words.
pub(crate) type Verdict = Result<(), String>;

/// The messages of some blocks, as they are compared: results first, in the order of their ids, then words, then what
/// the system adds.
fn messages(blocks: &[Block]) -> Vec<(&'static str, Vec<Value>)> {
    let side = |b: &Block| if b.role == "assistant" { "assistant" } else { "user" };
    let mut out: Vec<(&'static str, Vec<(u8, String, Value)>)> = Vec::new();
    for block in blocks {
        let rank = match (block.role, block.kind()) {
            ("user", "tool_result") => 0,
            ("system", _) => 2,
            _ => 1,
        };
        let key = if rank == 0 { block.call().unwrap_or_default().to_owned() } else { String::new() };
        let row = (rank, key, block.json.clone());
        match out.last_mut() {
            Some((role, rows)) if *role == side(block) => rows.push(row),
            _ => out.push((side(block), vec![row])),
        }
    }
    let sorted = |(role, mut rows): (_, Vec<(u8, String, Value)>)| {
        if role == "user" {
            rows.sort_by(|a, b| (a.0, &a.1).cmp(&(b.0, &b.1)));
        }
        (role, rows.into_iter().map(|r| r.2).collect())
    };
    out.into_iter().map(sorted).collect()
}

fn listing(blocks: &[Block]) -> String {
    let rows = messages(blocks).into_iter().flat_map(|(role, blocks)| {
        blocks.into_iter().map(move |b| {
            let words: String = b.to_string().chars().take(150).collect();
            format!("  {role} {words}\n")
        })
    });
    rows.collect()
}

/// Replaces the notes of the program by the one that stands for all of them.
fn with_plain_notes(mut block: Block) -> Block {
    let plain = |value: &mut Value| {
        if value["text"].as_str().is_some_and(|t| t.ends_with("removed by ccsurgery]")) {
            *value = note();
        }
    };
    plain(&mut block.json);
    if let Some(Value::Array(parts)) = block.json.get_mut("content") {
        parts.iter_mut().for_each(plain);
    }
    block
}

/// Puts the original output back where a note replaced it.
fn with_outputs(mut block: Block, promise: &Promise) -> Result<Block, String> {
    let id = block.call().unwrap_or_default().to_owned();
    if block.kind() != "tool_result" || !promise.stubbed.contains(&id) {
        return Ok(block);
    }
    let wanted = promise.shown[0].iter().find(|b| b.kind() == "tool_result" && b.call() == Some(&id));
    let wanted = wanted.map(|b| b.json["content"].clone()).unwrap_or_default();
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

/// Compares what the model is shown with what was promised.
fn shown(before: &Conversation, after: &Conversation, promise: &Promise) -> Verdict {
    let mut found = Vec::new();
    for block in after.blocks() {
        found.push(with_plain_notes(with_outputs(block, promise)?));
    }
    if promise.summary {
        let first = found.first().map(|b| b.json["text"].clone()).unwrap_or_default();
        if !first.as_str().is_some_and(|t| t.contains("in short")) {
            return Err(format!("conversation: the first block is not the summary but {first}"));
        }
        found.remove(0);
    }
    if let Some(first) = promise.kept_from {
        let kept = |c: &Conversation| {
            let turn = c.turns() + first;
            let turn = turn.saturating_sub(before.turns());
            let blocks = c.blocks().into_iter();
            blocks.filter(|b| b.turn >= turn && b.turn > 0 && !b.is_thinking()).collect::<Vec<_>>()
        };
        let (was, is) = (kept(before), kept(after));
        if messages(&was) != messages(&is) {
            return Err(format!("conversation: the last turns are\n{}instead of\n{}", listing(&is), listing(&was)));
        }
        return Ok(());
    }
    let is = messages(&found);
    if promise.shown.iter().any(|wanted| messages(wanted) == is) {
        return Ok(());
    }
    let wanted = promise.shown.first().map(|b| listing(b)).unwrap_or_default();
    Err(format!("conversation: the model is shown\n{}instead of\n{wanted}", listing(&found)))
}

/// Checks the rules of the API that surgery can break.
fn api(before: &Conversation, after: &Conversation) -> Verdict {
    let blocks = after.blocks();
    let mut made = BTreeSet::new();
    for block in &blocks {
        if block.kind() == "text" && block.json["text"].as_str().is_none_or(|t| t.trim().is_empty()) {
            return Err("API: a blank text".to_owned());
        }
        if block.kind() == "tool_use" && !made.insert(block.call()) {
            return Err(format!("API: the call {:?} twice", block.call()));
        }
    }
    if blocks.first().is_some_and(|b| b.role == "assistant") && before.blocks().first().is_some_and(|b| b.role != "assistant") {
        return Err("API: the first message is the model's".to_owned());
    }
    if after.stray_results() > before.stray_results() {
        return Err("API: a result without its call".to_owned());
    }
    if after.has_open_call() && !before.has_open_call() {
        return Err("API: a call without its result".to_owned());
    }
    Ok(())
}

/// Checks that lines which the operation is not about are as they were, in their order.
fn lines(before: &str, after: &str, shown: &[Block], promise: &Promise) -> Verdict {
    let records = |text: &str| -> Vec<(String, Value)> {
        let values = text.lines().map(|l| (l.to_owned(), serde_json::from_str(l).unwrap_or_default()));
        values.collect()
    };
    let (was, is) = (records(before), records(after));
    let uuid = |v: &Value| v["uuid"].as_str().map(str::to_owned);
    let left: BTreeSet<String> = is.iter().filter_map(|(_, v)| uuid(v)).collect();
    let removed: BTreeSet<String> = was.iter().filter_map(|(_, v)| uuid(v)).filter(|u| !left.contains(u)).collect();
    let same: BTreeSet<&str> = is.iter().map(|(l, _)| l.as_str()).collect();
    // The record of the context window's size is corrected in the last answer.
    let recorded = shown.iter().rfind(|b| b.role == "assistant").map(|b| b.message.as_str());
    for (line, value) in &was {
        if same.contains(line.as_str()) {
            continue;
        }
        let about = |texts: &[String]| texts.iter().any(|t| line.contains(t.as_str()));
        let gone = uuid(value).is_none_or(|u| removed.contains(&u));
        let names_removed = removed.iter().any(|u| line.contains(u.as_str()));
        let usage = value["message"]["id"].as_str().is_some_and(|m| recorded == Some(m));
        let allowed = if gone { promise.removes_lines || about(&promise.touches) || uuid(value).is_none() } else { about(&promise.touches) || names_removed || usage };
        if !allowed {
            let what = if gone { "removed" } else { "changed" };
            return Err(format!("lines: {what} without need: {}", line.chars().take(300).collect::<String>()));
        }
    }
    let known: BTreeSet<&str> = was.iter().map(|(l, _)| l.as_str()).collect();
    let mut rest = was.iter().map(|(l, _)| l.as_str());
    let moved = is.iter().filter(|(l, _)| known.contains(l.as_str())).find(|(l, _)| !rest.any(|w| w == l));
    match moved {
        Some((line, _)) => Err(format!("lines: moved: {}", line.chars().take(300).collect::<String>())),
        None => Ok(()),
    }
}

/// A home with one session, in which operations are tried.
pub(crate) struct Judge {
    home: Home,
}

impl Judge {
    pub(crate) fn new() -> Self {
        let home = Home::in_memory();
        fs_err::write(home.project().join("plan.toml"), Operation::PLAN).expect("a plan");
        Self { home }
    }

    /// A session as one that was held in this home.
    fn at_home(&self, text: &str) -> String {
        text.replace("\"cwd\":\"/work\"", &format!("\"cwd\":{:?}", self.home.project()))
    }

    fn place(&self, text: &str) {
        self.home.write(self.home.transcript(SESSION), text);
    }

    fn run(&self, arguments: &[String]) -> (i32, String, String) {
        let arguments: Vec<&str> = arguments.iter().map(String::as_str).collect();
        let run = self.home.run(&arguments);
        (run.code, run.stdout, run.stderr)
    }

    /// Judges a session by itself: the doctor finds nothing fatal, and `payload` shows what the model of this test does.
    pub(crate) fn session(&self, text: &str) -> Verdict {
        let text = &self.at_home(text);
        self.place(text);
        self.healthy("before")?;
        let (code, stdout, stderr) = self.run(&["payload".to_owned(), SESSION.to_owned()]);
        if code != 0 {
            return Err(format!("payload: exit code {code}: {stderr}"));
        }
        let conversation = Conversation::new(text);
        if conversation.has_open_call() {
            return Ok(());
        }
        let payload: Vec<Value> = serde_json::from_str(&stdout).map_err(|e| format!("payload: {e}"))?;
        let found = payload.iter().filter(|m| m["role"] != "system").flat_map(|m| {
            let role = if m["role"] == "assistant" { "assistant" } else { "user" };
            let blocks = m["content"].as_array().cloned().unwrap_or_default();
            blocks.into_iter().map(move |json| Block { role, json, message: String::new(), turn: 0 })
        });
        let wanted = conversation.blocks().into_iter().filter(|b| b.role != "system");
        let (found, wanted): (Vec<Block>, Vec<Block>) = (found.collect(), wanted.collect());
        if sorted_messages(&found) != sorted_messages(&wanted) {
            return Err(format!("payload: shows\n{}instead of\n{}", listing(&found), listing(&wanted)));
        }
        Ok(())
    }

    /// The doctor finds nothing that stops resume, loses history or is refused.
    fn healthy(&self, when: &str) -> Verdict {
        let (code, stdout, stderr) = self.run(&["doctor", SESSION, "--json"].map(str::to_owned));
        let document: Value = serde_json::from_str(&stdout).map_err(|e| format!("doctor {when}: {e} {stderr}"))?;
        let findings = document["sessions"][0]["findings"].as_array().cloned().unwrap_or_default();
        let fatal = findings.iter().find(|f| {
            let suffers = f["severity"].as_str().unwrap_or_default();
            ["stops-resume", "loses-history", "refused-by-the-api"].contains(&suffers)
        });
        match fatal {
            Some(found) => Err(format!("doctor {when}: {} ({}) on line {}", found["check"], found["severity"], found["line"])),
            None if code != 0 => Err(format!("doctor {when}: exit code {code}")),
            None => Ok(()),
        }
    }

    /// Judges one operation on a session.
    pub(crate) fn operation(&self, text: &str, operation: &Operation) -> Verdict {
        let text = &self.at_home(text);
        let before = Conversation::new(text);
        if !operation.applies(&before) {
            return Ok(());
        }
        self.place(text);
        let mut arguments = operation.arguments(&before);
        arguments.push(SESSION.to_owned());
        let written: Vec<String> = arguments.iter().cloned().chain(["-o", "-"].map(str::to_owned)).collect();
        let (code, result, stderr) = self.run(&written);
        let promise = operation.promise(&before);
        match code {
            0 => {}
            3 if promise.may_refuse => return Ok(()),
            _ => return Err(format!("exit code {code}: {}", stderr.trim())),
        }
        let after = Conversation::new(&result);
        shown(&before, &after, &promise)?;
        api(&before, &after)?;
        if operation.keeps_ids() {
            lines(text, &result, &after.blocks(), &promise)?;
        }
        if let Some(left) = promise.gone.iter().find(|g| result.contains(g.as_str())) {
            return Err(format!("copies: {left} is still in the file"));
        }
        self.place(&result);
        if let Err(worse) = self.healthy("after") {
            self.place(text);
            return self.healthy("before").map_or(Ok(()), |()| Err(worse));
        }
        if operation.settles() {
            let (code, again, stderr) = self.run(&written);
            if code != 0 && !(code == 3 && matches!(operation, Operation::Compact { .. })) {
                return Err(format!("again: exit code {code}: {}", stderr.trim()));
            }
            if code == 0 && again != result {
                return Err(format!("again: the second run changes something: {}", stderr.trim()));
            }
        }
        Ok(())
    }

    /// Judges that an operation in place can be undone.
    pub(crate) fn undo(&self, text: &str, operation: &Operation) -> Verdict {
        let text = &self.at_home(text);
        let before = Conversation::new(text);
        if !operation.applies(&before) {
            return Ok(());
        }
        self.place(text);
        let mut arguments = operation.arguments(&before);
        arguments.extend([SESSION, "--in-place", "--yes"].map(str::to_owned));
        let (code, _, stderr) = self.run(&arguments);
        let now = fs_err::read_to_string(self.home.transcript(SESSION)).unwrap_or_default();
        match code {
            3 if now == *text => return Ok(()),
            0 => {}
            _ => return Err(format!("in place: exit code {code}: {}", stderr.trim())),
        }
        if now == *text {
            return Ok(());
        }
        let (code, _, stderr) = self.run(&["undo", "--yes"].map(str::to_owned));
        let back = fs_err::read_to_string(self.home.transcript(SESSION)).unwrap_or_default();
        if code != 0 || back != *text {
            return Err(format!("undo: exit code {code}, the same bytes: {}: {}", back == *text, stderr.trim()));
        }
        Ok(())
    }
}

/// Messages whose blocks are compared in any order, without line breaks at their end.
fn sorted_messages(blocks: &[Block]) -> Vec<(&'static str, Vec<String>)> {
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
