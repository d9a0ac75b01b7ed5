//! A session written line by line, as a client would have over some hours.

use std::fmt::Write as _;
use std::time::Duration;

use serde_json::{Value, json};

use super::NOW;

/// A session that is written line by line. Ids and times are counted, so that the same calls make the same bytes.
pub(crate) struct Script {
    session: String,
    lines: String,
    count: u32,
    parent: Value,
    message: u32,
    /// How long before [`NOW`] the next entry was made, in seconds.
    ago: u64,
}

impl Script {
    pub(crate) fn new(session: &str, hours_ago: u64) -> Self {
        Self {
            session: session.to_owned(),
            lines: String::new(),
            count: 0,
            parent: Value::Null,
            message: 0,
            ago: hours_ago * 3600 + 600,
        }
    }

    pub(crate) fn text(&self) -> &str {
        &self.lines
    }

    /// Adds an entry after the last one, and returns its uuid.
    pub(crate) fn entry(&mut self, kind: &str, fields: &Value) -> Value {
        self.count += 1;
        self.ago = self.ago.saturating_sub(1);
        let now: jiff::Timestamp = NOW.parse().expect("a time");
        let time = now - Duration::from_secs(self.ago);
        let uuid = json!(format!(
            "{:08x}-0000-4000-8000-{:012x}",
            self.count, self.count
        ));
        let mut entry = json!({"parentUuid": self.parent, "isSidechain": false, "type": kind, "uuid": uuid,
            "timestamp": time.strftime("%Y-%m-%dT%H:%M:%S.000Z").to_string(), "sessionId": self.session, "cwd": "/w", "version": "2.1.325", "gitBranch": "main"});
        for (key, value) in fields.as_object().expect("fields") {
            entry[key] = value.clone();
        }
        let _ = writeln!(self.lines, "{entry}");
        self.parent = uuid.clone();
        uuid
    }

    pub(crate) fn line(&mut self, value: &Value) {
        let _ = writeln!(self.lines, "{value}");
    }

    /// Adds a line as it is, whatever it is.
    pub(crate) fn raw(&mut self, text: &str) {
        let _ = writeln!(self.lines, "{text}");
    }

    pub(crate) fn prompt(&mut self, words: &str) {
        self.entry(
            "user",
            &json!({"message": {"role": "user", "content": words}, "permissionMode": "default"}),
        );
    }

    /// Begins an answer: the lines that follow are of one message, whose request took `window` tokens.
    pub(crate) fn answer(&mut self, window: u64, blocks: &[Value]) {
        self.message += 1;
        let (id, session) = (self.message, self.session.clone());
        for block in blocks {
            self.entry(
                "assistant",
                &json!({"message": {"id": format!("msg_{}_{id}", &session[..4]), "type": "message", "role": "assistant", "model": "claude-test-1",
                    "content": [block], "usage": {"input_tokens": window, "output_tokens": 20}}}),
            );
        }
    }

    pub(crate) fn result(&mut self, id: &str, content: &Value, error: bool) {
        self.entry(
            "user",
            &json!({"message": {"role": "user", "content": [{"type": "tool_result", "tool_use_id": id, "content": content, "is_error": error}]}, "toolUseResult": {"stdout": content}}),
        );
    }
}

pub(crate) fn words(text: &str) -> Value {
    json!({"type": "text", "text": text})
}

pub(crate) fn thinking(text: &str) -> Value {
    json!({"type": "thinking", "thinking": text, "signature": "c2lnbmVk"})
}

pub(crate) fn call(id: &str, tool: &str, input: &Value) -> Value {
    json!({"type": "tool_use", "id": id, "name": tool, "input": input})
}

/// A picture of 640 by 480, as far as its head tells.
pub(crate) fn picture() -> Value {
    use base64::Engine as _;
    let png = [
        b"\x89PNG\r\n\x1a\n\0\0\0\rIHDR".as_slice(),
        &640u32.to_be_bytes(),
        &480u32.to_be_bytes(),
        &[0; 600],
    ]
    .concat();
    json!({"type": "image", "source": {"type": "base64", "media_type": "image/png", "data": base64::engine::general_purpose::STANDARD.encode(png)}})
}

/// The session of most tests: a summary, parallel calls, a picture, a key, hostile and wide
/// characters, an interruption, and a call at the end that nobody answered.
pub(crate) fn eventful() -> Script {
    let mut s = Script::new("5e551011-aaaa-4bbb-8ccc-dddddddddddd", 30);
    s.prompt("Set up the project");
    s.answer(12_000, &[words("Done.")]);
    s.ago = 26 * 3600 + 600;
    s.entry("system", &json!({"subtype": "compact_boundary", "parentUuid": null, "logicalParentUuid": s.parent.clone(), "compactMetadata": {"trigger": "auto", "preTokens": 12000}}));
    s.entry("user", &json!({"isCompactSummary": true, "isVisibleInTranscriptOnly": true, "message": {"role": "user", "content": "This is the summary of what came before."}}));
    s.prompt("Fix the flaky test in parser.rs\nand tell me why it fails");
    s.answer(
        11_000,
        &[
            thinking("The test depends on the order of a map."),
            words("Let me look."),
            call(
                "toolu_a",
                "Bash",
                &json!({"command": "cargo test parser", "description": "run"}),
            ),
            call("toolu_b", "Read", &json!({"file_path": "/w/src/parser.rs"})),
        ],
    );
    let output = (1..=40)
        .map(|n| format!("test parser::case_{n} ... ok"))
        .collect::<Vec<_>>()
        .join("\n");
    s.result("toolu_a", &json!(output), true);
    s.result(
        "toolu_b",
        &json!("fn parse() {\n\tlet map = HashMap::new();\n}\n"),
        false,
    );
    s.answer(
        11_700,
        &[words("The map's order is random; **sort the keys**.")],
    );
    s.ago = 3 * 3600 + 600;
    s.prompt(
        "日本語のログを見て \u{1b}[31mred\u{7} and use ghp_abcdefghijklmnopqrstuvwxyz0123456789",
    );
    s.answer(11_800, &[call("toolu_c", "Screenshot", &json!({}))]);
    s.result("toolu_c", &json!([picture()]), false);
    s.answer(12_300, &[words("It shows the log.")]);
    s.entry("user", &json!({"message": {"role": "user", "content": [{"type": "text", "text": "[Request interrupted by user]"}]}}));
    s.ago = 2 * 3600 + 600;
    s.prompt("Push it");
    s.answer(
        12_500,
        &[call(
            "toolu_d",
            "Bash",
            &json!({"command": "git push origin main"}),
        )],
    );
    s.line(&json!({"type": "custom-title", "customTitle": "Flaky parser \u{1b}[2J test", "sessionId": s.session}));
    s
}
