//! The attachment of an entry.

use crate::json::{Cursor, Span, Token, elements, lookup};

use super::super::attachment::{ANNOUNCED, HIDDEN};
use super::super::head::Subtype;
use super::super::prompt::{PromptKind, combine};
use super::values::{is_nonempty_string, unquoted};
use super::{Reader, Step};

impl Reader<'_> {
    pub(super) fn attachment(&mut self, c: &mut Cursor<'_>) -> Step {
        let again = std::mem::replace(&mut self.attached, true);
        self.shown_bytes = None;
        if c.peek()? != Token::Object {
            c.skip()?;
            return Ok(());
        }
        let mut first = true;
        let (mut hidden, mut content, mut contents) = (false, Span::default(), 0);
        let (mut mode, mut prompt) = (None, None);
        c.enter_object()?;
        while let Some(key) = c.next_key(&mut first)? {
            let value = c.skip()?;
            match key.of(self.line) {
                b"type" => {
                    hidden = HIDDEN.contains(&value.of(self.line));
                    let name = unquoted(value.of(self.line));
                    let queued = name == b"queued_command";
                    self.entry.head.subtype = if queued {
                        Subtype::QueuedCommand
                    } else {
                        Subtype::Other
                    };
                    let announced = ANNOUNCED.contains(&name);
                    self.entry.head.flags.set_announced(announced);
                }
                b"content" => {
                    content = value;
                    contents += 1;
                }
                b"commandMode" => mode = Some(value),
                b"prompt" => prompt = Some(value),
                b"origin" => self.set_origin(value),
                b"isMeta" if value.of(self.line) == b"true" => {
                    self.entry.head.flags.set_not_by_person(true);
                }
                b"toolUseID" => self.entry.head.flags.set_companion(true),
                _ => {}
            }
        }
        if self.entry.subtype == Subtype::QueuedCommand {
            self.queued(mode, prompt);
        }
        if hidden {
            self.shown_bytes = Some(0);
        } else if is_nonempty_string(content.of(self.line)) && contents == 1 && !again {
            self.shown_bytes = Some(content.len() as u32);
        }
        Ok(())
    }

    /// Records whether a person typed a queued prompt: the client's marks decide, else how it begins.
    fn queued(&mut self, mode: Option<Span>, prompt: Option<Span>) {
        let typed = match mode.map(|m| unquoted(m.of(self.line))) {
            Some(b"prompt" | b"bash") => true,
            Some(b"") | None => self.entry.flags.by_person() || self.begins_like_typed(prompt),
            Some(_) => false,
        };
        if !typed {
            self.entry.head.flags.set_not_by_person(true);
        }
    }

    /// Whether a prompt, a string or a list of blocks, begins like a person's.
    fn begins_like_typed(&self, prompt: Option<Span>) -> bool {
        let Some(prompt) = prompt else {
            return true;
        };
        let raw = prompt.of(self.line);
        let kind = if raw.starts_with(b"\"") {
            self.prompt_kind(prompt)
        } else {
            let blocks = elements(raw).unwrap_or_default();
            let judged = blocks.into_iter().map(|block| {
                let block = block.shift(prompt.start);
                let text = lookup(block.of(self.line), &["text"]);
                // A picture has no text, and is a person's.
                text.map_or(PromptKind::Words, |t| {
                    self.prompt_kind(t.shift(block.start))
                })
            });
            judged.fold(PromptKind::None, combine)
        };
        kind != PromptKind::Machine
    }
}
