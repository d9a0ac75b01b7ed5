//! How a [`Cursor`] reads strings: 64 bytes at a time.

use super::cursor::{Cursor, Result};
use super::scan::{BLOCK, Marks, is_escaped};
use super::span::{Malformed, Span};

impl Cursor<'_> {
    /// Skips a string and returns its span, quotes included.
    #[inline]
    pub fn string(&mut self) -> Result<Span> {
        let span = self.any_string()?;
        if span.len() == self.recorded_len && self.recording {
            self.recorded.add(span.start as usize + 1);
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
        // Most strings are keys, ids and short words, and end in the block that was scanned last.
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

    /// Continues inside a string, block by block, until after the quote that ends it.
    #[inline(never)]
    fn rest_of_string(&mut self) -> Result<()> {
        loop {
            let block = self.pos / BLOCK;
            if block != self.block {
                let escaped = if block == self.block.wrapping_add(1) {
                    self.marks.escapes_next
                } else {
                    is_escaped(self.bytes, block * BLOCK)
                };
                self.block = block;
                self.marks = Marks::of(self.bytes, block, escaped);
                self.high |= self.marks.high;
            }
            let offset = self.pos % BLOCK;
            let quotes = self.marks.quotes >> offset;
            let within = 1_u64.unbounded_shl(quotes.trailing_zeros()).wrapping_sub(1);
            let odd = self.marks.odd >> offset & within;
            if odd != 0 {
                self.check_escapes(odd)?;
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

    /// Fails unless every odd byte from here on, one bit each, belongs to a `\u0041`-like escape.
    #[cold]
    fn check_escapes(&mut self, mut odd: u64) -> Result<()> {
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
}
