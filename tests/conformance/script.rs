//! What the model says: answers by prompt, and the blocks that they are made of.

use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

use crate::rules::{Merged, merged};

/// The answers to the prompts of one run.
#[derive(Clone, Default, Serialize, Deserialize)]
pub(crate) struct Script {
    pub(crate) turns: Vec<Turn>,
    /// The answer to a request for a summary.
    pub(crate) summary: String,
}

/// A prompt and the model's answers to it, the first to the prompt, the next to the results of its calls.
#[derive(Clone, Serialize, Deserialize)]
pub(crate) struct Turn {
    pub(crate) prompt: String,
    pub(crate) answers: Vec<Vec<Value>>,
}

pub(crate) fn turn(prompt: impl Into<String>, answers: Vec<Vec<Value>>) -> Turn {
    Turn {
        prompt: prompt.into(),
        answers,
    }
}

pub(crate) fn text(text: impl Into<String>) -> Value {
    json!({"type": "text", "text": text.into()})
}

pub(crate) fn think(thought: impl Into<String>) -> Value {
    json!({"type": "thinking", "thinking": thought.into()})
}

pub(crate) fn redacted(thought: impl Into<String>) -> Value {
    json!({"type": "redacted_thinking", "data": thought.into()})
}

/// A call; where tools were renamed over time, `name` lists the names with a bar between, newest first.
pub(crate) fn call(id: &str, name: &str, input: &Value) -> Value {
    json!({"type": "tool_use", "id": format!("toolu_{id}"), "name": name, "input": input})
}

pub(crate) fn bash(id: &str, command: &str) -> Value {
    call(
        id,
        "Bash",
        &json!({"command": command, "description": "run"}),
    )
}

/// What answers a request: a place in the script, or one of the standing answers.
pub(crate) enum Place {
    Scripted { turn: usize, answer: usize },
    Summary,
    Unknown,
}

impl Script {
    /// Finds the place from the request alone, for clients also send requests of their own in between.
    pub(crate) fn place(&self, body: &Value) -> Place {
        let messages = merged(body);
        let mut answer = 0;
        for message in messages.iter().rev() {
            if message.role == "assistant" {
                answer += 1;
            } else if let Some(turn) = self.asked(message) {
                return Place::Scripted { turn, answer };
            } else if !only_results(message) {
                break;
            }
        }
        let wants_summary = messages.last().is_some_and(|m| {
            m.blocks
                .iter()
                .filter_map(|b| b.text())
                .any(|t| t.to_lowercase().contains("summary of the conversation"))
                || m.blocks
                    .iter()
                    .filter_map(|b| b.text())
                    .any(|t| t.contains("detailed summary"))
        });
        if wants_summary {
            Place::Summary
        } else {
            Place::Unknown
        }
    }

    /// The blocks for a place, or the standing answer.
    pub(crate) fn blocks(&self, place: &Place) -> Vec<Value> {
        match place {
            Place::Scripted { turn, answer } => self.turns[*turn]
                .answers
                .get(*answer)
                .cloned()
                .unwrap_or_else(|| vec![text("ok, done.")]),
            Place::Summary => vec![text(&self.summary)],
            Place::Unknown => vec![text("ok, done.")],
        }
    }

    fn asked(&self, message: &Merged) -> Option<usize> {
        let mut texts = message.blocks.iter().rev().filter_map(|b| b.text());
        texts.find_map(|text| {
            self.turns
                .iter()
                .rposition(|turn| turn.prompt == text.trim())
        })
    }
}

fn only_results(message: &Merged) -> bool {
    message
        .blocks
        .iter()
        .filter_map(|b| b.text())
        .all(|t| t.trim_start().starts_with("<system-reminder>"))
}
