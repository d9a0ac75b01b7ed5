//! The fields of an entry itself.

use crate::json::{Cursor, Span, Token, lookup};

use super::super::head::{Flags, Kind, Subtype};
use super::super::id::Id;
use super::super::ids::{LEADING, LEADING_PARENT};
use super::super::prompt::PromptKind;
use super::super::repeated_fields::NewFields;
use super::{Reader, Step};

/// From how many bytes on an output is compared with the client's copy of it.
const LONG_OUTPUT: usize = 64;

/// Values of `turnOrigin` that no person stands for.
const MACHINE_ORIGINS: [&[u8]; 6] = [
    b"task_notification",
    b"scheduled",
    b"peer",
    b"auto_continuation",
    b"host_synthetic",
    b"system",
];

impl Reader<'_> {
    /// Reads all fields of the entry that begins here.
    pub(super) fn entry(&mut self, c: &mut Cursor<'_>) -> Step {
        let mut first = true;
        let mut new_fields: Option<NewFields> = None;
        c.enter_object()?;
        while let Some(key) = c.next_key(&mut first)? {
            if self.cache.is_some()
                && new_fields.is_none()
                && NewFields::begin_with(key.of(self.line))
            {
                if self.skip_repeated_fields(key, c) {
                    continue;
                }
                new_fields = Some(NewFields::new(key, c));
            }
            let before = c.recorded().count();
            self.field(key, c)?;
            // A value that ends with a quote is a string and has no nested ids.
            if c.recorded().count() > before && self.line[c.position() - 1] != b'"' {
                self.entry.head.flags.set_deep_ids(true);
            }
            if let Some(fields) = &mut new_fields
                && !fields.take(self.line, key, c, (&self.entry, &self.repeated))
            {
                self.learn(new_fields.take(), c);
            }
        }
        self.learn(new_fields, c);
        self.finish_entry();
        Ok(())
    }

    /// Reads the value of one field.
    fn field(&mut self, key: Span, c: &mut Cursor<'_>) -> Step {
        match key.of(self.line) {
            b"type" => self.entry.head.kind = self.name(c, Kind::of)?,
            b"uuid" => self.entry.uuid = self.id(c)?,
            b"parentUuid" => self.parent(c)?,
            b"sessionId" => self.entry.session = self.id(c)?,
            b"logicalParentUuid" | b"leafUuid" | b"messageId" => {
                self.entry.refers_to = self.id(c)?;
            }
            b"sourceToolAssistantUUID" => self.calling_message = self.id(c)?,
            b"timestamp" => self.entry.time = self.time(c)?,
            b"subtype" => self.entry.head.subtype = self.name(c, subtype)?,
            b"promptSource" => self.prompt_source(c)?,
            b"turnOrigin" => self.origin(c, &MACHINE_ORIGINS)?,
            b"origin" => self.origin_kind(c)?,
            b"attachment" => self.attachment(c)?,
            b"message" => self.message(c)?,
            b"isSidechain" => self.truth(c, Flags::set_sidechain)?,
            b"isMeta" => self.truth(c, Flags::set_meta)?,
            b"isCompactSummary" => self.truth(c, Flags::set_compact_summary)?,
            b"isVisibleInTranscriptOnly" => self.truth(c, Flags::set_transcript_only)?,
            b"isApiErrorMessage" => self.truth(c, Flags::set_api_error)?,
            b"permissionMode" => self.present(c, Flags::set_permission_mode)?,
            b"toolUseResult" => self.result(c)?,
            b"toolUseID" | b"parentToolUseID" | b"sourceToolUseID" => {
                c.skip()?;
                self.entry.head.flags.set_companion(true);
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
        Ok(())
    }

    /// Sets the facts that depend on several fields.
    fn finish_entry(&mut self) {
        let entry = &mut self.entry;
        let flags = entry.flags;
        if entry.kind != Kind::User || flags.meta() {
            entry.head.prompt = PromptKind::None;
        } else if flags.compact_summary()
            || flags.not_by_person() && entry.prompt != PromptKind::None
        {
            entry.head.prompt = PromptKind::Machine;
        } else if entry.prompt == PromptKind::Machine && flags.by_person() && !flags.wordless() {
            // Pasted text may look like the client's own; the client's mark decides.
            entry.head.prompt = PromptKind::Words;
        }
        let linked = matches!(
            entry.kind,
            Kind::User | Kind::Assistant | Kind::System | Kind::Attachment | Kind::Progress
        ) || flags.has_parent_field();
        let chained = linked && entry.uuid.is_some();
        entry.head.flags.set_chained(chained);
        let odd = |id: Id| id.is_some() && !id.is_uuid();
        let odd_ids = odd(entry.uuid) || odd(entry.session);
        entry.head.flags.set_odd_ids(odd_ids);
        if entry.kind == Kind::User && chained && !entry.refers_to.is_some() {
            entry.refers_to = self.calling_message;
        }
        let boundary = entry.kind == Kind::System && entry.subtype == Subtype::CompactBoundary;
        entry.head.flags.set_boundary(boundary);
        let empty = !self.same_content && entry.is_message() && self.blocks.len() == self.first;
        if empty && !flags.string_content() {
            entry.head.flags.set_wordless(true);
        }
        let answer = entry.kind == Kind::Assistant;
        entry
            .head
            .flags
            .set_string_answer(answer && flags.string_content());
        if entry.kind == Kind::Attachment {
            entry.set_window_use(self.shown_bytes.filter(|_| !self.rendered));
        }
    }

    fn parent(&mut self, c: &mut Cursor<'_>) -> Step {
        let again = self.entry.flags.has_parent_field();
        self.entry.parent = self.id(c)?;
        let leading = self.line.starts_with(LEADING)
            && self.entry.parent.is_uuid()
            && c.position() == LEADING_PARENT.end as usize + 1;
        let flags = &mut self.entry.head.flags;
        flags.set_several_parents(again);
        flags.set_has_parent_field(true);
        flags.set_leading_parent(leading && !again);
        Ok(())
    }

    /// Skips the fields from `key` on that most lines repeat; false where this line has others.
    fn skip_repeated_fields(&mut self, key: Span, c: &mut Cursor<'_>) -> bool {
        let Some(cache) = &self.cache else {
            return false;
        };
        cache.skip(key, c, &mut self.entry, &mut self.repeated)
    }

    fn learn(&mut self, fields: Option<NewFields>, c: &Cursor<'_>) {
        if let (Some(cache), Some(fields)) = (&mut self.cache, fields) {
            cache.learn(self.line, fields, c);
        }
    }

    /// Reads `toolUseResult`, the client's own copy of a result.
    fn result(&mut self, c: &mut Cursor<'_>) -> Step {
        let recording = c.set_recording(false);
        let token = c.peek()?;
        let start = c.position();
        let (mut agent, mut persisted) = (false, false);
        if let Some((line, known)) = self.known
            && c.skip_equal(known.result.of(line))
        {
            (agent, persisted) = (known.flags.agent(), known.flags.persisted());
        } else if token == Token::Object {
            let mut first = true;
            c.enter_object()?;
            while let Some(key) = c.next_key(&mut first)? {
                match key.of(self.line) {
                    b"agentId" => agent = true,
                    b"persistedOutputPath" => persisted = true,
                    _ => {}
                }
                if !self.skip_copy(c) {
                    c.skip()?;
                }
            }
        } else {
            c.skip()?;
        }
        c.set_recording(recording);
        self.entry.result = Span::new(start, c.position());
        let flags = &mut self.entry.head.flags;
        flags.set_agent(agent);
        flags.set_persisted(persisted);
        flags.set_tool_use_result(self.entry.result.of(self.line) != b"null");
        Ok(())
    }

    /// Skips the client's copy of the output, if that comes next.
    fn skip_copy(&mut self, c: &mut Cursor<'_>) -> bool {
        let known = self.output.len() >= LONG_OUTPUT && self.skipped_copy.is_empty();
        if !known || !c.skip_equal(self.output.of(self.line)) {
            return false;
        }
        let end = c.position();
        self.skipped_copy = Span::new(end - self.output.len(), end);
        true
    }

    /// Records that no person sent it, if the next string is one of `machines`.
    fn origin(&mut self, c: &mut Cursor<'_>, machines: &[&[u8]]) -> Step {
        if self.name(c, |n| machines.contains(&n))? {
            self.entry.head.flags.set_not_by_person(true);
        }
        Ok(())
    }

    fn prompt_source(&mut self, c: &mut Cursor<'_>) -> Step {
        // A program that runs the client without a terminal sends prompts for a person.
        let by_person = |n: &[u8]| matches!(n, b"typed" | b"sdk");
        match self.name(c, |n| (n == b"system", by_person(n)))? {
            (true, _) => self.entry.head.flags.set_not_by_person(true),
            (_, true) => self.entry.head.flags.set_by_person(true),
            _ => {}
        }
        Ok(())
    }

    fn origin_kind(&mut self, c: &mut Cursor<'_>) -> Step {
        let origin = c.skip()?;
        self.set_origin(origin);
        Ok(())
    }

    /// Records who sent it, by an `origin` object.
    pub(super) fn set_origin(&mut self, origin: Span) {
        let raw = origin.of(self.line);
        match lookup(raw, &["kind"]).map(|k| k.of(raw)) {
            Some(b"\"human\"") => self.entry.head.flags.set_by_person(true),
            Some(_) => self.entry.head.flags.set_not_by_person(true),
            None => {}
        }
    }
}

fn subtype(name: &[u8]) -> Subtype {
    match name {
        b"compact_boundary" => Subtype::CompactBoundary,
        b"microcompact_boundary" => Subtype::MicrocompactBoundary,
        b"local_command" => Subtype::LocalCommand,
        _ => Subtype::Other,
    }
}
