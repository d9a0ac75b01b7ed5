//! Transcripts as clients write them, an entry at a time.

use std::path::Path;

use serde_json::{Value, json};

/// The uuid of the `n`th entry of a transcript.
pub(crate) fn uuid(session: &str, n: usize) -> String {
    format!("{}-{n:04x}-4bbb-8ccc-{}", &session[..8], &session[24..])
}

/// A transcript that grows at its leaf.
#[derive(Clone)]
pub(crate) struct Transcript {
    pub(crate) session: String,
    pub(crate) lines: Vec<Value>,
    cwd: String,
    minted: usize,
    leaf: Option<String>,
    message: Option<String>,
    calls: Vec<(String, String)>,
    sidechain: Option<String>,
    slug: Option<String>,
}

impl Transcript {
    pub(crate) fn new(session: &str, cwd: &Path) -> Self {
        Self {
            session: session.to_owned(),
            lines: Vec::new(),
            cwd: cwd.to_string_lossy().into_owned(),
            minted: 0,
            leaf: None,
            message: None,
            calls: Vec::new(),
            sidechain: None,
            slug: None,
        }
    }

    /// The transcript of a subagent of `session`.
    pub(crate) fn of_agent(session: &str, agent: &str, cwd: &Path) -> Self {
        let mut out = Self::new(session, cwd);
        out.sidechain = Some(agent.to_owned());
        // Far from the main transcript's own.
        out.minted = 0x800;
        out
    }

    /// Entries from here on carry the slug of a plan.
    pub(crate) fn slug(mut self, slug: &str) -> Self {
        self.slug = Some(slug.to_owned());
        self
    }

    pub(crate) fn prompt(self, words: &str) -> Self {
        self.user(json!({"role": "user", "content": words}), json!({}))
    }

    pub(crate) fn thinking(self, words: &str) -> Self {
        self.block(json!({"type": "thinking", "thinking": words, "signature": "c2lnbmVk"}))
    }

    pub(crate) fn answer(self, words: &str) -> Self {
        self.block(json!({"type": "text", "text": words}))
    }

    pub(crate) fn call(mut self, id: &str, tool: &str, input: &Value) -> Self {
        self = self.block(json!({"type": "tool_use", "id": id, "name": tool, "input": input}));
        let line = self.leaf.clone().expect("the call's own line");
        self.calls.push((id.to_owned(), line));
        self
    }

    /// The result of a call; it hangs on that call's line, as clients from 2.1 on write it.
    pub(crate) fn result(mut self, id: &str, output: &str) -> Self {
        let call = self.calls.iter().find(|(c, _)| c == id).expect("the call");
        let line = call.1.clone();
        self.leaf = Some(line.clone());
        let block = json!({"tool_use_id": id, "type": "tool_result", "content": output});
        self.user(
            json!({"role": "user", "content": [block]}),
            json!({"toolUseResult": {"stdout": output}, "sourceToolAssistantUUID": line}),
        )
    }

    /// A user entry with more fields.
    pub(crate) fn user(mut self, message: Value, more: Value) -> Self {
        self.message = None;
        let mut fields = json!({"type": "user", "message": message});
        extend(&mut fields, more);
        self.chain(fields)
    }

    pub(crate) fn attachment(self, attachment: Value) -> Self {
        self.chain(json!({"type": "attachment", "attachment": attachment}))
    }

    /// A compaction: the boundary and its summary.
    pub(crate) fn compaction(mut self, summary: &str, metadata: Value) -> Self {
        let before = self.leaf.take();
        self = self.chain(json!({
            "logicalParentUuid": before, "type": "system", "subtype": "compact_boundary",
            "content": "Conversation compacted", "isMeta": false, "compactMetadata": metadata,
        }));
        self.user(
            json!({"role": "user", "content": summary}),
            json!({"isCompactSummary": true, "isVisibleInTranscriptOnly": true}),
        )
    }

    /// A line that is not part of the graph.
    pub(crate) fn line(mut self, line: Value) -> Self {
        self.lines.push(line);
        self
    }

    pub(crate) fn title(self, title: &str) -> Self {
        let session = self.session.clone();
        self.line(json!({"type": "custom-title", "customTitle": title, "sessionId": session}))
    }

    pub(crate) fn last_prompt(self, words: &str) -> Self {
        let (session, leaf) = (self.session.clone(), self.leaf.clone());
        self.line(json!({"type": "last-prompt", "lastPrompt": words, "leafUuid": leaf, "sessionId": session}))
    }

    /// A chain entry behind the leaf, which it becomes.
    pub(crate) fn chain(mut self, fields: Value) -> Self {
        self.minted += 1;
        let n = self.minted;
        let uuid = uuid(&self.session, n);
        let mut line = json!({"parentUuid": self.leaf, "isSidechain": self.sidechain.is_some()});
        if let Some(agent) = &self.sidechain {
            extend(&mut line, json!({"agentId": agent}));
        }
        extend(&mut line, fields);
        extend(
            &mut line,
            json!({
                "uuid": uuid, "timestamp": time(n), "userType": "external", "cwd": self.cwd,
                "sessionId": self.session, "version": "2.1.325", "gitBranch": "main",
            }),
        );
        if let Some(slug) = &self.slug {
            extend(&mut line, json!({"slug": slug}));
        }
        self.leaf = Some(uuid);
        self.lines.push(line);
        self
    }

    /// Goes on behind an earlier entry.
    pub(crate) fn back_to(mut self, n: usize) -> Self {
        self.leaf = Some(uuid(&self.session, n));
        self.message = None;
        self
    }

    /// The uuid of the leaf.
    pub(crate) fn leaf(&self) -> String {
        self.leaf.clone().expect("an entry")
    }

    /// The uuid of the `n`th chain entry.
    pub(crate) fn id(&self, n: usize) -> String {
        uuid(&self.session, n)
    }

    /// The file's text.
    pub(crate) fn text(&self) -> String {
        self.lines
            .iter()
            .flat_map(|l| {
                [
                    l.to_string(),
                    "
"
                    .to_owned(),
                ]
            })
            .collect()
    }

    fn block(mut self, block: Value) -> Self {
        let message = self.message.take();
        let message = message.unwrap_or_else(|| format!("msg_{:04}", self.minted + 1));
        self.message = Some(message.clone());
        let window = 1000 + 100 * self.minted;
        self.chain(json!({
            "type": "assistant", "requestId": format!("req_{message}"),
            "message": {
                "model": "claude-sonnet-4-5", "id": message, "type": "message", "role": "assistant",
                "content": [block], "stop_reason": null,
                "usage": {"input_tokens": window, "output_tokens": 10},
            },
        }))
    }
}

fn extend(line: &mut Value, more: Value) {
    if let (Value::Object(line), Value::Object(more)) = (line, more) {
        line.extend(more);
    }
}

/// A moment later for each entry.
fn time(n: usize) -> String {
    format!("2026-03-04T05:{:02}:{:02}.000Z", n / 60 % 60, n % 60)
}
