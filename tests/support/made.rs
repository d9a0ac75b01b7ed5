//! Healthy sessions, made by rule.

use serde_json::{Value, json};

/// Shapes of a session.
#[derive(Debug, Clone)]
pub(crate) struct Shape {
    /// For each turn, how many parallel calls it makes; 0 answers at once.
    pub(crate) turns: Vec<usize>,
    /// The client that wrote it.
    pub(crate) version: &'static str,
    /// Whether results hang on their own calls.
    pub(crate) branches: bool,
    /// The turn in front of which it was compacted.
    pub(crate) compacted: Option<usize>,
}

struct Maker<'a> {
    shape: &'a Shape,
    lines: Vec<Value>,
    last: Option<String>,
    count: u64,
}

pub(crate) const SESSION: &str = "5e551011-0000-4000-8000-000000000001";

/// The lines of a session.
pub(crate) fn lines(shape: &Shape) -> Vec<Value> {
    let mut maker = Maker {
        shape,
        lines: Vec::new(),
        last: None,
        count: 0,
    };
    for (n, calls) in shape.turns.iter().enumerate() {
        if shape.compacted == Some(n) && n > 0 {
            maker.compact();
        }
        maker.turn(n, *calls);
    }
    if let (Some(leaf), "2.1.156" | "2.1.325") = (maker.last.clone(), shape.version) {
        maker.lines.push(json!({"type": "last-prompt", "lastPrompt": "Prompt", "leafUuid": leaf, "sessionId": SESSION}));
    }
    maker.lines
}

/// Their bytes.
pub(crate) fn bytes(lines: &[Value]) -> Vec<u8> {
    lines
        .iter()
        .flat_map(|l| format!("{l}\n").into_bytes())
        .collect()
}

impl Maker<'_> {
    fn entry(&mut self, kind: &str, parent: Option<String>, more: Value) -> String {
        self.count += 1;
        let uuid = format!("{:08x}-0000-4000-8000-000000000000", self.count);
        let seconds = self.count * 2;
        let time = format!(
            "2026-03-01T{:02}:{:02}:{:02}.000Z",
            10 + seconds / 3600,
            seconds / 60 % 60,
            seconds % 60
        );
        let mut line = json!({"parentUuid": parent, "isSidechain": false, "userType": "external", "cwd": "/home/user/project", "sessionId": SESSION, "version": self.shape.version, "type": kind, "uuid": uuid, "timestamp": time});
        line.as_object_mut()
            .unwrap()
            .extend(more.as_object().unwrap().clone());
        self.lines.push(line);
        self.last = Some(uuid.clone());
        uuid
    }

    fn answer(&mut self, parent: Option<String>, id: &str, block: Value) -> String {
        self.entry("assistant", parent, json!({"message": {"id": id, "type": "message", "role": "assistant", "model": "claude-sonnet-4-5", "content": [block], "usage": {"input_tokens": 10, "output_tokens": 5}}}))
    }

    fn turn(&mut self, n: usize, calls: usize) {
        let last = self.last.clone();
        self.entry("user", last, json!({"message": {"role": "user", "content": format!("Prompt {n}.")}, "permissionMode": "default"}));
        let id = format!("msg_{n}_calls");
        let mut made = Vec::new();
        for c in 0..calls {
            let last = self.last.clone();
            if c == 0 {
                self.answer(last, &id, json!({"type": "thinking", "thinking": format!("Thought {n}."), "signature": "c2ln"}));
            }
            let last = self.last.clone();
            made.push(self.answer(last, &id, json!({"type": "tool_use", "id": format!("toolu_{n}_{c}"), "name": "Bash", "input": {"command": "ls"}})));
        }
        for (c, call) in made.into_iter().enumerate() {
            let parent = if self.shape.branches {
                Some(call)
            } else {
                self.last.clone()
            };
            self.entry("user", parent, json!({"message": {"role": "user", "content": [{"tool_use_id": format!("toolu_{n}_{c}"), "type": "tool_result", "content": format!("Result {n} {c}.")}]}, "toolUseResult": "x"}));
        }
        let last = self.last.clone();
        self.answer(
            last,
            &format!("msg_{n}_end"),
            json!({"type": "text", "text": format!("Answer {n}.")}),
        );
    }

    fn compact(&mut self) {
        let before = self.last.clone();
        let boundary = self.entry("system", None, json!({"subtype": "compact_boundary", "content": "Conversation compacted", "logicalParentUuid": before, "level": "info", "compactMetadata": {"trigger": "manual", "preTokens": 100}}));
        self.entry("user", Some(boundary), json!({"message": {"role": "user", "content": "A summary of what was said."}, "isCompactSummary": true, "isVisibleInTranscriptOnly": true}));
    }
}
