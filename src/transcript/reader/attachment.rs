//! The attachment of an entry.

use crate::json::{Cursor, Span, Token};

use super::super::attachment::{ANNOUNCED, HIDDEN};
use super::super::head::Subtype;
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
                b"toolUseID" => self.entry.head.flags.set_companion(true),
                _ => {}
            }
        }
        if hidden {
            self.shown_bytes = Some(0);
        } else if is_nonempty_string(content.of(self.line)) && contents == 1 && !again {
            self.shown_bytes = Some(content.len() as u32);
        }
        Ok(())
    }
}
