//! Writes the transcript of a recipe as a client would have written it.

use serde_json::{Value, json};

use super::recipe::{Answer, End, Kept, Links, Note, Prompt, Recipe, Step, Thinking};
use crate::harness::{SESSION, uuid};

/// A picture of one point.
const PICTURE: &str = "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==";

/// What the conversation waits for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Waits {
    /// A prompt.
    Person,
    /// An answer.
    Model,
}

/// The state of a session that is being written.
pub(crate) struct Writer<'a> {
    pub(crate) recipe: &'a Recipe,
    pub(crate) lines: Vec<Value>,
    pub(crate) minted: usize,
    pub(crate) words: usize,
    pub(crate) leaf: Option<String>,
    pub(crate) waits: Waits,
    pub(crate) clock_back: bool,
    /// For each turn of the live path, the entry before its prompt.
    pub(crate) before_turns: Vec<Option<String>>,
    /// The entries of the current turn.
    pub(crate) turn: Vec<String>,
    /// The lines of the last message, and the results of its calls.
    pub(crate) message: Vec<String>,
    /// The last prompt's text.
    pub(crate) prompt: String,
}

/// The transcript of a recipe.
pub(crate) fn write(recipe: &Recipe) -> String {
    let mut writer = Writer {
        recipe,
        lines: Vec::new(),
        minted: 0,
        words: 0,
        leaf: None,
        waits: Waits::Person,
        clock_back: false,
        before_turns: Vec::new(),
        turn: Vec::new(),
        message: Vec::new(),
        prompt: String::new(),
    };
    for step in &recipe.steps {
        writer.step(step);
    }
    writer.end();
    let lines: Vec<String> = writer.lines.iter().map(Value::to_string).collect();
    lines.join("\n") + "\n"
}

pub(crate) fn text(words: &str) -> Value {
    json!({"type": "text", "text": words})
}

pub(crate) fn picture() -> Value {
    json!({"type": "image", "source": {"type": "base64", "media_type": "image/png", "data": PICTURE}})
}

impl Writer<'_> {
    fn step(&mut self, step: &Step) {
        match step {
            Step::Prompt(prompt) => self.prompt(*prompt),
            Step::Answer(answer) => self.answer(answer),
            Step::Interrupt => self.interrupt(),
            Step::Rewind { turns, named } => self.rewind(*turns, *named),
            Step::Compact(kept) => self.compact(*kept),
            Step::Note(note) => self.note(*note),
            Step::Queued => self.queued("prompt"),
            Step::Notification => self.queued("task-notification"),
            Step::LocalCommand => self.local_command(),
            Step::Sidechain => self.sidechain(),
            Step::Progress => self.progress(),
            Step::Snapshot => self.snapshot(),
            Step::Title => {
                let title = self.word("title");
                self.lines.push(
                    json!({"type": "custom-title", "customTitle": title, "sessionId": SESSION}),
                );
            }
            Step::StaleLastPrompt => {
                let ancestor = self.before_turns.last().cloned().flatten();
                if let (Some(ancestor), true) = (ancestor, self.is_new()) {
                    self.last_prompt(&ancestor);
                }
            }
            Step::Duplicate => self
                .lines
                .extend(self.lines.last().filter(|l| l["uuid"].is_string()).cloned()),
            Step::ChildFirst => self.child_first(),
            Step::ClockBack => self.clock_back = true,
        }
    }

    /// Whether the client writes last prompts and request logs.
    pub(crate) fn is_new(&self) -> bool {
        self.recipe.links != Links::Chained
    }

    /// Words that occur nowhere else in the session.
    pub(crate) fn word(&mut self, what: &str) -> String {
        self.words += 1;
        format!("{what}-{:04}", self.words)
    }

    fn entry(&mut self, parent: Option<String>, sidechain: bool, fields: Value) -> String {
        self.minted += 1;
        let own = uuid(SESSION, self.minted);
        let seconds = if std::mem::take(&mut self.clock_back) {
            self.minted * 2 + 7
        } else {
            self.minted * 2 + 10
        };
        let mut line = json!({
            "parentUuid": parent, "isSidechain": sidechain, "userType": "external", "cwd": "/work",
            "sessionId": SESSION, "version": self.recipe.version, "gitBranch": "main",
        });
        let rest = json!({"uuid": own, "timestamp": format!("2026-03-04T05:{:02}:{:02}.000Z", seconds / 60, seconds % 60)});
        for more in [fields, rest] {
            if let (Value::Object(line), Value::Object(more)) = (&mut line, more) {
                line.extend(more);
            }
        }
        self.lines.push(line);
        own
    }

    /// Adds an entry to the live path.
    pub(crate) fn grow(&mut self, fields: Value) -> String {
        let own = self.entry(self.leaf.clone(), false, fields);
        self.leaf = Some(own.clone());
        self.turn.push(own.clone());
        own
    }

    pub(crate) fn user(&mut self, content: Value, more: Value) -> String {
        let mut fields = json!({"type": "user", "message": {"role": "user", "content": content}});
        if let (Value::Object(fields), Value::Object(more)) = (&mut fields, more) {
            fields.extend(more);
        }
        self.grow(fields)
    }

    pub(crate) fn prompt(&mut self, prompt: Prompt) {
        self.before_turns.push(self.leaf.clone());
        self.turn.clear();
        let words = self.word("prompt");
        self.prompt.clone_from(&words);
        match prompt {
            Prompt::Words => self.user(json!(words), json!({})),
            Prompt::Picture => self.user(json!([text(&words), picture()]), json!({})),
            Prompt::Pasted => {
                let words = format!("[Request interrupted by user] was in my log: {words}");
                self.user(
                    json!(words),
                    json!({"promptSource": "typed", "origin": {"kind": "human"}}),
                )
            }
            Prompt::Command => {
                let words = format!(
                    "<command-message>greet</command-message>\n<command-name>/greet</command-name>\n<command-args>{words}</command-args>"
                );
                self.user(json!(words), json!({}));
                let expanded = self.word("expanded");
                self.user(json!([text(&expanded)]), json!({"isMeta": true}))
            }
        };
        self.waits = Waits::Model;
    }

    fn interrupt(&mut self) {
        if self.waits == Waits::Model {
            self.user(json!([text("[Request interrupted by user]")]), json!({}));
            self.message.clear();
            self.waits = Waits::Person;
            self.name_leaf();
        }
    }

    fn rewind(&mut self, turns: usize, named: bool) {
        let first = self.before_turns.len().saturating_sub(turns);
        let Some(Some(place)) = self.before_turns.get(first).cloned() else {
            return;
        };
        self.before_turns.truncate(first);
        self.turn.clear();
        self.message.clear();
        self.leaf = Some(place.clone());
        self.waits = Waits::Person;
        if named && self.is_new() {
            self.last_prompt(&place);
        }
        self.prompt(Prompt::Words);
    }

    fn compact(&mut self, kept: Kept) {
        if self.leaf.is_none() {
            return;
        }
        self.finish_turn();
        let before_turn = self.before_turns.last().cloned().flatten();
        let kept = if before_turn.is_none() && kept == Kept::LastTurn {
            Kept::Nothing
        } else {
            kept
        };
        let before = self.leaf.take();
        let boundary = uuid(SESSION, self.minted + 1);
        let summary = uuid(SESSION, self.minted + 2);
        let (list, before) = match kept {
            Kept::Nothing => (Vec::new(), before),
            Kept::Segment | Kept::Messages => (self.message.clone(), before),
            Kept::LastTurn => (self.turn.clone(), before_turn),
        };
        let mut metadata = json!({"trigger": "auto", "preTokens": 1000});
        if let (Some(head), Some(tail), true) = (list.first(), list.last(), self.is_new()) {
            metadata["preservedSegment"] =
                json!({"headUuid": head, "anchorUuid": summary, "tailUuid": tail});
            if kept != Kept::Segment {
                metadata["preservedMessages"] =
                    json!({"anchorUuid": summary, "uuids": list, "allUuids": list});
            }
        }
        self.grow(json!({
            "logicalParentUuid": before, "type": "system", "subtype": "compact_boundary", "content": "Conversation compacted",
            "isMeta": false, "level": "info", "compactMetadata": metadata,
        }));
        let words = self.word("summary");
        let words = format!(
            "This session is being continued from a previous conversation that ran out of context. {words}"
        );
        self.user(
            json!(words),
            json!({"isCompactSummary": true, "isVisibleInTranscriptOnly": true}),
        );
        debug_assert_eq!(self.lines[self.lines.len() - 2]["uuid"], json!(boundary));
        // A person cannot rewind across a compaction.
        self.before_turns.clear();
        self.message.clear();
        self.prompt(Prompt::Words);
    }

    fn note(&mut self, note: Note) {
        if self.waits == Waits::Person {
            return;
        }
        let words = self.word("note");
        let reminder = format!("<system-reminder>\n{words}\n</system-reminder>");
        self.grow(match note {
            Note::Rendered => json!({"type": "attachment", "attachment": {"type": "note", "content": words}, "rendered": [{"content": reminder}], "renderedRole": "user"}),
            Note::RenderedBySystem => json!({"type": "attachment", "attachment": {"type": "date", "date": words}, "rendered": [{"content": reminder}], "renderedRole": "system"}),
            Note::Plain => json!({"type": "attachment", "attachment": {"type": "critical_system_reminder", "content": words}}),
            Note::Hook => {
                let calls = self.lines.iter().rev().filter_map(|l| l["message"]["content"][0]["tool_use_id"].as_str());
                let call = calls.into_iter().next().unwrap_or_default().to_owned();
                json!({"type": "attachment", "attachment": {"type": "hook_success", "hookName": "PostToolUse", "toolUseID": call, "content": ""}})
            }
            Note::Hidden => json!({"type": "attachment", "attachment": {"type": "prompt_snapshot", "systemPrompt": [words]}}),
        });
    }

    fn queued(&mut self, mode: &str) {
        if self.waits == Waits::Person {
            return;
        }
        let words = self.word(if mode == "prompt" { "queued" } else { "task" });
        let words = if mode == "prompt" {
            words
        } else {
            format!(
                "<task-notification>\n<task-id>{words}</task-id>\n<status>completed</status>\n</task-notification>"
            )
        };
        for operation in ["enqueue", "remove"] {
            self.lines.push(json!({"type": "queue-operation", "operation": operation, "content": words, "sessionId": SESSION}));
        }
        self.grow(json!({"type": "attachment", "attachment": {"type": "queued_command", "prompt": words, "commandMode": mode}}));
    }

    fn local_command(&mut self) {
        if self.waits == Waits::Model || self.leaf.is_none() {
            return;
        }
        let words = self.word("model");
        self.message.clear();
        self.user(json!("<local-command-caveat>Caveat: the messages below were generated by local commands.</local-command-caveat>"), json!({"isMeta": true}));
        self.user(json!("<command-name>/model</command-name>\n<command-message>model</command-message>\n<command-args></command-args>"), json!({}));
        self.user(
            json!(format!(
                "<local-command-stdout>Set model to {words}</local-command-stdout>"
            )),
            json!({}),
        );
    }

    fn sidechain(&mut self) {
        let words = self.word("aside");
        let asked = self.entry(
            None,
            true,
            json!({"type": "user", "message": {"role": "user", "content": words}}),
        );
        let words = self.word("aside");
        let thinking = json!({"type": "thinking", "thinking": words, "signature": "sig"});
        let message = json!({"model": "claude-opus-5-5", "id": format!("msg_{words}"), "type": "message", "role": "assistant", "content": [thinking, text(&words)]});
        self.entry(
            Some(asked),
            true,
            json!({"type": "assistant", "message": message}),
        );
    }

    fn progress(&mut self) {
        if self.leaf.is_some() {
            self.message.clear();
            self.grow(json!({"type": "progress", "data": {"type": "bash_progress", "output": "working"}, "toolUseID": "bash-progress-1"}));
        }
    }

    fn snapshot(&mut self) {
        if let Some(leaf) = &self.leaf {
            self.lines.push(json!({"type": "file-history-snapshot", "messageId": leaf, "snapshot": {"messageId": leaf, "trackedFileBackups": {}, "timestamp": "2026-03-04T05:00:00.000Z"}, "isSnapshotUpdate": false}));
        }
    }

    fn child_first(&mut self) {
        let Some(at) = self.lines.len().checked_sub(2) else {
            return;
        };
        let (first, second) = (&self.lines[at], &self.lines[at + 1]);
        let child = second["parentUuid"].is_string() && second["parentUuid"] == first["uuid"];
        let kinds = (first["type"].as_str(), second["type"].as_str());
        if child
            && matches!(
                kinds,
                (Some("assistant"), Some("user")) | (Some("user"), Some("attachment"))
            )
        {
            self.lines.swap(at, at + 1);
            // What follows stands after both, so that the end of the file is the end of the conversation.
            if self.waits == Waits::Model {
                self.finish_turn();
            }
        }
    }

    fn last_prompt(&mut self, leaf: &str) {
        self.lines.push(json!({"type": "last-prompt", "lastPrompt": self.prompt, "leafUuid": leaf, "sessionId": SESSION}));
    }

    pub(crate) fn name_leaf(&mut self) {
        if let (Some(leaf), true) = (self.leaf.clone(), self.is_new()) {
            self.last_prompt(&leaf);
        }
    }

    /// Lets the model answer where it has to.
    fn finish_turn(&mut self) {
        if self.waits == Waits::Model {
            self.answer(&Answer {
                thinking: Thinking::None,
                text: true,
                calls: Vec::new(),
                logged: false,
                names_result: false,
                disturbed: false,
            });
        }
    }

    fn end(&mut self) {
        self.clock_back = false;
        if self.leaf.is_none() {
            self.prompt(Prompt::Words);
        }
        if self.recipe.end == End::Open {
            self.name_leaf();
        } else {
            self.finish_turn();
        }
        // The end of the conversation is also the newest by its time, or old clients would end it elsewhere.
        let newest = self
            .lines
            .iter()
            .filter_map(|l| l["timestamp"].as_str())
            .max()
            .map(str::to_owned);
        let message = |l: &Value| {
            matches!(l["type"].as_str(), Some("user" | "assistant")) && l["isSidechain"] != true
        };
        let last = self.lines.iter().rfind(|l| message(l));
        let last = last.map(|l| l["uuid"].clone()).unwrap_or_default();
        for line in &mut self.lines {
            if line["uuid"].is_string()
                && (line["uuid"] == last || line["uuid"].as_str() == self.leaf.as_deref())
            {
                line["timestamp"] = json!(newest);
            }
        }
        let place = self.before_turns.last().cloned().flatten();
        if let (End::Rewound, Some(place), true) = (self.recipe.end, place, self.is_new()) {
            self.last_prompt(&place);
            if let Some(line) = self.lines.last_mut() {
                line["explicit"] = json!(true);
            }
        }
    }
}
