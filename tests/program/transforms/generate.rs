//! Sessions made up at random, as clients would have written them, with everything that makes surgery hard.

use proptest::prelude::*;
use serde_json::{Value, json};

use crate::harness::{SESSION, uuid};

/// How the results of a message's calls hang on it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Results {
    /// Each on its own call's line, as clients from 2.1 on write them: all but one are side branches.
    Beside,
    /// One after the other.
    Linear,
    /// All in one entry.
    Together,
    /// One after the other, and the last is missing.
    OneMissing,
}

/// One answer of the model's.
#[derive(Debug, Clone)]
pub(crate) struct Answer {
    /// 0 none, 1 thinking, 2 redacted thinking, 3 both.
    thinking: u8,
    text: bool,
    /// The tools that it calls.
    calls: Vec<u8>,
    results: Results,
    /// Whether each block has a line of its own.
    split: bool,
    /// Words of a person's in the entry of the last result.
    aside: bool,
}

/// What stands between two turns.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Between {
    Nothing,
    Boundary,
    /// A boundary that keeps the last messages, by a list.
    KeepingList,
    /// The same, by its two ends.
    KeepingSegment,
    /// A prompt and an answer that were abandoned.
    Branch,
    /// A prompt and an answer of a subagent's.
    Sidechain,
    Attachment,
    Metadata,
}

/// A turn.
#[derive(Debug, Clone)]
pub(crate) struct Turn {
    answers: Vec<Answer>,
    /// Whether the last word is a text, as in a turn that came to its end.
    ends: bool,
    between: Between,
}

/// What is wrong with the file.
#[derive(Debug, Clone, Copy)]
pub(crate) enum Fault {
    DanglingParent(usize),
    TornLine(usize),
    DuplicateLine(usize),
}

/// A whole session in short.
#[derive(Debug, Clone)]
pub(crate) struct Sketch {
    turns: Vec<Turn>,
    last_prompt: bool,
    faults: Vec<Fault>,
}

pub(crate) const TOOLS: [&str; 4] = ["Bash", "Read", "Edit", "mcp__db__query"];

fn answer() -> impl Strategy<Value = Answer> {
    let results = prop_oneof![
        4 => Just(Results::Beside),
        3 => Just(Results::Linear),
        2 => Just(Results::Together),
        1 => Just(Results::OneMissing),
    ];
    let calls = proptest::collection::vec(0u8..4, 0..4);
    (
        0u8..4,
        any::<bool>(),
        calls,
        results,
        any::<bool>(),
        any::<bool>(),
    )
        .prop_map(|(thinking, text, calls, results, split, aside)| Answer {
            thinking,
            text: text || calls.is_empty(),
            calls,
            results,
            // A line with a call that nobody answered is hidden whole, so it holds nothing else.
            split: split || results == Results::OneMissing,
            aside,
        })
}

fn turn() -> impl Strategy<Value = Turn> {
    let between = prop_oneof![
        6 => Just(Between::Nothing),
        1 => Just(Between::Boundary),
        1 => Just(Between::KeepingList),
        1 => Just(Between::KeepingSegment),
        2 => Just(Between::Branch),
        1 => Just(Between::Sidechain),
        2 => Just(Between::Attachment),
        2 => Just(Between::Metadata),
    ];
    let answers = proptest::collection::vec(answer(), 1..4);
    (
        answers,
        prop_oneof![1 => Just(false), 5 => Just(true)],
        between,
    )
        .prop_map(|(answers, ends, between)| Turn {
            answers,
            ends,
            between,
        })
}

/// Sessions without a fault.
pub(crate) fn sound() -> impl Strategy<Value = Sketch> {
    (proptest::collection::vec(turn(), 1..6), any::<bool>()).prop_map(|(turns, last_prompt)| {
        Sketch {
            turns,
            last_prompt,
            faults: Vec::new(),
        }
    })
}

/// Sessions with a few faults.
pub(crate) fn faulty() -> impl Strategy<Value = Sketch> {
    let fault = prop_oneof![
        (0usize..40).prop_map(Fault::DanglingParent),
        (0usize..40).prop_map(Fault::TornLine),
        (0usize..40).prop_map(Fault::DuplicateLine),
    ];
    (sound(), proptest::collection::vec(fault, 1..3))
        .prop_map(|(sketch, faults)| Sketch { faults, ..sketch })
}

impl Sketch {
    /// The file.
    pub(crate) fn bytes(&self) -> Vec<u8> {
        let mut writer = Writer::default();
        let last = self.turns.len() - 1;
        for (n, turn) in self.turns.iter().enumerate() {
            writer.turn(n, turn);
            if n < last {
                writer.between(n, turn.between);
            }
        }
        if self.last_prompt {
            let line = json!({"type": "last-prompt", "lastPrompt": "p", "leafUuid": writer.leaf, "sessionId": SESSION});
            writer.lines.push(line);
        }
        let mut lines = writer.lines;
        for fault in &self.faults {
            if let Fault::DanglingParent(n) = fault {
                let n = n % lines.len();
                if lines[n]["parentUuid"].is_string() {
                    lines[n]["parentUuid"] = json!("90000000-0000-4bbb-8ccc-000000000000");
                }
            }
        }
        let mut lines: Vec<String> = lines.iter().map(Value::to_string).collect();
        for fault in &self.faults {
            match *fault {
                Fault::DanglingParent(_) => {}
                Fault::TornLine(n) => {
                    let n = n % lines.len();
                    let torn = lines[n][..lines[n].len() / 2].to_owned();
                    lines.insert(n, torn);
                }
                Fault::DuplicateLine(n) => {
                    let n = n % lines.len();
                    lines.insert(n, lines[n].clone());
                }
            }
        }
        let mut out = lines.join("\n");
        out.push('\n');
        out.into_bytes()
    }
}

#[derive(Default)]
struct Writer {
    lines: Vec<Value>,
    minted: usize,
    messages: usize,
    calls: usize,
    leaf: Option<String>,
}

impl Writer {
    fn entry(&mut self, parent: Option<String>, sidechain: bool, fields: Value) -> String {
        self.minted += 1;
        let n = self.minted;
        let own = uuid(SESSION, n);
        let mut line = json!({"parentUuid": parent, "isSidechain": sidechain});
        let rest = json!({
            "uuid": own, "timestamp": format!("2026-03-04T05:{:02}:{:02}.000Z", n / 60 % 60, n % 60),
            "userType": "external", "cwd": "/work", "sessionId": SESSION, "version": "2.1.325",
        });
        for more in [fields, rest] {
            if let (Value::Object(line), Value::Object(more)) = (&mut line, more) {
                line.extend(more);
            }
        }
        self.lines.push(line);
        own
    }

    fn grow(&mut self, fields: Value) -> String {
        let own = self.entry(self.leaf.clone(), false, fields);
        self.leaf = Some(own.clone());
        own
    }

    fn prompt(&mut self, words: &str) {
        self.grow(json!({"type": "user", "message": {"role": "user", "content": words}}));
    }

    fn say(&mut self, message: &str, blocks: &[Value]) -> String {
        let window = self.window(message);
        let usage = json!({"input_tokens": 3, "cache_creation_input_tokens": 7, "cache_read_input_tokens": window, "output_tokens": 5});
        self.grow(json!({
            "type": "assistant",
            "message": {"model": "m", "id": message, "type": "message", "role": "assistant", "content": blocks, "usage": usage},
        }))
    }

    /// The window at the request that a message answers: all of its lines say the same.
    fn window(&mut self, message: &str) -> usize {
        let said = self.lines.iter().rev();
        let own = said.filter(|l| l["message"]["id"] == message);
        if let Some(line) = own.into_iter().next() {
            let usage = &line["message"]["usage"];
            return usage["cache_read_input_tokens"].as_u64().expect("usage") as usize;
        }
        let since = self
            .lines
            .iter()
            .rposition(|l| l["subtype"] == "compact_boundary");
        let shown = self.lines[since.unwrap_or(0)..].iter();
        let bytes: usize = shown
            .filter(|l| !l["message"].is_null())
            .map(|l| l["message"]["content"].to_string().len())
            .sum();
        40 + bytes / 4
    }

    fn message(&mut self) -> String {
        self.messages += 1;
        format!("msg_{:03}", self.messages)
    }

    fn turn(&mut self, n: usize, turn: &Turn) {
        self.prompt(&format!("prompt {n}"));
        for answer in &turn.answers {
            self.answer(answer);
        }
        if turn.ends {
            let message = self.message();
            self.say(&message, &[text(&format!("the end of {n}"))]);
        }
    }

    fn answer(&mut self, answer: &Answer) {
        let message = self.message();
        let mut blocks = Vec::new();
        let signature = format!("sig-{message}");
        if answer.thinking & 1 != 0 {
            blocks.push(json!({"type": "thinking", "thinking": format!("hm {message}"), "signature": signature}));
        }
        if answer.thinking & 2 != 0 {
            blocks.push(json!({"type": "redacted_thinking", "data": format!("data-{message}")}));
        }
        if answer.text {
            blocks.push(text(&format!("said in {message}")));
        }
        let mut ids = Vec::new();
        for &tool in &answer.calls {
            self.calls += 1;
            let id = format!("toolu_{:03}", self.calls);
            let name = TOOLS[tool as usize];
            blocks.push(
                json!({"type": "tool_use", "id": id, "name": name, "input": {"command": format!("do {id}")}}),
            );
            ids.push(id);
        }
        let mut made_in = Vec::new();
        if answer.split {
            for block in &blocks {
                let own = self.say(&message, std::slice::from_ref(block));
                if block["type"] == "tool_use" {
                    made_in.push(own);
                }
            }
        } else {
            let own = self.say(&message, &blocks);
            made_in = vec![own; ids.len()];
        }
        self.results(answer, &ids, &made_in);
    }

    fn results(&mut self, answer: &Answer, ids: &[String], made_in: &[String]) {
        let result = |id: &String| json!({"type": "tool_result", "tool_use_id": id, "content": output(id), "is_error": id.ends_with('3')});
        let aside = answer.aside.then(|| text("by the way"));
        if answer.results == Results::Together && !ids.is_empty() {
            let blocks: Vec<Value> = ids.iter().map(result).chain(aside).collect();
            self.grow(json!({
                "type": "user", "message": {"role": "user", "content": blocks},
                "toolUseResult": "all of it", "sourceToolAssistantUUID": made_in[0],
            }));
            return;
        }
        let answered =
            ids.len() - usize::from(answer.results == Results::OneMissing && !ids.is_empty());
        for (n, id) in ids.iter().enumerate().take(answered) {
            if answer.results == Results::Beside {
                self.leaf = Some(made_in[n].clone());
            }
            // Text stands beside the first result of an even number of calls, and beside the last of an odd one.
            let beside = if ids.len().is_multiple_of(2) {
                0
            } else {
                answered - 1
            };
            let aside = aside.clone().filter(|_| n == beside);
            let blocks: Vec<Value> = [result(id)].into_iter().chain(aside).collect();
            self.grow(json!({
                "type": "user", "message": {"role": "user", "content": blocks},
                "toolUseResult": {"stdout": output(id)}, "sourceToolAssistantUUID": made_in[n],
            }));
        }
    }

    fn between(&mut self, n: usize, between: Between) {
        match between {
            Between::Nothing => {}
            Between::Boundary => self.boundary(n, json!({"trigger": "manual", "preTokens": 9})),
            Between::KeepingList | Between::KeepingSegment => self.keeping(n, between),
            Between::Branch => {
                let leaf = self.leaf.clone();
                self.prompt("never mind");
                let message = self.message();
                let thinking = json!({"type": "thinking", "thinking": "hm", "signature": format!("sig-{message}")});
                self.say(&message, &[thinking, text("all right")]);
                self.leaf = leaf;
            }
            Between::Sidechain => {
                let words =
                    json!({"type": "user", "message": {"role": "user", "content": "find it"}});
                let asked = self.entry(None, true, words);
                let message = self.message();
                let thinking = json!({"type": "thinking", "thinking": "hm", "signature": format!("sig-{message}")});
                self.entry(
                    Some(asked),
                    true,
                    json!({"type": "assistant", "message": {"model": "m", "id": message, "role": "assistant", "content": [thinking, text("found")]}}),
                );
            }
            Between::Attachment => {
                self.grow(json!({"type": "attachment", "attachment": {"type": "note", "content": "n"}, "rendered": [{"content": format!("<system-reminder>\nnote {n}\n</system-reminder>")}], "renderedRole": "user"}));
            }
            Between::Metadata => {
                let leaf = self.leaf.clone();
                self.lines.extend([
                    json!({"type": "file-history-snapshot", "messageId": leaf, "snapshot": {"messageId": leaf, "trackedFileBackups": {}}, "isSnapshotUpdate": false}),
                    json!({"type": "queue-operation", "operation": "enqueue", "content": "next", "sessionId": SESSION}),
                    json!({"type": "summary", "summary": "so far", "leafUuid": leaf}),
                    json!({"type": "of-next-month", "about": leaf}),
                ]);
            }
        }
    }

    fn boundary(&mut self, n: usize, metadata: Value) {
        let before = self.leaf.take();
        self.grow(json!({
            "logicalParentUuid": before, "type": "system", "subtype": "compact_boundary",
            "content": "Conversation compacted", "isMeta": false, "compactMetadata": metadata,
        }));
        self.grow(json!({
            "type": "user", "message": {"role": "user", "content": format!("summary {n}")},
            "isCompactSummary": true, "isVisibleInTranscriptOnly": true,
        }));
    }

    /// A boundary that keeps the last two entries of the conversation.
    fn keeping(&mut self, n: usize, between: Between) {
        let tail = self.leaf.clone();
        let head = self.lines.iter().find(|l| l["uuid"] == json!(tail));
        let head = head.map(|l| l["parentUuid"].clone()).unwrap_or_default();
        let anchor = uuid(SESSION, self.minted + 2);
        let kept = if between == Between::KeepingList {
            json!({"preservedMessages": {"anchorUuid": anchor, "uuids": [head, tail], "allUuids": [head, tail]}})
        } else {
            json!({"preservedSegment": {"anchorUuid": anchor, "headUuid": head, "tailUuid": tail}})
        };
        self.boundary(n, kept);
    }
}

/// Three lines of output.
fn output(id: &str) -> String {
    format!("first line of {id}\n{}\nlast line of {id}", "x".repeat(200))
}

fn text(words: &str) -> Value {
    json!({"type": "text", "text": words})
}
