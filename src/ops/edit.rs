//! Replaces the text of a prompt, an answer, a call's input or a result.

use memchr::memmem;
use rustc_hash::FxHashSet;

use crate::json::{Edit, Span, decode, elements, encode, lookup};
use crate::session::Session;
use crate::surgery::{
    Action, ChangeKind, Detail, Excerpt, Plan, Refusal, RefusalKind, Transform, Words,
};
use crate::transcript::{Block, BlockKind, Entry, EntryIx, Id, Kind};

use super::drop_tools::{doom_thinking, drop_field};
use super::removals::{BlockRemovals, Copies, remove_copies};
use super::selector::find_entry;

/// Entries in which Claude Code repeats texts of the conversation.
const REPEATING: [Kind; 4] = [
    Kind::ApiRequestBlob,
    Kind::Progress,
    Kind::QueueOperation,
    Kind::LastPrompt,
];

/// The fields of these entries that hold such texts.
const REPEATED_FIELDS: [&str; 4] = ["text", "content", "prompt", "lastPrompt"];

/// Replaces the text of a message.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct EditText {
    /// The uuid of the message's line, or the beginning of one.
    pub message: String,
    /// The new text; of a call, its input as JSON.
    pub text: String,
}

impl EditText {
    /// Returns the text that a message has now.
    pub fn current(session: &Session, message: &str) -> Result<String, Refusal> {
        let index = find_entry(session, message)?;
        Ok(Target::of(session, index)?.text(session))
    }
}

impl Transform for EditText {
    fn name(&self) -> &'static str {
        "edit"
    }

    fn plan(&self, session: &Session, detail: Detail) -> Result<Plan, Refusal> {
        let mut plan = Plan::with_detail(detail);
        let index = find_entry(session, &self.message)?;
        let target = Target::of(session, index)?;
        let old = target.text(session);
        if self.text == old {
            return Ok(plan);
        }
        let value = target.value(&self.text)?;
        target.refuse_unfinished(session)?;
        let e = session.entry(index);
        let grown = value.len() as i64 - target.span.len() as i64;
        let shown = if session.graph().is_shown(index) {
            grown
        } else {
            0
        };
        let what = target.kind(session);
        let excerpt = self.text.clone();
        plan.note(session, e, Action::Edit, what, grown, shown, excerpt);
        plan.edit_line(e.line, [Edit::new(target.span, value)]);
        let thinking = remove_thinking(session, e, &mut plan);
        let calls: FxHashSet<Id> = target
            .block
            .map(|block| block.tool)
            .filter(|id| id.is_some())
            .into_iter()
            .collect();
        if target.part == Part::Output && e.flags.tool_use_result() {
            drop_field(session, &mut plan, index, "toolUseResult");
        }
        remove_copies(session, &mut plan, &Copies { thinking, calls });
        if target.part == Part::Words {
            edit_repetitions(session, &old, &self.text, &mut plan);
        }
        Ok(plan)
    }
}

/// What part of a message a text is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Part {
    /// What a person or the model wrote.
    Words,
    /// The input of a call, as JSON.
    Input,
    /// The output of a result.
    Output,
}

/// The text of a message that can be edited.
pub(super) struct Target<'s> {
    index: EntryIx,
    pub(super) part: Part,
    block: Option<&'s Block>,
    /// Where its JSON value is in the line.
    span: Span,
}

impl<'s> Target<'s> {
    pub(super) fn of(session: &'s Session, index: EntryIx) -> Result<Self, Refusal> {
        let e = session.entry(index);
        if e.flags.string_content() {
            return Ok(Self {
                index,
                part: Part::Words,
                block: None,
                span: e.content,
            });
        }
        let line = session.text(e);
        let parts: Vec<(Part, &Block)> = session
            .blocks(e)
            .iter()
            .filter_map(|block| Some((part_of(block, line)?, block)))
            .collect();
        let [(part, block)] = parts[..] else {
            return Err(not_editable(parts.len()));
        };
        let inner = block.span.of(line);
        let span = match part {
            Part::Words => lookup(inner, &["text"]),
            Part::Input => lookup(inner, &["input"]),
            Part::Output => output_text(inner),
        };
        let span = span.ok_or_else(|| not_editable(0))?;
        Ok(Self {
            index,
            part,
            block: Some(block),
            span: span.shift(block.span.start),
        })
    }

    pub(super) fn text(&self, session: &Session) -> String {
        let raw = self.span.of(session.text(session.entry(self.index)));
        match self.part {
            Part::Input => String::from_utf8_lossy(raw).into_owned(),
            Part::Words | Part::Output => decode(raw).into_owned(),
        }
    }

    /// Returns the JSON value for a new text.
    fn value(&self, text: &str) -> Result<String, Refusal> {
        if self.part == Part::Input {
            let input: Result<serde_json::Map<String, serde_json::Value>, _> =
                serde_json::from_str(text);
            return input
                .map(|input| serde_json::Value::Object(input).to_string())
                .map_err(|e| {
                    Refusal::usage(
                        "bad-input",
                        format!("the input of a call must be a JSON object: {e}"),
                        "write it like {\"command\": \"ls\"}",
                    )
                });
        }
        if text.trim().is_empty() && self.part == Part::Words {
            return Err(Refusal::usage(
                "empty-text",
                "the new text is empty, which the API does not accept",
                "remove the message with: ccsurgery delete --message ID",
            ));
        }
        if text.contains('\0') {
            return Err(Refusal::usage(
                "bad-text",
                "the new text has a NUL character, which the API does not accept",
                "",
            ));
        }
        Ok(encode(text))
    }

    fn kind(&self, session: &Session) -> ChangeKind {
        let e = session.entry(self.index);
        let tool = || {
            let made = session.calls().of(self.block?)?.uses.first()?;
            let entry = session.entry(made.entry);
            Some(
                session
                    .tool_name(entry, session.block(made.block))
                    .as_ref()
                    .into(),
            )
        };
        match (self.part, e.kind) {
            (Part::Input, _) => ChangeKind::Call {
                tool: tool().unwrap_or_else(|| "".into()),
            },
            (Part::Output, _) => ChangeKind::Result { tool: tool() },
            (Part::Words, _) if e.flags.compact_summary() => ChangeKind::Summary,
            (Part::Words, Kind::Assistant) => ChangeKind::Answer,
            (Part::Words, _) => ChangeKind::Prompt,
        }
    }

    /// Refuses to change an answer of an unfinished last turn that has thinking: the API wants that thinking when the
    /// turn continues.
    fn refuse_unfinished(&self, session: &Session) -> Result<(), Refusal> {
        let e = session.entry(self.index);
        let unfinished = session.unfinished_turn();
        if e.kind != Kind::Assistant
            || unfinished.is_none()
            || session.turns().of(session.graph(), self.index) != unfinished
        {
            return Ok(());
        }
        Err(Refusal::new(
            RefusalKind::UnfinishedTurn,
            "the last turn is unfinished, and the API needs its answers as they are when it continues",
            "let Claude Code finish the turn first",
        ))
    }
}

/// Returns what part of a message a block is, if its text can be edited.
fn part_of(block: &Block, line: &[u8]) -> Option<Part> {
    match block.kind {
        BlockKind::Text => {
            let inner = block.span.of(line);
            let text = lookup(inner, &["text"]).map(|s| decode(s.of(inner)))?;
            // The editor and Claude Code add these to a prompt.
            let is_added = text.trim_start().starts_with("<ide_")
                || text.trim_start().starts_with("<system-reminder>");
            (!is_added).then_some(Part::Words)
        }
        BlockKind::ToolUse => Some(Part::Input),
        BlockKind::ToolResult => Some(Part::Output),
        _ => None,
    }
}

/// Returns where the output of a result is, if it is one text.
fn output_text(block: &[u8]) -> Option<Span> {
    let content = lookup(block, &["content"])?;
    let raw = content.of(block);
    if raw.starts_with(b"\"") {
        return Some(content);
    }
    let [only] = elements(raw).ok()?[..] else {
        return None;
    };
    let text = lookup(only.of(raw), &["text"])?;
    Some(text.shift(only.start).shift(content.start))
}

fn not_editable(parts: usize) -> Refusal {
    let message = if parts > 1 {
        "the message has several texts in one line, and only one can be edited at a time"
    } else {
        "the message has no text that can be edited: thinking is signed, and images are not text"
    };
    Refusal::new(
        "not-editable",
        message,
        "see the texts and their ids with: ccsurgery show --turns N",
    )
}

/// Removes the thinking of the message that an entry belongs to. Returns what identifies it.
fn remove_thinking(session: &Session, e: &Entry, plan: &mut Plan) -> FxHashSet<Id> {
    let message = e.message_id.some().filter(|_| e.kind == Kind::Assistant);
    let messages: FxHashSet<Id> = message.into_iter().collect();
    let mut doomed = BlockRemovals::default();
    let ids = doom_thinking(session, &messages, &mut doomed);
    let losers = doomed.plan(session, plan, |entry, block| {
        let excerpt = Excerpt::of(session, entry, block, Words::Thinking);
        (ChangeKind::Thinking, excerpt)
    });
    if !losers.is_empty() {
        plan.warnings.push(
            "the thinking of this message is removed: its signature does not fit the new text"
                .to_owned(),
        );
    }
    ids
}

/// Replaces a text where Claude Code repeats it for itself.
fn edit_repetitions(session: &Session, old: &str, new: &str, plan: &mut Plan) {
    if old.trim().is_empty() {
        return;
    }
    let (quoted, value) = (encode(old), encode(new));
    for e in session.entries() {
        if !REPEATING.contains(&e.kind) || plan.drops(e.line) {
            continue;
        }
        let text = session.text(e);
        let mut edits = Vec::new();
        for field in REPEATED_FIELDS {
            let key = format!("\"{field}\":");
            let pattern = format!("{key}{quoted}");
            for at in memmem::find_iter(text, pattern.as_bytes()) {
                let start = at + key.len();
                edits.push(Edit::new(
                    Span::new(start, start + quoted.len()),
                    value.clone(),
                ));
            }
        }
        if edits.is_empty() && e.kind == Kind::LastPrompt {
            edits.extend(shortened(session, e, old, new));
        }
        if !edits.is_empty() {
            plan.edit_entry(session, e, ChangeKind::DuplicateOutput, edits);
        }
    }
}

/// Returns the edit of a record that has only the beginning of a prompt.
fn shortened(session: &Session, e: &Entry, old: &str, new: &str) -> Option<Edit> {
    let text = session.text(e);
    let span = lookup(text, &["lastPrompt"]).filter(|s| s.of(text).starts_with(b"\""))?;
    let kept = decode(span.of(text));
    let kept = kept.trim_end_matches('…').trim_end();
    let length = kept.chars().count();
    (length >= 20 && old.starts_with(kept)).then(|| {
        let short: String = new.chars().take(length).collect();
        Edit::new(span, encode(&short))
    })
}
