//! Writes the messages of the model and the results of their calls.

use serde_json::{Value, json};

use super::recipe::{Answer, Links, Output, Prompt, TOOLS, Thinking};
use super::writer::{Waits, Writer, picture, text};
use crate::harness::SESSION;

impl Writer<'_> {
    pub(crate) fn answer(&mut self, answer: &Answer) {
        if self.waits == Waits::Person {
            self.prompt(Prompt::Words);
        }
        let message = format!("msg_{}", self.word("m"));
        let blocks = self.blocks(answer);
        self.message.clear();
        let mut made_in = Vec::new();
        // A killed client has written the blocks as they came.
        let killed = answer.calls.iter().any(|c| c.output == Output::Missing);
        let lines: Vec<&[Value]> = if self.recipe.split || killed {
            blocks.chunks(1).collect()
        } else {
            vec![&blocks]
        };
        for line in lines {
            let usage = json!({"input_tokens": 10, "cache_read_input_tokens": 100 * self.minted, "cache_creation_input_tokens": 0, "output_tokens": 5});
            let own = self.grow(json!({
                "type": "assistant", "requestId": format!("req_{message}"),
                "message": {"model": "claude-opus-5-5", "id": message, "type": "message", "role": "assistant", "content": line, "usage": usage},
            }));
            self.message.push(own.clone());
            let calls = line.iter().filter(|b| b["type"] == "tool_use");
            made_in.extend(
                calls.map(|b| (b["id"].as_str().unwrap_or_default().to_owned(), own.clone())),
            );
            if answer.disturbed
                && !answer.calls.is_empty()
                && line[0]["type"] == "text"
                && made_in.is_empty()
            {
                let words = self.word("meanwhile");
                self.user(json!(words), json!({}));
            }
        }
        let beside = answer.calls.iter().any(|c| c.output == Output::WithWords);
        if answer.disturbed && !beside && !answer.text && !killed && made_in.len() == 1 {
            let words = self.word("meanwhile");
            let prompt = self.user(json!(words), json!({}));
            // The results hang on the prompt.
            for (_, line) in &mut made_in {
                line.clone_from(&prompt);
            }
        }
        self.results(answer, &made_in);
        if answer.logged && self.is_new() {
            self.lines.push(json!({"type": "api-request-blob", "hash": self.minted, "sessionId": SESSION, "message": {"role": "assistant", "content": blocks}}));
        }
        if answer.calls.is_empty() || killed {
            self.waits = Waits::Person;
            self.name_leaf();
        }
    }

    pub(crate) fn blocks(&mut self, answer: &Answer) -> Vec<Value> {
        let mut blocks = Vec::new();
        let secret = self.word("thought");
        blocks.extend(match answer.thinking {
            Thinking::None => None,
            Thinking::Readable => Some(json!({"type": "thinking", "thinking": secret, "signature": format!("sig-{secret}")})),
            Thinking::Empty => Some(json!({"type": "thinking", "thinking": "", "signature": format!("sig-{secret}")})),
            Thinking::Redacted => Some(json!({"type": "redacted_thinking", "data": secret})),
        });
        if answer.text || answer.calls.is_empty() {
            blocks.push(text(&self.word("answer")));
        }
        for call in &answer.calls {
            let id = format!("toolu_{}", self.word("c"));
            let input =
                json!({"command": format!("run {id}"), "file_path": format!("/home/{id}.txt")});
            blocks.push(
                json!({"type": "tool_use", "id": id, "name": TOOLS[call.tool], "input": input}),
            );
        }
        blocks
    }

    pub(crate) fn results(&mut self, answer: &Answer, made_in: &[(String, String)]) {
        let mut order: Vec<usize> = (0..made_in.len()).collect();
        if self.recipe.links == Links::OwnCallReversed {
            order.reverse();
        }
        for (count, n) in order.into_iter().enumerate() {
            let (id, line) = &made_in[n];
            let words = self.word("output");
            let (content, error) = match answer.calls[n].output {
                Output::Missing => continue,
                Output::Short | Output::WithWords => (json!(words), false),
                Output::Long => (
                    json!(format!(
                        "{words}\n{}",
                        "some more lines of output\n".repeat(40)
                    )),
                    false,
                ),
                Output::Error => (json!(words), true),
                Output::Image => (json!([text(&words), picture()]), false),
            };
            if self.recipe.links != Links::Chained {
                self.leaf = Some(line.clone());
            }
            let copy = match &content {
                Value::String(words) => {
                    json!({"stdout": words, "stderr": "", "interrupted": false})
                }
                other => other.clone(),
            };
            let mut blocks = vec![
                json!({"tool_use_id": id, "type": "tool_result", "content": content, "is_error": error}),
            ];
            if answer.calls[n].output == Output::WithWords {
                blocks.push(text(&self.word("beside")));
            }
            let own = self.user(
                json!(blocks),
                json!({"toolUseResult": copy, "sourceToolAssistantUUID": line}),
            );
            self.message.push(own);
            if answer.names_result && count == 0 {
                self.name_leaf();
            }
        }
    }
}
