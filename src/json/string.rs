//! How a [`Cursor`] reads strings: 64 bytes at a time.

use super::cursor::{Cursor, Result};
use super::scan::{BLOCK, Marks, is_escaped};
use super::span::{Malformed, Span};

/// The body of [`Cursor::rest_of_string`], once for each way to scan a block: a generic function would not be compiled with
/// the processor features of its caller.
macro_rules! rest_of_string {
    ($cursor:ident, $marks:path) => {
        loop {
            let block = $cursor.pos / BLOCK;
            if block != $cursor.block {
                let escaped = if block == $cursor.block.wrapping_add(1) {
                    $cursor.marks.escapes_next
                } else {
                    is_escaped($cursor.bytes, block * BLOCK)
                };
                $cursor.block = block;
                $cursor.marks = $marks($cursor.bytes, block, escaped);
                $cursor.high |= $cursor.marks.high;
            }
            let offset = $cursor.pos % BLOCK;
            let quotes = $cursor.marks.quotes >> offset;
            let within = 1_u64.unbounded_shl(quotes.trailing_zeros()).wrapping_sub(1);
            let odd = $cursor.marks.odd >> offset & within;
            if odd != 0 {
                $cursor.check_escapes(odd)?;
            }
            if quotes != 0 {
                $cursor.pos += quotes.trailing_zeros() as usize + 1;
                return Ok(());
            }
            $cursor.pos = (block + 1) * BLOCK;
            if $cursor.pos >= $cursor.bytes.len() {
                $cursor.pos = $cursor.bytes.len();
                return Err($cursor.bad());
            }
        }
    };
}

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
        #[cfg(target_arch = "x86_64")]
        if is_x86_feature_detected!("avx2") {
            // SAFETY: the processor has the feature that the function is compiled for.
            #[allow(unsafe_code)]
            return unsafe { self.rest_of_string_wide() };
        }
        self.rest_of_string_narrow()
    }

    fn rest_of_string_narrow(&mut self) -> Result<()> {
        rest_of_string!(self, Marks::of)
    }

    #[cfg(target_arch = "x86_64")]
    #[target_feature(enable = "avx2")]
    fn rest_of_string_wide(&mut self) -> Result<()> {
        rest_of_string!(self, Marks::of_wide)
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

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn strings_end_at_the_same_place_on_every_processor(
            text in proptest::collection::vec(prop_oneof![Just(b'"'), Just(b'\\'), Just(b'n'), 0x20_u8..0x7f, any::<u8>()], 0..300)
        ) {
            let (mut here, mut narrow) = (Cursor::new(&text), Cursor::new(&text));
            while here.pos < text.len() {
                let (ended, expected) = (here.rest_of_string(), narrow.rest_of_string_narrow());
                prop_assert_eq!(ended.is_ok(), expected.is_ok());
                prop_assert_eq!((here.pos, here.marks, here.high), (narrow.pos, narrow.marks, narrow.high));
                if ended.is_err() {
                    break;
                }
            }
        }
    }
}
