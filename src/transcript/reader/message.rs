//! The message of an entry: its content and the blocks in it.

use crate::json::{Cursor, Span, Token, begins_with_text, decode, decode_head};

use super::super::block::{Block, BlockKind};
use super::super::entry::{Entry, SYNTHETIC};
use super::super::numbers::BlockRange;
use super::super::prompt::{PromptKind, classify, combine};
use super::super::usage;
use super::values::is_nonempty_string;
use super::{Reader, Step};

impl Reader<'_> {
    pub(super) fn message(&mut self, c: &mut Cursor<'_>) -> Step {
        if c.peek()? != Token::Object {
            c.skip()?;
            return Ok(());
        }
        let mut first = true;
        self.entry.set_window_use(Some(0));
        self.repeated.model = Span::default();
        self.entry.head.flags.set_modelled(false);
        c.enter_object()?;
        while let Some(key) = c.next_key(&mut first)? {
            match key.of(self.line) {
                b"id" => self.entry.message_id = self.id(c)?,
                b"model" => {
                    self.repeated.model = c.skip()?;
                    let model = self.repeated.model.of(self.line);
                    let flags = &mut self.entry.head.flags;
                    flags.set_synthetic(model == SYNTHETIC);
                    flags.set_modelled(model.starts_with(b"\""));
                }
                b"usage" => {
                    let tokens = if c.peek()? == Token::Object {
                        usage::read_request_tokens(self.line, c)?
                    } else {
                        c.skip()?;
                        Some(0)
                    };
                    self.entry.set_window_use(tokens);
                }
                b"content" => {
                    let recording = c.set_recording(false);
                    self.content(c)?;
                    c.set_recording(recording);
                }
                _ => {
                    c.skip()?;
                }
            }
        }
        Ok(())
    }

    fn content(&mut self, c: &mut Cursor<'_>) -> Step {
        self.blocks.truncate(self.first);
        self.entry.head.prompt = PromptKind::None;
        self.entry.head.flags.set_string_content(false);
        self.entry.blocks = BlockRange::default();
        self.same_content = false;
        let token = c.peek()?;
        let start = c.position();
        if let Some((line, known)) = self.known
            && c.skip_equal(known.content.of(line))
        {
            self.entry.content = Span::new(start, c.position());
            self.take_content_facts(known);
            return Ok(());
        }
        match token {
            Token::String => {
                self.entry.content = c.skip()?;
                self.entry.head.flags.set_string_content(true);
                self.entry.head.prompt = self.prompt_kind(self.entry.content);
            }
            Token::Array => {
                let mut first = true;
                c.enter_array()?;
                while c.next_element(&mut first)? {
                    self.block(c)?;
                }
                self.entry.content = Span::new(start, c.position());
                let blocks = &self.blocks[self.first..];
                if blocks.iter().any(|b| b.kind == BlockKind::ToolResult) {
                    self.entry.head.prompt = PromptKind::None;
                }
            }
            Token::Object | Token::Scalar => self.entry.content = c.skip()?,
        }
        self.set_content_facts();
        Ok(())
    }

    /// Takes over the facts about the content from an entry that has the same.
    fn take_content_facts(&mut self, known: &Entry) {
        self.same_content = true;
        self.entry.blocks = known.blocks;
        self.entry.head.prompt = known.prompt;
        let flags = &mut self.entry.head.flags;
        flags.set_string_content(known.flags.string_content());
        flags.set_media(known.flags.media());
        flags.set_thinking(known.flags.thinking());
        flags.set_unsigned(known.flags.unsigned());
        flags.set_wordless(known.flags.wordless());
    }

    /// Sets the facts that depend on the whole content.
    fn set_content_facts(&mut self) {
        let blocks = &self.blocks[self.first..];
        let unsigned = |b: &Block| b.kind == BlockKind::Thinking && !b.is_signed();
        let wordless = |b: &Block| b.kind == BlockKind::Text && !b.has_words();
        let flags = &mut self.entry.head.flags;
        flags.set_media(blocks.iter().any(Block::may_hold_media));
        flags.set_thinking(blocks.iter().any(|b| b.kind.is_thinking()));
        flags.set_unsigned(blocks.iter().any(unsigned));
        let string = flags.string_content() && !begins_with_text(self.entry.content.of(self.line));
        flags.set_wordless(string || blocks.iter().any(wordless));
    }

    fn block(&mut self, c: &mut Cursor<'_>) -> Step {
        let token = c.peek()?;
        let start = c.position();
        let mut block = Block::new();
        if token != Token::Object {
            block.span = c.skip()?;
            self.blocks.push(block);
            return Ok(());
        }
        let mut first = true;
        let mut text = None;
        let mut content = Span::default();
        c.enter_object()?;
        while let Some(key) = c.next_key(&mut first)? {
            match key.of(self.line) {
                b"type" => block.kind = self.name(c, BlockKind::of)?,
                b"id" | b"tool_use_id" => block.tool = self.id(c)?,
                b"text" => {
                    let span = c.skip()?;
                    block.set(Block::HAS_TEXT, begins_with_text(span.of(self.line)));
                    text = Some(span);
                }
                b"signature" => {
                    let signature = c.skip()?.of(self.line);
                    block.set(Block::SIGNED, is_nonempty_string(signature));
                }
                b"thinking" => {
                    let thinking = c.skip()?.of(self.line);
                    block.set(Block::READABLE, is_nonempty_string(thinking));
                }
                b"name" => block.set_name(c.skip()?),
                b"content" => {
                    let nested = c.peek()? != Token::String;
                    block.set(Block::NESTED, nested);
                    content = c.skip()?;
                    if !nested {
                        self.output = content;
                    }
                }
                b"is_error" => block.set(Block::FAILED, c.skip()?.of(self.line) == b"true"),
                _ => {
                    c.skip()?;
                }
            }
        }
        block.span = Span::new(start, c.position());
        if block.kind.is_result() {
            block.set_content(content);
        }
        let prompt = match (block.kind, text) {
            (BlockKind::Text, Some(text)) => self.prompt_kind(text),
            (BlockKind::Image | BlockKind::Document, _) => PromptKind::Words,
            _ => PromptKind::None,
        };
        self.entry.head.prompt = combine(self.entry.prompt, prompt);
        self.blocks.push(block);
        Ok(())
    }

    /// Classifies a text by its first words, however long it is.
    pub(super) fn prompt_kind(&self, quoted: Span) -> PromptKind {
        let raw = quoted.of(self.line);
        let head = decode_head(raw, 256);
        // If the beginning is white space, the rest decides.
        if head.trim().is_empty() {
            classify(&decode(raw))
        } else {
            classify(&head)
        }
    }
}
