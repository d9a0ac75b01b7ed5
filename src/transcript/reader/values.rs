//! Values of single fields.

use crate::json::{Cursor, Malformed, Token, decode};

use super::super::head::Flags;
use super::super::id::Id;
use super::super::repeated_fields::RepeatedFields;
use super::{Reader, Step};

impl Reader<'_> {
    /// Reads a string without escapes; any other value counts as an empty one.
    pub(super) fn name<T>(
        &self,
        c: &mut Cursor<'_>,
        of: impl Fn(&[u8]) -> T,
    ) -> Result<T, Malformed> {
        let span = c.skip()?;
        Ok(of(unquoted(span.of(self.line))))
    }

    pub(super) fn id(&self, c: &mut Cursor<'_>) -> Result<Id, Malformed> {
        if c.peek()? != Token::String {
            c.skip()?;
            return Ok(Id::NONE);
        }
        let span = c.skip()?;
        Ok(id_of_string(span.of(self.line)))
    }

    /// Reads a timestamp, in milliseconds since the epoch; `i64::MIN` for anything else.
    pub(super) fn time(&mut self, c: &mut Cursor<'_>) -> Result<i64, Malformed> {
        static PARSER: jiff::fmt::temporal::DateTimeParser =
            jiff::fmt::temporal::DateTimeParser::new();
        let span = c.skip()?;
        let raw = span.of(self.line);
        let plain = raw.strip_prefix(b"\"").and_then(|r| r.strip_suffix(b"\""));
        let known = |cache: &&mut RepeatedFields| cache.time(plain?);
        if let Some(time) = self.cache.as_ref().and_then(known) {
            return Ok(time);
        }
        let time = match plain {
            Some(plain) if memchr::memchr(b'\\', plain).is_none() => PARSER.parse_timestamp(plain),
            _ => decode(raw).parse(),
        };
        let time = time.map(jiff::Timestamp::as_millisecond);
        if let (Some(cache), Some(plain), Ok(time)) = (&mut self.cache, plain, &time) {
            cache.learn_day(plain, *time);
        }
        Ok(time.unwrap_or(i64::MIN))
    }

    /// Sets a fact if the next value is `true`.
    pub(super) fn truth(&mut self, c: &mut Cursor<'_>, set: fn(&mut Flags, bool)) -> Step {
        let span = c.skip()?;
        set(&mut self.entry.head.flags, span.of(self.line) == b"true");
        Ok(())
    }

    /// Sets a fact unless the next value is `null`.
    pub(super) fn present(&mut self, c: &mut Cursor<'_>, set: fn(&mut Flags, bool)) -> Step {
        let span = c.skip()?;
        set(&mut self.entry.head.flags, span.of(self.line) != b"null");
        Ok(())
    }
}

/// Returns the text between the quotes of a string; nothing for any other value.
pub(super) fn unquoted(raw: &[u8]) -> &[u8] {
    let inner = raw.strip_prefix(b"\"").and_then(|r| r.strip_suffix(b"\""));
    inner.unwrap_or_default()
}

/// Whether a value is a string that is not empty.
pub(super) fn is_nonempty_string(raw: &[u8]) -> bool {
    raw.starts_with(b"\"") && raw.len() > 2
}

/// Returns the id that a JSON string (quotes included) spells.
pub(crate) fn id_of_string(raw: &[u8]) -> Id {
    let inner = &raw[1..raw.len() - 1];
    if memchr::memchr(b'\\', inner).is_some() {
        Id::of(decode(raw).as_bytes())
    } else {
        Id::of(inner)
    }
}
