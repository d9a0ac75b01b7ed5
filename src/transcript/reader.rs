//! Reads a line for the facts of its entry, in one pass.

use crate::json::{Cursor, Edit, Malformed, Span, Token, begins_with_text, decode, decode_head};

use super::attachment::{ANNOUNCED, HIDDEN};
use super::entry::{
    Block, BlockKind, Entry, FAILED, Flags, ID_LEN, IdsAt, Kind, LEADING, LEADING_PARENT, NESTED,
    NO_CALL, SIGNED, SPOKEN, SYNTHETIC, Subtype, WORDY,
};
use super::id::Id;
use super::prompt::{PromptKind, classify, combine};
use super::repeated_fields::{Reading, RepeatedFields};
use super::usage;

/// Fields that most lines repeat, as they stand in one of them; empty where they do not.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct Repeated {
    /// `cwd`.
    pub(crate) cwd: Span,
    /// `slug`.
    pub(crate) slug: Span,
    /// `version`.
    pub(crate) version: Span,
    /// `message.model`.
    pub(crate) model: Span,
}

/// Reads a line that holds one JSON object; its blocks go behind those that are in `blocks`.
pub(crate) fn parse(line: &[u8], blocks: &mut Vec<Block>) -> Result<(Entry, Repeated), Malformed> {
    let end = |c: &mut Cursor<'_>| c.finish().map(|()| (line.len(), ()));
    let (entry, repeated, _, ()) = read(line, Cursor::new(line), blocks, Known::Nothing, end)?;
    Ok((entry, repeated))
}

/// Reads the first line of `rest`, whose end need not be known, by what is usual in its session. With it comes where its
/// newline is, if it has one.
pub(crate) fn parse_first(
    rest: &[u8],
    blocks: &mut Vec<Block>,
    usual: &mut RepeatedFields,
) -> Result<(Entry, Repeated, Option<usize>), Malformed> {
    let rest = &rest[..rest.len().min(u32::MAX as usize)];
    let end = |c: &mut Cursor<'_>| {
        let (len, newline) = c.finish_line()?;
        // What is white space here is part of the line's ending.
        let ending = newline && rest[..len].ends_with(b"\r");
        Ok((len - usize::from(ending), newline.then_some(len)))
    };
    let known = Known::RepeatedFields(usual);
    let (entry, repeated, _, newline) = read(rest, Cursor::line(rest), blocks, known, end)?;
    Ok((entry, repeated, newline))
}

/// Reads a line that was made from another, to the same effect as [`parse`]. Words of the conversation that are the same
/// are not read again, nor are their blocks told again: true where they lie as they did.
pub(crate) fn parse_made(
    line: &[u8],
    made_from: (&[u8], &Entry, &[Block]),
    blocks: &mut Vec<Block>,
) -> Result<(Entry, Repeated, bool), Malformed> {
    let (other, known, others) = made_from;
    // What is odd about it may be in words that would be passed over.
    if known.flags.not_utf8() || known.flags.numbered_characters() {
        return parse(line, blocks).map(|(entry, repeated)| (entry, repeated, false));
    }
    let first = blocks.len();
    let end = |c: &mut Cursor<'_>| c.finish().map(|()| (line.len(), ()));
    let known_line = Known::Line(other, known);
    let (mut entry, repeated, same, ()) = read(line, Cursor::new(line), blocks, known_line, end)?;
    // Whose words they are was judged by more than the words.
    let judged = |e: &Entry| {
        let flags = e.flags;
        (
            e.kind,
            flags.meta(),
            flags.compact_summary(),
            flags.not_by_person(),
            flags.by_person(),
        )
    };
    if same && judged(&entry) != judged(known) {
        return parse(line, blocks).map(|(entry, repeated)| (entry, repeated, false));
    }
    let stay = same && entry.content.start == known.content.start;
    if same && !stay {
        let by = i64::from(entry.content.start) - i64::from(known.content.start);
        blocks.extend(others.iter().map(|b| b.moved(by)));
        entry.blocks = (first as u32, blocks.len() as u32);
    }
    Ok((entry, repeated, stay))
}

/// The parent that these edits give to the line of an entry, if they do nothing else: then the line need not be read.
/// Clients write the parent first.
pub(crate) fn other_parent(edits: &[Edit], known: &Entry) -> Option<Id> {
    let [edit] = edits else {
        return None;
    };
    let quoted = Span {
        start: LEADING_PARENT.start - 1,
        end: LEADING_PARENT.end + 1,
    };
    if edit.span != quoted || !known.flags.leading_parent() {
        return None;
    }
    Id::of_uuid(unquoted(&edit.with))
}

/// Reads a line that was made from another. Words of the conversation that are the same are not read again,
/// and their blocks not told again.
pub fn reread(line: &[u8], made_from: (&[u8], &Entry)) -> Result<Entry, Malformed> {
    let end = |c: &mut Cursor<'_>| c.finish().map(|()| (line.len(), ()));
    let mut blocks = Vec::new();
    let known = Known::Line(made_from.0, made_from.1);
    let read = read(line, Cursor::new(line), &mut blocks, known, end)?;
    Ok(read.0)
}

/// From how many bytes on an output is compared with the client's copy of it.
const LONG: usize = 64;

/// What is known before a line is read.
enum Known<'a> {
    Nothing,
    /// The line that this one was made from.
    Line(&'a [u8], &'a Entry),
    /// What lines before it had.
    RepeatedFields(&'a mut RepeatedFields),
}

/// Reads the object that `text` begins with; `end` tells how long its line is, and whatever else is wanted. Told, too, is
/// whether its content is that of the known line.
fn read<'a, T>(
    text: &'a [u8],
    mut cursor: Cursor<'a>,
    blocks: &mut Vec<Block>,
    known: Known<'_>,
    end: impl FnOnce(&mut Cursor<'a>) -> Result<(usize, T), Malformed>,
) -> Result<(Entry, Repeated, bool, T), Malformed> {
    if text.len() > u32::MAX as usize {
        return Err(Malformed {
            at: u32::MAX as usize,
        });
    }
    let first = blocks.len();
    let mut reader = Reader {
        line: text,
        entry: Entry {
            time: i64::MIN,
            ..Entry::default()
        },
        blocks,
        first,
        known: match known {
            Known::Line(line, entry) => Some((line, entry)),
            Known::Nothing | Known::RepeatedFields(_) => None,
        },
        usual: match known {
            Known::RepeatedFields(usual) => Some(usual),
            Known::Nothing | Known::Line(..) => None,
        },
        same_content: false,
        repeated: Repeated::default(),
        output: Span::default(),
        copied: Span::default(),
        attached: false,
        shows: usage::NEEDS_FULL_PARSE,
        rendered: false,
    };
    cursor.watch(ID_LEN);
    let ended = reader.top(&mut cursor).and_then(|()| end(&mut cursor));
    let (mut entry, repeated, same) = (reader.entry, reader.repeated, reader.same_content);
    let copied = reader.copied;
    let (len, more) = ended.inspect_err(|_| blocks.truncate(first))?;
    if entry.blocks == (0, 0) {
        entry.blocks = (first as u32, blocks.len() as u32);
    }
    // A copy is whole between its quotes, and as good as what it is a copy of.
    let is_utf8 = |bytes: &[u8]| simdutf8::basic::from_utf8(bytes).is_ok();
    let (before, behind) = (
        &text[..copied.start as usize],
        &text[copied.end as usize..len],
    );
    let not_utf8 = cursor.saw_high_bytes() && !(is_utf8(before) && is_utf8(behind));
    entry.flags.set_not_utf8(not_utf8);
    let numbered = cursor.saw_numbered_characters();
    entry.flags.set_numbered_characters(numbered);
    entry.ids = IdsAt::of(cursor.watched(), len);
    Ok((entry, repeated, same, more))
}

struct Reader<'a> {
    line: &'a [u8],
    entry: Entry,
    blocks: &'a mut Vec<Block>,
    /// Where this entry's begin.
    first: usize,
    /// The line that this one was made from.
    known: Option<(&'a [u8], &'a Entry)>,
    usual: Option<&'a mut RepeatedFields>,
    /// Its content is that of the known line.
    same_content: bool,
    repeated: Repeated,
    /// What a call brought, as a string; and where the client's own copy of it was passed over, because it is the same.
    output: Span,
    copied: Span,
    /// There was an `attachment`.
    attached: bool,
    /// How many bytes its attachment shows, were it not rendered; see [`Entry::window`].
    shows: u32,
    /// There is a `rendered`.
    rendered: bool,
}

type Step = Result<(), Malformed>;

impl Reader<'_> {
    fn top(&mut self, c: &mut Cursor<'_>) -> Step {
        let mut first = true;
        let mut run: Option<Reading> = None;
        let mut source = Id::NONE;
        c.enter_object()?;
        while let Some(key) = c.next_key(&mut first)? {
            if self.usual.is_some() && run.is_none() && Reading::begins(key.of(self.line)) {
                if self.pass_usual(key, c) {
                    continue;
                }
                run = Some(Reading::new(key, c));
            }
            let before = c.watched().count();
            match key.of(self.line) {
                b"type" => self.entry.kind = self.name(c, Kind::of)?,
                b"uuid" => self.entry.uuid = self.id(c)?,
                b"parentUuid" => {
                    let again = self.entry.flags.has_parent_field();
                    self.entry.flags.set_several_parents(again);
                    self.entry.flags.set_has_parent_field(true);
                    self.entry.parent = self.id(c)?;
                    let leading = self.line.starts_with(LEADING)
                        && self.entry.parent.is_uuid()
                        && c.position() == LEADING_PARENT.end as usize + 1;
                    self.entry.flags.set_leading_parent(leading && !again);
                }
                b"sessionId" => self.entry.session = self.id(c)?,
                b"logicalParentUuid" | b"leafUuid" | b"messageId" => {
                    self.entry.names = self.id(c)?;
                }
                b"sourceToolAssistantUUID" => source = self.id(c)?,
                b"timestamp" => self.entry.time = self.time(c)?,
                b"subtype" => {
                    self.entry.subtype = self.name(c, |n| match n {
                        b"compact_boundary" => Subtype::CompactBoundary,
                        b"microcompact_boundary" => Subtype::MicrocompactBoundary,
                        b"local_command" => Subtype::LocalCommand,
                        _ => Subtype::Other,
                    })?;
                }
                b"promptSource" => self.prompt_source(c)?,
                b"turnOrigin" => {
                    self.origin(
                        c,
                        &[
                            b"task_notification",
                            b"scheduled",
                            b"peer",
                            b"auto_continuation",
                            b"host_synthetic",
                            b"system",
                        ],
                    )?;
                }
                b"origin" => self.origin_kind(c)?,
                b"attachment" => self.attachment(c)?,
                b"message" => self.message(c)?,
                b"isSidechain" => self.truth(c, Flags::set_sidechain)?,
                b"isMeta" => self.truth(c, Flags::set_meta)?,
                b"isCompactSummary" => self.truth(c, Flags::set_compact_summary)?,
                b"isVisibleInTranscriptOnly" => self.truth(c, Flags::set_transcript_only)?,
                b"isApiErrorMessage" => self.truth(c, Flags::set_api_error)?,
                b"permissionMode" => self.present(c, Flags::set_permission_mode)?,
                b"toolUseResult" => {
                    let watched = c.keep_watching(false);
                    self.result(c)?;
                    c.keep_watching(watched);
                    let there = self.entry.result.of(self.line) != b"null";
                    self.entry.flags.set_tool_use_result(there);
                }
                b"toolUseID" | b"parentToolUseID" | b"sourceToolUseID" => {
                    c.skip()?;
                    self.entry.flags.set_companion(true);
                }
                b"rendered" => {
                    c.skip()?;
                    self.rendered = true;
                }
                b"cwd" => self.repeated.cwd = c.skip()?,
                b"slug" => self.repeated.slug = c.skip()?,
                b"version" => self.repeated.version = c.skip()?,
                b"forkedFrom" => self.present(c, Flags::set_forked)?,
                _ => {
                    c.skip()?;
                }
            }
            // What ends with a quote is a string, and has nothing in it.
            if c.watched().count() > before && self.line[c.position() - 1] != b'"' {
                self.entry.flags.set_deep_ids(true);
            }
            if let Some(reading) = &mut run
                && !reading.take(self.line, key, c, (&self.entry, &self.repeated))
            {
                self.learn(run.take(), c);
            }
        }
        self.learn(run, c);
        if self.entry.kind != Kind::User || self.entry.flags.meta() {
            self.entry.prompt = PromptKind::None;
        } else if self.entry.flags.compact_summary()
            || self.entry.flags.not_by_person() && self.entry.prompt != PromptKind::None
        {
            self.entry.prompt = PromptKind::Machine;
        } else if self.entry.prompt == PromptKind::Machine
            && self.entry.flags.by_person()
            && !self.entry.flags.wordless()
        {
            // Pasted text may look like the client's own; the client's mark decides.
            self.entry.prompt = PromptKind::Words;
        }
        let linked = matches!(
            self.entry.kind,
            Kind::User | Kind::Assistant | Kind::System | Kind::Attachment | Kind::Progress
        ) || self.entry.flags.has_parent_field();
        self.entry
            .flags
            .set_chained(linked && self.entry.uuid.is_some());
        let odd = |id: Id| id.is_some() && !id.is_uuid();
        let odd_ids = odd(self.entry.uuid) || odd(self.entry.session);
        self.entry.flags.set_odd_ids(odd_ids);
        if self.entry.kind == Kind::User && self.entry.is_chained() && !self.entry.names.is_some() {
            self.entry.names = source;
        }
        let boundary = self.entry.subtype == Subtype::CompactBoundary;
        let boundary = boundary && self.entry.kind == Kind::System;
        self.entry.flags.set_boundary(boundary);
        let hollow =
            !self.same_content && self.entry.is_message() && self.blocks.len() == self.first;
        if hollow && !self.entry.flags.string_content() {
            self.entry.flags.set_wordless(true);
        }
        let answer = self.entry.kind == Kind::Assistant;
        let string = self.entry.flags.string_content();
        self.entry.flags.set_string_answer(answer && string);
        if self.entry.kind == Kind::Attachment {
            self.entry.window = if self.rendered {
                usage::NEEDS_FULL_PARSE
            } else {
                self.shows
            };
        }
        Ok(())
    }

    /// Passes over what most lines have from the key on that was just read; false where this one has something else.
    fn pass_usual(&mut self, key: Span, c: &mut Cursor<'_>) -> bool {
        let Some(usual) = &self.usual else {
            return false;
        };
        usual.pass(key, c, &mut self.entry, &mut self.repeated)
    }

    fn learn(&mut self, reading: Option<Reading>, c: &Cursor<'_>) {
        if let (Some(usual), Some(reading)) = (&mut self.usual, reading) {
            usual.learn(self.line, reading, c);
        }
    }

    /// Passes over the client's own copy of a result.
    fn result(&mut self, c: &mut Cursor<'_>) -> Step {
        let token = c.peek()?;
        let start = c.position();
        self.entry.flags.set_agent(false);
        self.entry.flags.set_persisted(false);
        if let Some((line, known)) = self.known
            && c.pass(known.result.of(line))
        {
            self.entry.flags.set_agent(known.flags.agent());
            self.entry.flags.set_persisted(known.flags.persisted());
        } else if token == Token::Object {
            let mut first = true;
            c.enter_object()?;
            while let Some(key) = c.next_key(&mut first)? {
                match key.of(self.line) {
                    b"agentId" => self.entry.flags.set_agent(true),
                    b"persistedOutputPath" => self.entry.flags.set_persisted(true),
                    _ => {}
                }
                if !self.pass_copy(c) {
                    c.skip()?;
                }
            }
        } else {
            c.skip()?;
        }
        self.entry.result = Span::new(start, c.position());
        Ok(())
    }

    /// Passes over the client's copy of what a call brought, if that is what comes next.
    fn pass_copy(&mut self, c: &mut Cursor<'_>) -> bool {
        let known = self.output.len() >= LONG && self.copied.is_empty();
        if !known || !c.pass(self.output.of(self.line)) {
            return false;
        }
        let end = c.position();
        self.copied = Span::new(end - self.output.len(), end);
        true
    }

    /// Notes that no person sent it, if the next string is one of `machines`.
    fn origin(&mut self, c: &mut Cursor<'_>, machines: &[&[u8]]) -> Step {
        let machine = self.name(c, |n| machines.contains(&n))?;
        if machine {
            self.entry.flags.set_not_by_person(true);
        }
        Ok(())
    }

    fn prompt_source(&mut self, c: &mut Cursor<'_>) -> Step {
        match self.name(c, |n| (n == b"system", n == b"typed"))? {
            (true, _) => self.entry.flags.set_not_by_person(true),
            (_, true) => self.entry.flags.set_by_person(true),
            _ => {}
        }
        Ok(())
    }

    fn origin_kind(&mut self, c: &mut Cursor<'_>) -> Step {
        let span = c.skip()?;
        let raw = span.of(self.line);
        match crate::json::lookup(raw, &["kind"]).map(|k| k.of(raw)) {
            Some(b"\"human\"") => self.entry.flags.set_by_person(true),
            Some(_) => self.entry.flags.set_not_by_person(true),
            None => {}
        }
        Ok(())
    }

    /// Notes whether a person typed a queued prompt: the client's marks decide, else how it begins.
    fn queued(&mut self, mode: Option<Span>, prompt: Option<Span>) {
        let typed = match mode.map(|m| unquoted(m.of(self.line))) {
            Some(b"prompt" | b"bash") => true,
            Some(b"") | None => self.entry.flags.by_person() || self.begins_like_typed(prompt),
            Some(_) => false,
        };
        if !typed {
            self.entry.flags.set_not_by_person(true);
        }
    }

    /// Whether a prompt, a string or a list of blocks, begins like a person's.
    fn begins_like_typed(&self, prompt: Option<Span>) -> bool {
        let Some(prompt) = prompt else {
            return true;
        };
        let raw = prompt.of(self.line);
        let kind = if raw.starts_with(b"\"") {
            self.judge(prompt)
        } else {
            let blocks = crate::json::elements(raw).unwrap_or_default();
            let judged = blocks.into_iter().map(|block| {
                let block = block.shift(prompt.start);
                let text = crate::json::lookup(block.of(self.line), &["text"]);
                // A picture has no text, and is a person's.
                text.map_or(PromptKind::Words, |t| self.judge(t.shift(block.start)))
            });
            judged.fold(PromptKind::None, combine)
        };
        kind != PromptKind::Machine
    }

    fn attachment(&mut self, c: &mut Cursor<'_>) -> Step {
        let again = std::mem::replace(&mut self.attached, true);
        self.shows = usage::NEEDS_FULL_PARSE;
        if c.peek()? != Token::Object {
            c.skip()?;
            return Ok(());
        }
        let mut first = true;
        let (mut hidden, mut content) = (false, Span::default());
        let mut contents = 0;
        let (mut mode, mut prompt) = (None, None);
        c.enter_object()?;
        while let Some(key) = c.next_key(&mut first)? {
            match key.of(self.line) {
                b"type" => {
                    let kind = c.skip()?;
                    hidden = HIDDEN.contains(&kind.of(self.line));
                    let (subtype, announced) = match unquoted(kind.of(self.line)) {
                        b"queued_command" => (Subtype::QueuedCommand, false),
                        name => (Subtype::Other, ANNOUNCED.contains(&name)),
                    };
                    self.entry.subtype = subtype;
                    self.entry.flags.set_announced(announced);
                }
                b"content" => {
                    content = c.skip()?;
                    contents += 1;
                }
                b"commandMode" => mode = Some(c.skip()?),
                b"prompt" => prompt = Some(c.skip()?),
                b"origin" => self.origin_kind(c)?,
                b"isMeta" if c.skip()?.of(self.line) != b"true" => {}
                b"isMeta" => self.entry.flags.set_not_by_person(true),
                b"toolUseID" => {
                    c.skip()?;
                    self.entry.flags.set_companion(true);
                }
                _ => {
                    c.skip()?;
                }
            }
        }
        if self.entry.subtype == Subtype::QueuedCommand {
            self.queued(mode, prompt);
        }
        let words = content.of(self.line);
        if hidden {
            self.shows = 0;
        } else if says(words) && contents == 1 && !again {
            self.shows = words.len() as u32;
        }
        Ok(())
    }

    fn message(&mut self, c: &mut Cursor<'_>) -> Step {
        if c.peek()? != Token::Object {
            c.skip()?;
            return Ok(());
        }
        let mut first = true;
        self.entry.window = 0;
        self.repeated.model = Span::default();
        self.entry.flags.set_modelled(false);
        c.enter_object()?;
        while let Some(key) = c.next_key(&mut first)? {
            match key.of(self.line) {
                b"id" => self.entry.message_id = self.id(c)?,
                b"model" => {
                    self.repeated.model = c.skip()?;
                    let model = self.repeated.model.of(self.line);
                    self.entry.flags.set_synthetic(model == SYNTHETIC);
                    self.entry.flags.set_modelled(model.starts_with(b"\""));
                }
                b"usage" => {
                    let there = c.peek()? == Token::Object;
                    self.entry.window = if there {
                        usage::pass(self.line, c)?
                    } else {
                        c.skip()?;
                        0
                    };
                }
                b"content" => {
                    let watched = c.keep_watching(false);
                    self.content(c)?;
                    c.keep_watching(watched);
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
        self.entry.prompt = PromptKind::None;
        self.entry.flags.set_string_content(false);
        self.entry.blocks = (0, 0);
        self.same_content = false;
        let token = c.peek()?;
        let start = c.position();
        if let Some((line, entry)) = self.known
            && c.pass(entry.content.of(line))
        {
            self.entry.content = Span::new(start, c.position());
            self.entry.blocks = entry.blocks;
            self.entry.prompt = entry.prompt;
            let string = entry.flags.string_content();
            self.entry.flags.set_string_content(string);
            self.entry.flags.set_media(entry.flags.media());
            self.entry.flags.set_thinking(entry.flags.thinking());
            self.entry.flags.set_unsigned(entry.flags.unsigned());
            self.entry.flags.set_wordless(entry.flags.wordless());
            self.same_content = true;
            return Ok(());
        }
        match token {
            Token::String => {
                c.skip()?;
                self.entry.content = Span::new(start, c.position());
                self.entry.flags.set_string_content(true);
                self.entry.prompt = self.judge(self.entry.content);
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
                    self.entry.prompt = PromptKind::None;
                }
            }
            Token::Object | Token::Scalar => self.entry.content = c.skip()?,
        }
        let blocks = &self.blocks[self.first..];
        let unsigned = |b: &Block| b.kind == BlockKind::Thinking && !b.is_signed();
        let wordless = |b: &Block| b.kind == BlockKind::Text && !b.has_words();
        let flags = &mut self.entry.flags;
        flags.set_media(blocks.iter().any(Block::may_hold_media));
        flags.set_thinking(blocks.iter().any(|b| b.kind.is_thinking()));
        flags.set_unsigned(blocks.iter().any(unsigned));
        let string = flags.string_content() && !begins_with_text(self.entry.content.of(self.line));
        flags.set_wordless(string || blocks.iter().any(wordless));
        Ok(())
    }

    fn block(&mut self, c: &mut Cursor<'_>) -> Step {
        let token = c.peek()?;
        let start = c.position();
        let mut block = Block {
            tool: Id::NONE,
            call: NO_CALL,
            span: Span::default(),
            name_at: 0,
            name_len: 0,
            kind: BlockKind::Other,
            named: 0,
            facts: 0,
        };
        if token == Token::Object {
            let mut first = true;
            let mut text = None;
            let mut content = Span::default();
            c.enter_object()?;
            while let Some(key) = c.next_key(&mut first)? {
                match key.of(self.line) {
                    b"type" => block.kind = self.name(c, BlockKind::of)?,
                    b"id" | b"tool_use_id" => block.tool = self.id(c)?,
                    b"text" => {
                        let words = c.skip()?;
                        block.set(WORDY, begins_with_text(words.of(self.line)));
                        text = Some(words);
                    }
                    b"signature" => block.set(SIGNED, says(c.skip()?.of(self.line))),
                    b"thinking" => block.set(SPOKEN, says(c.skip()?.of(self.line))),
                    b"name" => {
                        let span = c.skip()?;
                        block.name_at = span.start;
                        block.name_len = span.len().min(255) as u8;
                    }
                    b"content" => {
                        let nested = c.peek()? != Token::String;
                        block.set(NESTED, nested);
                        content = c.skip()?;
                        if !nested {
                            self.output = content;
                        }
                    }
                    b"is_error" => block.set(FAILED, c.skip()?.of(self.line) == b"true"),
                    _ => {
                        c.skip()?;
                    }
                }
            }
            let judged = match (block.kind, text) {
                (BlockKind::Text, Some(text)) => self.judge(text),
                (BlockKind::Image | BlockKind::Document, _) => PromptKind::Words,
                _ => PromptKind::None,
            };
            self.entry.prompt = combine(self.entry.prompt, judged);
            if block.kind.is_result() {
                let tail = if content.is_empty() {
                    0
                } else {
                    c.position() - content.end as usize
                };
                block.name_at = content.start;
                block.name_len = tail.min(255) as u8;
            }
        } else {
            c.skip()?;
        }
        block.span = Span::new(start, c.position());
        self.blocks.push(block);
        Ok(())
    }

    /// Judges a text by its first words, however long it is.
    fn judge(&self, quoted: Span) -> PromptKind {
        let raw = quoted.of(self.line);
        let head = decode_head(raw, 256);
        // White space as far as was looked says nothing of the rest.
        if head.trim().is_empty() {
            classify(&decode(raw))
        } else {
            classify(&head)
        }
    }

    fn name<T>(&self, c: &mut Cursor<'_>, of: impl Fn(&[u8]) -> T) -> Result<T, Malformed> {
        let span = c.skip()?;
        Ok(of(unquoted(span.of(self.line))))
    }

    fn id(&self, c: &mut Cursor<'_>) -> Result<Id, Malformed> {
        if c.peek()? != Token::String {
            c.skip()?;
            return Ok(Id::NONE);
        }
        let span = c.skip()?;
        Ok(id_of_string(span.of(self.line)))
    }

    fn time(&mut self, c: &mut Cursor<'_>) -> Result<i64, Malformed> {
        static PARSER: jiff::fmt::temporal::DateTimeParser =
            jiff::fmt::temporal::DateTimeParser::new();
        let span = c.skip()?;
        let raw = span.of(self.line);
        let plain = raw.strip_prefix(b"\"").and_then(|r| r.strip_suffix(b"\""));
        let known = |usual: &&mut RepeatedFields| usual.time(plain?);
        if let Some(time) = self.usual.as_ref().and_then(known) {
            return Ok(time);
        }
        let time = match plain {
            Some(plain) if memchr::memchr(b'\\', plain).is_none() => PARSER.parse_timestamp(plain),
            _ => decode(raw).parse(),
        };
        let time = time.map(jiff::Timestamp::as_millisecond);
        if let (Some(usual), Some(plain), Ok(time)) = (&mut self.usual, plain, &time) {
            usual.learn_day(plain, *time);
        }
        Ok(time.unwrap_or(i64::MIN))
    }

    fn truth(&mut self, c: &mut Cursor<'_>, set: fn(&mut Flags, bool)) -> Step {
        let span = c.skip()?;
        set(&mut self.entry.flags, span.of(self.line) == b"true");
        Ok(())
    }

    fn present(&mut self, c: &mut Cursor<'_>, set: fn(&mut Flags, bool)) -> Step {
        let span = c.skip()?;
        set(&mut self.entry.flags, span.of(self.line) != b"null");
        Ok(())
    }
}

/// What stands between the quotes of a string; nothing where it is none.
fn unquoted(raw: &[u8]) -> &[u8] {
    let inner = raw.strip_prefix(b"\"").and_then(|r| r.strip_suffix(b"\""));
    inner.unwrap_or_default()
}

/// Whether it is a string, and not empty.
fn says(raw: &[u8]) -> bool {
    raw.starts_with(b"\"") && raw.len() > 2
}

/// The id that a JSON string (quotes included) spells.
pub(crate) fn id_of_string(raw: &[u8]) -> Id {
    let inner = &raw[1..raw.len() - 1];
    if memchr::memchr(b'\\', inner).is_some() {
        Id::of(decode(raw).as_bytes())
    } else {
        Id::of(inner)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::json::lookup;

    struct Parsed {
        entry: Entry,
        blocks: Vec<Block>,
    }

    fn parse(line: &[u8]) -> Result<Parsed, Malformed> {
        let mut blocks = Vec::new();
        super::parse(line, &mut blocks).map(|(entry, _)| Parsed { entry, blocks })
    }

    #[test]
    fn reads_a_prompt() {
        let p = parse(br#"{"parentUuid":null,"type":"user","message":{"role":"user","content":"hi"},"uuid":"a","timestamp":"2026-01-03T10:00:00.000Z","permissionMode":"default"}"#).unwrap();
        assert_eq!(
            (p.entry.kind, p.entry.prompt),
            (Kind::User, PromptKind::Words)
        );
        assert_eq!(p.entry.uuid, Id::of(b"a"));
        assert!(
            p.entry.flags.has_parent_field()
                && p.entry.flags.permission_mode()
                && !p.entry.parent.is_some()
        );
        assert_eq!(p.entry.time, 1_767_434_400_000);
    }

    #[test]
    fn a_copy_is_no_better_than_what_it_is_a_copy_of() {
        let line = |content: &[u8], copy: &[u8]| {
            let parts: [&[u8]; 5] = [
                br#"{"type":"user","message":{"content":[{"type":"tool_result","content":""#,
                content,
                br#""}]},"toolUseResult":{"stdout":""#,
                copy,
                br#""},"uuid":"a"}"#,
            ];
            parse(&parts.concat()).expect("an entry").entry
        };
        let words = "größe ".repeat(20).into_bytes();
        let mut torn = words.clone();
        torn.push(0xc3);
        assert!(!line(&words, &words).flags.not_utf8());
        for (content, copy) in [(&torn, &torn), (&words, &torn), (&torn, &words)] {
            assert!(line(content, copy).flags.not_utf8());
        }
        let len = |e: Entry| e.result.len();
        assert_eq!(len(line(&words, &words)), len(line(b"", &words)));
    }

    #[test]
    fn reads_blocks_with_their_calls() {
        let line = br#"{"type":"assistant","uuid":"b","message":{"id":"m","content":[{"type":"thinking","thinking":"t","signature":"s"},{"type":"tool_use","id":"c","name":"Bash","input":{"id":"no"}}]}}"#;
        let p = parse(line).unwrap();
        let kinds: Vec<_> = p.blocks.iter().map(|b| (b.kind, b.tool)).collect();
        assert_eq!(
            kinds,
            [
                (BlockKind::Thinking, Id::NONE),
                (BlockKind::ToolUse, Id::of(b"c"))
            ]
        );
        assert!(
            p.blocks[1]
                .span
                .of(line)
                .starts_with(b"{\"type\":\"tool_use\"")
        );
    }

    #[test]
    fn a_result_knows_where_its_content_is() {
        let far = format!(r#","x":"{}""#, "y".repeat(300));
        for (content, behind) in [
            (r#","content":"out""#, ""),
            (r#","content":[{"type":"text"}]"#, r#","is_error":true"#),
            (r#","content":"a","content":"b""#, &far),
            (r#","content":"a""#, r#","name":"n""#),
            ("", ""),
        ] {
            let line = format!(
                r#"{{"type":"user","message":{{"content":[{{"type":"tool_result"{content}{behind}}}]}}}}"#
            );
            let (line, parsed) = (line.as_bytes(), parse(line.as_bytes()).unwrap());
            let block = &parsed.blocks[0];
            let expected =
                lookup(block.span.of(line), &["content"]).map(|s| s.of(block.span.of(line)));
            assert_eq!(block.content(line).map(|s| s.of(line)), expected);
            let name: &[u8] = if behind.contains("name") {
                b"\"n\""
            } else {
                b""
            };
            assert_eq!(block.name(line), name);
        }
    }

    #[test]
    fn results_are_no_prompts_and_fields_of_other_types_no_trouble() {
        let p = parse(br#"{"type":"user","uuid":7,"message":{"content":[{"type":"tool_result","tool_use_id":"c"},{"type":"text","text":"x"}]}}"#).unwrap();
        assert_eq!((p.entry.prompt, p.entry.uuid), (PromptKind::None, Id::NONE));
        assert!(parse(b"[1]").is_err() && parse(b"{} {}").is_err());
    }

    #[test]
    fn long_prompts_are_judged_by_their_head() {
        let line = format!(
            r#"{{"type":"user","message":{{"content":"{}<x>"}}}}"#,
            "\\n".repeat(900)
        );
        assert_eq!(
            parse(line.as_bytes()).unwrap().entry.prompt,
            PromptKind::Words
        );
        let line = format!(
            r#"{{"type":"user","message":{{"content":"<local-command-stdout>{}"}}}}"#,
            "y".repeat(900)
        );
        assert_eq!(
            parse(line.as_bytes()).unwrap().entry.prompt,
            PromptKind::Machine
        );
    }
}
