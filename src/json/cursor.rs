//! A pull reader of JSON text that reports byte spans.
//!
//! One pass over a line yields the spans of a handful of fields at several depths. Borrowed
//! `RawValue`s give spans too, but each level of nesting scans its bytes again, and a string that
//! is not UTF-8 or holds half a surrogate pair stops them, where the client reads on. What is
//! accepted here is exactly what `JSON.parse` accepts, with any byte above 0x7f allowed in strings.

use super::scan::{BLOCK, Marks, is_escaped};

/// A range of bytes within one line.
///
/// Four bytes each suffice: a longer line is opaque (see [`Document`](super::Document)).
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, PartialOrd, Ord)]
pub struct Span {
    /// The first byte.
    pub start: u32,
    /// One past the last byte.
    pub end: u32,
}

impl Span {
    /// Makes a span of two offsets.
    pub fn new(start: usize, end: usize) -> Self {
        Self {
            start: start as u32,
            end: end as u32,
        }
    }

    /// The bytes of `line` that this span names.
    pub fn of(self, line: &[u8]) -> &[u8] {
        &line[self.start as usize..self.end as usize]
    }

    /// How many bytes it spans.
    pub fn len(self) -> usize {
        (self.end - self.start) as usize
    }

    /// Whether it spans nothing.
    pub fn is_empty(self) -> bool {
        self.start == self.end
    }

    /// The same bytes seen from a text that begins `offset` bytes earlier.
    #[must_use]
    pub fn shift(self, offset: u32) -> Self {
        Self {
            start: self.start + offset,
            end: self.end + offset,
        }
    }

    /// The range as `usize`, for indexing.
    pub fn range(self) -> std::ops::Range<usize> {
        self.start as usize..self.end as usize
    }
}

/// The text is not JSON; the offset is where reading stopped.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("not JSON at byte {at}")]
pub struct Malformed {
    /// The byte at which reading stopped.
    pub at: usize,
}

/// What kind of value comes next.
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
    bytes: &'a [u8],
    pos: usize,
    /// The block that was looked at last, and what stands where in it.
    block: usize,
    marks: Marks,
    /// Values that are known to be whole: the next on the way, and the one behind it.
    known: [Span; 2],
    /// Whether a newline ends the text, instead of being white space.
    one_line: bool,
    /// Some string, or what stands around it, is not ASCII.
    high: bool,
    /// Some string spells a character by its number.
    numbered: bool,
    /// Whether strings are watched for, and how long, quotes included; see [`Cursor::watch`].
    watching: bool,
    watched_len: usize,
    watched: Watched,
}

/// How many strings are told of that were watched for.
pub const WATCHED: usize = 8;

/// Where strings of a certain length stand: behind the opening quote of each, in order.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Watched {
    at: [u32; WATCHED],
    count: u32,
}

impl Watched {
    fn add(&mut self, at: usize) {
        if let Some(free) = self.at.get_mut(self.count as usize) {
            *free = at as u32;
        }
        self.count += 1;
    }

    /// How many there are.
    pub fn count(&self) -> usize {
        self.count as usize
    }

    /// All of them; `None` where there are more than could be kept.
    pub fn all(&self) -> Option<&[u32]> {
        self.at.get(..self.count())
    }
}

type Result<T> = std::result::Result<T, Malformed>;

/// A span that no text has.
const NOWHERE: Span = Span {
    start: u32::MAX,
    end: u32::MAX,
};

/// What some editors put before the first line of a file.
pub(crate) const BYTE_ORDER_MARK: &[u8] = b"\xef\xbb\xbf";

impl<'a> Cursor<'a> {
    /// Starts at the first byte of `bytes`, or behind a byte order mark.
    pub fn new(bytes: &'a [u8]) -> Self {
        let marked = bytes.starts_with(BYTE_ORDER_MARK);
        Self {
            bytes,
            pos: if marked { BYTE_ORDER_MARK.len() } else { 0 },
            block: usize::MAX,
            marks: Marks::default(),
            known: [NOWHERE; 2],
            one_line: false,
            high: false,
            numbered: false,
            watching: false,
            watched_len: 0,
            watched: Watched::default(),
        }
    }

    /// Starts at the first byte of a line, whose end is not known yet: nothing behind the next newline is read.
    pub fn line(bytes: &'a [u8]) -> Self {
        Self {
            one_line: true,
            ..Self::new(bytes)
        }
    }

    /// Starts at the first byte of a text of which two values were read before: they are passed over at once.
    pub fn around(bytes: &'a [u8], known: [Span; 2]) -> Self {
        let mut known = known.map(|k| if k.is_empty() { NOWHERE } else { k });
        known.sort();
        Self {
            known,
            ..Self::new(bytes)
        }
    }

    /// Watches for strings, keys included, of so many bytes between their quotes.
    pub fn watch(&mut self, len: usize) {
        self.watched_len = len + 2;
        self.watching = true;
    }

    /// Goes on watching, or not; whether it did until now.
    pub fn keep_watching(&mut self, on: bool) -> bool {
        std::mem::replace(&mut self.watching, on)
    }

    /// What was watched for and seen.
    pub fn watched(&self) -> &Watched {
        &self.watched
    }

    /// Whether any string that was passed, or what stands around it, has bytes that are not ASCII.
    pub fn saw_high_bytes(&self) -> bool {
        self.high
    }

    /// Whether any string that was passed spells a character by its number (`\u0041`).
    pub fn saw_numbered_characters(&self) -> bool {
        self.numbered
    }

    /// The offset of the next byte.
    pub fn position(&self) -> usize {
        self.pos
    }

    /// What comes next, after any white space.
    pub fn peek(&mut self) -> Result<Token> {
        self.white();
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

    /// The next key (its span without the quotes), leaving the cursor at its value; `None` past the `}`.
    ///
    /// `first` is true for the first call and is cleared by it.
    pub fn next_key(&mut self, first: &mut bool) -> Result<Option<Span>> {
        self.white();
        match self.bytes.get(self.pos) {
            Some(b'}') => {
                self.pos += 1;
                return Ok(None);
            }
            Some(b',') if !*first => {
                self.pos += 1;
                self.white();
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

    /// Moves to the next element; false past the `]`.
    pub fn next_element(&mut self, first: &mut bool) -> Result<bool> {
        self.white();
        match self.bytes.get(self.pos) {
            Some(b']') => {
                self.pos += 1;
                return Ok(false);
            }
            Some(b',') if !*first => {
                self.pos += 1;
                self.white();
            }
            Some(_) if *first => {}
            _ => return Err(self.bad()),
        }
        *first = false;
        Ok(true)
    }

    /// Passes over one value of any kind and depth; its span, quotes and brackets included.
    pub fn skip(&mut self) -> Result<Span> {
        self.white();
        let start = self.pos;
        // One bit a level tells objects from arrays; no recursion, so no depth can overflow the stack.
        let mut stack = Stack::default();
        loop {
            self.white();
            match *self.bytes.get(self.pos).ok_or_else(|| self.bad())? {
                _ if self.pos >= self.known[0].start as usize && self.pass_known() => {}
                b'{' => {
                    self.pos += 1;
                    self.white();
                    if self.bytes.get(self.pos) == Some(&b'}') {
                        self.pos += 1;
                    } else {
                        stack.push(true);
                        self.key()?;
                        continue;
                    }
                }
                b'[' => {
                    self.pos += 1;
                    self.white();
                    if self.bytes.get(self.pos) == Some(&b']') {
                        self.pos += 1;
                    } else {
                        stack.push(false);
                        continue;
                    }
                }
                b'"' => {
                    self.string()?;
                }
                _ => self.scalar()?,
            }
            // A value ended: close what ends with it, or go on after a comma.
            loop {
                let Some(object) = stack.top() else {
                    return Ok(Span::new(start, self.pos));
                };
                self.white();
                match self.bytes.get(self.pos) {
                    Some(b',') => {
                        self.pos += 1;
                        if object {
                            self.white();
                            self.key()?;
                        }
                        break;
                    }
                    Some(b'}') if object => {
                        self.pos += 1;
                        stack.pop();
                    }
                    Some(b']') if !object => {
                        self.pos += 1;
                        stack.pop();
                    }
                    _ => return Err(self.bad()),
                }
            }
        }
    }

    /// Passes over the known value that begins here, if one does.
    #[cold]
    fn pass_known(&mut self) -> bool {
        let [next, later] = self.known;
        self.known = [later, NOWHERE];
        let here = next.start as usize == self.pos;
        if here {
            self.pos = next.end as usize;
        }
        here || self.pos >= later.start as usize && self.pass_known()
    }

    /// Passes over this value, if it is what comes next; it must be known to be a whole string, object or array.
    pub fn pass(&mut self, value: &[u8]) -> bool {
        self.white();
        let closed = matches!(value.first(), Some(b'"' | b'{' | b'['));
        let next = closed && self.bytes[self.pos..].starts_with(value);
        self.pos += if next { value.len() } else { 0 };
        next
    }

    /// Passes over fields that begin with the key which was just read, at `start`, if they are these; they must have been read
    /// before as such, and end with a string. `watched` is where among them those strings are that are watched for.
    pub fn pass_from(&mut self, start: usize, fields: &[u8], watched: &[usize]) -> bool {
        let here = self.bytes[start..].starts_with(fields);
        if here {
            self.pos = start + fields.len();
            for at in watched {
                self.watched.add(start + at);
            }
        }
        here
    }

    /// Notes that bytes were passed over which are not ASCII.
    pub fn see_high_bytes(&mut self) {
        self.high = true;
    }

    /// Passes over a string; its span, quotes included.
    #[inline]
    pub fn string(&mut self) -> Result<Span> {
        let span = self.any_string()?;
        if span.len() == self.watched_len && self.watching {
            self.watched.add(span.start as usize + 1);
        }
        Ok(span)
    }

    #[inline]
    fn any_string(&mut self) -> Result<Span> {
        let start = self.pos;
        if self.bytes.get(start) != Some(&b'"') {
            return Err(self.bad());
        }
        self.pos = start + 1;
        // Most are keys, ids and short words, and end in the block that is at hand.
        if self.pos / BLOCK == self.block {
            let quotes = self.marks.quotes >> (self.pos % BLOCK);
            let len = quotes.trailing_zeros();
            let within = (1_u64.unbounded_shl(len)).wrapping_sub(1);
            if quotes != 0 && self.marks.odd >> (self.pos % BLOCK) & within == 0 {
                self.pos += len as usize + 1;
                return Ok(Span::new(start, self.pos));
            }
        }
        self.rest_of_string()?;
        Ok(Span::new(start, self.pos))
    }

    /// Goes on inside a string, block by block, to behind the quote that ends it.
    #[inline(never)]
    fn rest_of_string(&mut self) -> Result<()> {
        #[cfg(target_arch = "x86_64")]
        if is_x86_feature_detected!("avx2") {
            // SAFETY: the machine was asked whether it has what the function is compiled for.
            #[allow(unsafe_code)]
            return unsafe { self.rest_of_string_wide() };
        }
        self.rest_of_string_by::<false>()
    }

    #[cfg(target_arch = "x86_64")]
    #[target_feature(enable = "avx2")]
    fn rest_of_string_wide(&mut self) -> Result<()> {
        self.rest_of_string_by::<true>()
    }

    /// `WIDE` is for machines that compare 32 bytes at once.
    #[expect(
        clippy::inline_always,
        reason = "it is compiled for what its caller is compiled for"
    )]
    #[inline(always)]
    fn rest_of_string_by<const WIDE: bool>(&mut self) -> Result<()> {
        loop {
            let block = self.pos / BLOCK;
            if block != self.block {
                let escaped = if block == self.block.wrapping_add(1) {
                    self.marks.escapes_next
                } else {
                    is_escaped(self.bytes, block * BLOCK)
                };
                self.block = block;
                self.marks = match WIDE {
                    // SAFETY: only `rest_of_string_wide` asks for it.
                    #[cfg(target_arch = "x86_64")]
                    #[allow(unsafe_code)]
                    true => unsafe { Marks::of_wide(self.bytes, block, escaped) },
                    _ => Marks::of(self.bytes, block, escaped),
                };
                self.high |= self.marks.high;
            }
            let offset = self.pos % BLOCK;
            let quotes = self.marks.quotes >> offset;
            let within = 1_u64.unbounded_shl(quotes.trailing_zeros()).wrapping_sub(1);
            let odd = self.marks.odd >> offset & within;
            if odd != 0 {
                self.look_closer(odd)?;
            }
            if quotes != 0 {
                self.pos += quotes.trailing_zeros() as usize + 1;
                return Ok(());
            }
            self.pos = (block + 1) * BLOCK;
            if self.pos >= self.bytes.len() {
                self.pos = self.bytes.len();
                return Err(self.bad());
            }
        }
    }

    /// Fails unless all that is odd from here on, a bit each, are characters spelt by their numbers.
    #[cold]
    fn look_closer(&mut self, mut odd: u64) -> Result<()> {
        while odd != 0 {
            let at = self.pos + odd.trailing_zeros() as usize;
            let digits = self.bytes.get(at + 1..at + 5);
            let number = digits.is_some_and(|h| h.iter().all(u8::is_ascii_hexdigit));
            if self.bytes.get(at) != Some(&b'u') || !number {
                return Err(Malformed { at });
            }
            self.numbered = true;
            odd &= odd - 1;
        }
        Ok(())
    }

    /// Fails unless nothing but white space is left.
    pub fn finish(&mut self) -> Result<()> {
        self.white();
        if self.pos == self.bytes.len() {
            Ok(())
        } else {
            Err(self.bad())
        }
    }

    fn key(&mut self) -> Result<()> {
        self.string()?;
        self.expect(b':')
    }

    fn expect(&mut self, byte: u8) -> Result<()> {
        self.white();
        if self.bytes.get(self.pos) == Some(&byte) {
            self.pos += 1;
            Ok(())
        } else {
            Err(self.bad())
        }
    }

    /// Fails unless nothing but white space is left of the line; how many bytes it has, and whether a newline ends it.
    pub fn finish_line(&mut self) -> Result<(usize, bool)> {
        self.white();
        match self.bytes.get(self.pos) {
            Some(b'\n') => Ok((self.pos, true)),
            Some(_) => Err(self.bad()),
            None => Ok((self.pos, false)),
        }
    }

    #[inline]
    fn white(&mut self) {
        while let Some(byte @ (b' ' | b'\t' | b'\r' | b'\n')) = self.bytes.get(self.pos) {
            if *byte == b'\n' && self.one_line {
                break;
            }
            self.pos += 1;
        }
    }

    fn scalar(&mut self) -> Result<()> {
        let rest = &self.bytes[self.pos..];
        for word in [&b"true"[..], b"false", b"null"] {
            if rest.starts_with(word) {
                self.pos += word.len();
                return Ok(());
            }
        }
        self.number()
    }

    fn number(&mut self) -> Result<()> {
        if self.bytes.get(self.pos) == Some(&b'-') {
            self.pos += 1;
        }
        match self.bytes.get(self.pos) {
            Some(b'0') => self.pos += 1,
            Some(b'1'..=b'9') => self.digits()?,
            _ => return Err(self.bad()),
        }
        if self.bytes.get(self.pos) == Some(&b'.') {
            self.pos += 1;
            self.digits()?;
        }
        if let Some(b'e' | b'E') = self.bytes.get(self.pos) {
            self.pos += 1;
            if let Some(b'+' | b'-') = self.bytes.get(self.pos) {
                self.pos += 1;
            }
            self.digits()?;
        }
        Ok(())
    }

    fn digits(&mut self) -> Result<()> {
        let start = self.pos;
        while self.bytes.get(self.pos).is_some_and(u8::is_ascii_digit) {
            self.pos += 1;
        }
        if self.pos > start {
            Ok(())
        } else {
            Err(self.bad())
        }
    }

    fn bad(&self) -> Malformed {
        Malformed { at: self.pos }
    }
}

/// The open brackets around the cursor: 64 levels in a word, the rest on the heap.
#[derive(Default)]
struct Stack {
    word: u64,
    depth: usize,
    deep: Vec<u64>,
}

impl Stack {
    fn push(&mut self, object: bool) {
        if self.depth > 0 && self.depth.is_multiple_of(64) {
            self.deep.push(self.word);
        }
        self.word = self.word << 1 | u64::from(object);
        self.depth += 1;
    }

    fn top(&self) -> Option<bool> {
        (self.depth > 0).then_some(self.word & 1 == 1)
    }

    fn pop(&mut self) {
        self.depth -= 1;
        self.word >>= 1;
        if self.depth > 0 && self.depth.is_multiple_of(64) {
            self.word = self.deep.pop().unwrap_or_default();
        }
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
    fn accepts_what_the_client_would() {
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
    fn refuses_what_the_client_would() {
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
    fn any_depth_is_read() {
        for depth in [1, 63, 64, 65, 128, 129, 1000, 100_000] {
            let text = [r#"{"a":["#.repeat(depth), "]}".repeat(depth)].concat();
            assert!(accepts(text.as_bytes()), "{depth}");
            let torn = &text[..text.len() - 1];
            assert!(!accepts(torn.as_bytes()), "{depth} torn");
        }
    }

    proptest! {
        #[test]
        fn agrees_with_serde_json(text in r#"([\[\]{},:"a\\u0-9eE.+\- \t]|true|false|null|"[ab]*"|\\ud83d){0,24}"#) {
            prop_assert_eq!(accepts(text.as_bytes()), serde_accepts(text.as_bytes()));
        }

        #[test]
        fn agrees_with_serde_json_on_values(value in proptest::collection::vec(proptest::arbitrary::any::<(f64, String, bool)>(), 0..4)) {
            let text = serde_json::to_vec(&value).unwrap();
            prop_assert!(accepts(&text));
        }
    }
}
