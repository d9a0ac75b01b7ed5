//! A pull reader of JSON text that reports byte spans.
//!
//! One pass over a text yields the spans of a handful of fields at several depths. Borrowed
//! `RawValue`s give spans too, but they read the bytes once for each level of nesting, and they refuse a string that
//! is not UTF-8 or holds half a surrogate pair, which `JSON.parse` accepts. The cursor accepts exactly what `JSON.parse`
//! accepts, with any byte above 0x7f allowed in strings.

use super::nesting::Nesting;
use super::scan::Marks;
use super::span::{Malformed, Span};

/// The kind of a value.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Token {
    /// `{`
    Object,
    /// `[`
    Array,
    /// `"`
    String,
    /// A number, `true`, `false` or `null`.
    Scalar,
}

/// Reads JSON text from front to back.
#[derive(Debug, Clone)]
pub struct Cursor<'a> {
    pub(super) bytes: &'a [u8],
    pub(super) pos: usize,
    /// The block of bytes that was scanned last, and what was found in it.
    pub(super) block: usize,
    pub(super) marks: Marks,
    /// The next two values that are known to be whole and are skipped at once.
    whole: [Span; 2],
    /// Whether a newline ends the text instead of being white space.
    one_line: bool,
    /// Some bytes that were read are not ASCII.
    pub(super) high: bool,
    /// Some string has a `\u` escape.
    pub(super) numbered: bool,
    /// Whether strings are recorded, and the length, quotes included, of those that are.
    pub(super) recording: bool,
    pub(super) recorded_len: usize,
    pub(super) recorded: RecordedStrings,
}

/// How many strings a cursor can record.
pub const MAX_RECORDED: usize = 8;

/// Where strings of a certain length begin, after their opening quotes, in order.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct RecordedStrings {
    at: [u32; MAX_RECORDED],
    count: u32,
}

impl RecordedStrings {
    pub(super) fn add(&mut self, at: usize) {
        if let Some(free) = self.at.get_mut(self.count as usize) {
            *free = at as u32;
        }
        self.count += 1;
    }

    /// Returns how many there are.
    pub fn count(&self) -> usize {
        self.count as usize
    }

    /// Returns all of them, or `None` where there are more than [`MAX_RECORDED`].
    pub fn all(&self) -> Option<&[u32]> {
        self.at.get(..self.count())
    }
}

pub(super) type Result<T> = std::result::Result<T, Malformed>;

/// A span beyond the end of any text.
const NOWHERE: Span = Span {
    start: u32::MAX,
    end: u32::MAX,
};

/// The bytes that some editors put before the first line of a file.
pub(crate) const BYTE_ORDER_MARK: &[u8] = b"\xef\xbb\xbf";

impl<'a> Cursor<'a> {
    /// Starts at the first byte of `bytes`, or after a byte order mark.
    pub fn new(bytes: &'a [u8]) -> Self {
        let marked = bytes.starts_with(BYTE_ORDER_MARK);
        Self {
            bytes,
            pos: if marked { BYTE_ORDER_MARK.len() } else { 0 },
            block: usize::MAX,
            marks: Marks::default(),
            whole: [NOWHERE; 2],
            one_line: false,
            high: false,
            numbered: false,
            recording: false,
            recorded_len: 0,
            recorded: RecordedStrings::default(),
        }
    }

    /// Starts at the first byte of a line whose end is not known yet: nothing after the next newline is read.
    pub fn line(bytes: &'a [u8]) -> Self {
        Self {
            one_line: true,
            ..Self::new(bytes)
        }
    }

    /// Starts at the first byte of a text in which two values are known to be whole: [`Cursor::skip`] jumps over them.
    pub fn around(bytes: &'a [u8], whole: [Span; 2]) -> Self {
        let mut whole = whole.map(|k| if k.is_empty() { NOWHERE } else { k });
        whole.sort();
        Self {
            whole,
            ..Self::new(bytes)
        }
    }

    /// Starts recording where strings, keys included, of `len` bytes between their quotes are.
    pub fn record_strings(&mut self, len: usize) {
        self.recorded_len = len + 2;
        self.recording = true;
    }

    /// Continues or pauses recording; returns whether strings were recorded until now.
    pub fn set_recording(&mut self, on: bool) -> bool {
        std::mem::replace(&mut self.recording, on)
    }

    /// Returns the strings that were recorded.
    pub fn recorded(&self) -> &RecordedStrings {
        &self.recorded
    }

    /// Whether any string that was read, or the bytes near it, may not be ASCII.
    pub fn saw_high_bytes(&self) -> bool {
        self.high
    }

    /// Whether any string that was read has a `\u0041`-like escape.
    pub fn saw_numbered_characters(&self) -> bool {
        self.numbered
    }

    /// Returns the offset of the next byte.
    pub fn position(&self) -> usize {
        self.pos
    }

    /// Returns what comes next, after any white space.
    pub fn peek(&mut self) -> Result<Token> {
        self.skip_white_space();
        match self.bytes.get(self.pos) {
            Some(b'{') => Ok(Token::Object),
            Some(b'[') => Ok(Token::Array),
            Some(b'"') => Ok(Token::String),
            Some(_) => Ok(Token::Scalar),
            None => Err(self.bad()),
        }
    }

    /// Steps into an object; then call [`Cursor::next_key`] until it yields `None`.
    pub fn enter_object(&mut self) -> Result<()> {
        self.expect(b'{')
    }

    /// Returns the span of the next key, without its quotes, and stops at its value; `None` after the `}`.
    ///
    /// `first` is true for the first call and is cleared by it.
    pub fn next_key(&mut self, first: &mut bool) -> Result<Option<Span>> {
        self.skip_white_space();
        match self.bytes.get(self.pos) {
            Some(b'}') => {
                self.pos += 1;
                return Ok(None);
            }
            Some(b',') if !*first => {
                self.pos += 1;
                self.skip_white_space();
            }
            Some(b'"') if *first => {}
            _ => return Err(self.bad()),
        }
        *first = false;
        let quoted = self.string()?;
        self.expect(b':')?;
        Ok(Some(Span {
            start: quoted.start + 1,
            end: quoted.end - 1,
        }))
    }

    /// Steps into an array; then call [`Cursor::next_element`] until it yields false.
    pub fn enter_array(&mut self) -> Result<()> {
        self.expect(b'[')
    }

    /// Moves to the next element; false after the `]`.
    pub fn next_element(&mut self, first: &mut bool) -> Result<bool> {
        self.skip_white_space();
        match self.bytes.get(self.pos) {
            Some(b']') => {
                self.pos += 1;
                return Ok(false);
            }
            Some(b',') if !*first => {
                self.pos += 1;
                self.skip_white_space();
            }
            Some(_) if *first => {}
            _ => return Err(self.bad()),
        }
        *first = false;
        Ok(true)
    }

    /// Skips one value of any kind and depth and returns its span, quotes and brackets included.
    pub fn skip(&mut self) -> Result<Span> {
        self.skip_white_space();
        let start = self.pos;
        // No recursion, so that no depth can overflow the stack.
        let mut open = Nesting::default();
        loop {
            self.skip_white_space();
            match *self.bytes.get(self.pos).ok_or_else(|| self.bad())? {
                _ if self.pos >= self.whole[0].start as usize && self.skip_whole() => {}
                b'{' => {
                    self.pos += 1;
                    self.skip_white_space();
                    if self.bytes.get(self.pos) == Some(&b'}') {
                        self.pos += 1;
                    } else {
                        open.push(true);
                        self.key()?;
                        continue;
                    }
                }
                b'[' => {
                    self.pos += 1;
                    self.skip_white_space();
                    if self.bytes.get(self.pos) == Some(&b']') {
                        self.pos += 1;
                    } else {
                        open.push(false);
                        continue;
                    }
                }
                b'"' => {
                    self.string()?;
                }
                _ => self.scalar()?,
            }
            // A value ended: close the brackets that end with it, or continue after a comma.
            loop {
                let Some(object) = open.is_in_object() else {
                    return Ok(Span::new(start, self.pos));
                };
                self.skip_white_space();
                match self.bytes.get(self.pos) {
                    Some(b',') => {
                        self.pos += 1;
                        if object {
                            self.skip_white_space();
                            self.key()?;
                        }
                        break;
                    }
                    Some(b'}') if object => {
                        self.pos += 1;
                        open.pop();
                    }
                    Some(b']') if !object => {
                        self.pos += 1;
                        open.pop();
                    }
                    _ => return Err(self.bad()),
                }
            }
        }
    }

    /// Skips the whole value that begins here, if one does.
    #[cold]
    fn skip_whole(&mut self) -> bool {
        let [next, later] = self.whole;
        self.whole = [later, NOWHERE];
        let here = next.start as usize == self.pos;
        if here {
            self.pos = next.end as usize;
        }
        here || self.pos >= later.start as usize && self.skip_whole()
    }

    /// Skips `value` if it comes next; it must be known to be a whole string, object or array.
    pub fn skip_equal(&mut self, value: &[u8]) -> bool {
        self.skip_white_space();
        let closed = matches!(value.first(), Some(b'"' | b'{' | b'['));
        let next = closed && self.bytes[self.pos..].starts_with(value);
        self.pos += if next { value.len() } else { 0 };
        next
    }

    /// Skips `fields` if the text has them at `start`, where the key begins that was just read.
    ///
    /// They must have been read before from a text like this and end with a string. `recorded` are the positions among them
    /// of strings that would have been recorded; `ascii` says whether all of them are ASCII.
    pub fn skip_equal_fields(
        &mut self,
        start: usize,
        fields: &[u8],
        recorded: &[usize],
        ascii: bool,
    ) -> bool {
        let here = self.bytes[start..].starts_with(fields);
        if here {
            self.pos = start + fields.len();
            self.high |= !ascii;
            for at in recorded {
                self.recorded.add(start + at);
            }
        }
        here
    }

    /// Fails unless only white space is left.
    pub fn finish(&mut self) -> Result<()> {
        self.skip_white_space();
        if self.pos == self.bytes.len() {
            Ok(())
        } else {
            Err(self.bad())
        }
    }

    /// Fails unless only white space is left of the line; returns how many bytes it has, and whether a newline ends it.
    pub fn finish_line(&mut self) -> Result<(usize, bool)> {
        self.skip_white_space();
        match self.bytes.get(self.pos) {
            Some(b'\n') => Ok((self.pos, true)),
            Some(_) => Err(self.bad()),
            None => Ok((self.pos, false)),
        }
    }

    fn key(&mut self) -> Result<()> {
        self.string()?;
        self.expect(b':')
    }

    fn expect(&mut self, byte: u8) -> Result<()> {
        self.skip_white_space();
        if self.bytes.get(self.pos) == Some(&byte) {
            self.pos += 1;
            Ok(())
        } else {
            Err(self.bad())
        }
    }

    #[inline]
    fn skip_white_space(&mut self) {
        while let Some(byte @ (b' ' | b'\t' | b'\r' | b'\n')) = self.bytes.get(self.pos) {
            if *byte == b'\n' && self.one_line {
                break;
            }
            self.pos += 1;
        }
    }

    pub(super) fn bad(&self) -> Malformed {
        Malformed { at: self.pos }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn accepts(text: &[u8]) -> bool {
        let mut cursor = Cursor::new(text);
        cursor.skip().is_ok() && cursor.finish().is_ok()
    }

    fn serde_accepts(text: &[u8]) -> bool {
        serde_json::from_slice::<serde::de::IgnoredAny>(text).is_ok()
    }

    #[test]
    fn cursor_accepts_what_clients_accept() {
        for text in [
            r#"{"a":[1,2.50,1E+5,-0],"b":{"c":null}}"#,
            r#""\ud83d""#,
            "[]",
            " { } ",
            r#"{"a":1,"a":2}"#,
            "\u{feff}{}",
        ] {
            assert!(accepts(text.as_bytes()), "{text}");
        }
        assert!(
            accepts(b"\"\xff\xfe\""),
            "bytes that are not UTF-8 are the client's U+FFFD"
        );
    }

    #[test]
    fn cursor_refuses_what_clients_refuse() {
        for text in [
            "",
            "{",
            "[1,]",
            "{,}",
            r#"{"a"}"#,
            r#""\x""#,
            "\"\t\"",
            "01",
            "1.",
            "+1",
            "nul",
            "{}{}",
            "[1 2]",
            "{\u{feff}}",
            "\u{feff}\u{feff}{}",
        ] {
            assert!(!accepts(text.as_bytes()), "{text}");
        }
    }

    #[test]
    fn cursor_reads_any_depth() {
        for depth in [1, 63, 64, 65, 128, 129, 1000, 100_000] {
            let text = [r#"{"a":["#.repeat(depth), "]}".repeat(depth)].concat();
            assert!(accepts(text.as_bytes()), "{depth}");
            let torn = &text[..text.len() - 1];
            assert!(!accepts(torn.as_bytes()), "{depth} torn");
        }
    }

    proptest! {
        #[test]
        fn cursor_agrees_with_serde_json(text in r#"([\[\]{},:"a\\u0-9eE.+\- \t]|true|false|null|"[ab]*"|\\ud83d){0,24}"#) {
            prop_assert_eq!(accepts(text.as_bytes()), serde_accepts(text.as_bytes()));
        }

        #[test]
        fn cursor_agrees_with_serde_json_on_values(value in proptest::collection::vec(proptest::arbitrary::any::<(f64, String, bool)>(), 0..4)) {
            let text = serde_json::to_vec(&value).unwrap();
            prop_assert!(accepts(&text));
        }
    }
}
