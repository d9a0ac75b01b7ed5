//! Finds quotes, escapes and control characters in 64 bytes at once.

use wide::u8x16;

/// How many bytes are scanned together: each is one bit of a word.
pub(crate) const BLOCK: usize = 64;

/// What is where in one block of bytes of a text in which backslashes occur only in strings.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(crate) struct Marks {
    /// Quotes that are not escaped: each begins or ends a string.
    pub(crate) quotes: u64,
    /// Bytes that may be wrong in a string: control characters, and escaped ones other than `"\\/bfnrt`, which includes
    /// the `u` of `\\u0041`.
    pub(crate) odd: u64,
    /// Whether the first byte after the block is escaped.
    pub(crate) escapes_next: bool,
    /// Some byte is not ASCII.
    pub(crate) high: bool,
}

/// Every other bit of a word.
const ODD_BITS: u64 = 0xaaaa_aaaa_aaaa_aaaa;

/// Where the characters are that matter in strings, escaped or not.
struct Planes {
    quotes: u64,
    backslashes: u64,
    controls: u64,
    high: bool,
}

impl Marks {
    /// Marks the block with this number; nothing is marked after the end of the text.
    ///
    /// `escaped` says whether its first byte is escaped; see [`is_escaped`].
    #[inline]
    pub(crate) fn of(text: &[u8], block: usize, escaped: bool) -> Self {
        let rest = text.get(block * BLOCK..).unwrap_or_default();
        match rest.first_chunk() {
            Some(whole) => Self::of_whole(whole, escaped),
            None => Self::of_whole(&padded(rest), escaped),
        }
    }

    #[inline]
    fn of_whole(bytes: &[u8; BLOCK], escaped: bool) -> Self {
        let planes = planes(bytes);
        if planes.are_plain(escaped) {
            planes.plain()
        } else {
            planes.escaped(escaped, letters_of_escapes(bytes))
        }
    }

    /// Returns the same as [`Marks::of`], for processors that compare 32 bytes at once. The functions it calls have no
    /// closures, because those would not be inlined.
    #[cfg(target_arch = "x86_64")]
    #[target_feature(enable = "avx2")]
    #[inline]
    pub(crate) fn of_wide(text: &[u8], block: usize, escaped: bool) -> Self {
        let rest = text.get(block * BLOCK..).unwrap_or_default();
        match rest.first_chunk() {
            Some(whole) => Self::of_whole_wide(whole, escaped),
            None => Self::of_whole_wide(&padded(rest), escaped),
        }
    }

    #[cfg(target_arch = "x86_64")]
    #[target_feature(enable = "avx2")]
    #[inline]
    fn of_whole_wide(bytes: &[u8; BLOCK], escaped: bool) -> Self {
        let planes = wide_registers::planes(bytes);
        if planes.are_plain(escaped) {
            planes.plain()
        } else {
            planes.escaped(escaped, wide_registers::letters_of_escapes(bytes))
        }
    }
}

impl Planes {
    /// Whether nothing in the block is escaped.
    #[inline]
    fn are_plain(&self, first_escaped: bool) -> bool {
        self.backslashes == 0 && !first_escaped
    }

    /// Returns the marks of a block in which nothing is escaped.
    #[inline]
    fn plain(&self) -> Marks {
        Marks {
            quotes: self.quotes,
            odd: self.controls,
            escapes_next: false,
            high: self.high,
        }
    }

    /// Returns the marks of any block; `letters` are the letters that may be escaped.
    #[inline]
    fn escaped(&self, first_escaped: bool, letters: u64) -> Marks {
        let first_escaped = u64::from(first_escaped);
        // Of consecutive backslashes the first, third and so on escape the next byte. The subtraction carries through
        // them, so that all are told apart at once, whether they begin at an even position or at an odd one.
        let starts = self.backslashes & !first_escaped;
        let codes = ((starts << 1 | ODD_BITS).wrapping_sub(starts)) ^ ODD_BITS;
        let escaped = codes ^ (self.backslashes | first_escaped);
        let escapes = codes & self.backslashes;
        Marks {
            quotes: self.quotes & !escaped,
            odd: self.controls | escaped & !(self.quotes | self.backslashes | letters),
            escapes_next: escapes >> (BLOCK - 1) != 0,
            high: self.high,
        }
    }
}

/// Returns the last block of a text, padded with spaces.
fn padded(rest: &[u8]) -> [u8; BLOCK] {
    let mut padded = [b' '; BLOCK];
    padded[..rest.len()].copy_from_slice(rest);
    padded
}

#[inline]
fn planes(bytes: &[u8; BLOCK]) -> Planes {
    let (mut quotes, mut backslashes, mut controls) = (0, 0, 0);
    let mut all = u8x16::default();
    for (shift, lane) in lanes(bytes) {
        quotes |= bits(lane.simd_eq(u8x16::splat(b'"')), shift);
        backslashes |= bits(lane.simd_eq(u8x16::splat(b'\\')), shift);
        controls |= bits(lane.simd_eq(lane.min(u8x16::splat(0x1f))), shift);
        all |= lane;
    }
    Planes {
        quotes,
        backslashes,
        controls,
        high: all.to_bitmask() != 0,
    }
}

/// Returns where one of `/bfnrt` is.
#[inline]
fn letters_of_escapes(bytes: &[u8; BLOCK]) -> u64 {
    let mut found = 0;
    for (shift, lane) in lanes(bytes) {
        let is = |letter| lane.simd_eq(u8x16::splat(letter));
        // `b` and `f` differ in one bit.
        let b_or_f = (lane | u8x16::splat(4)).simd_eq(u8x16::splat(b'f'));
        found |= bits(b_or_f | is(b'n') | is(b'r') | is(b't') | is(b'/'), shift);
    }
    found
}

/// Whether the byte at `at` is escaped by the backslashes before it.
pub(crate) fn is_escaped(text: &[u8], at: usize) -> bool {
    let before = text.get(..at).unwrap_or_default();
    let run = before.iter().rev().take_while(|b| **b == b'\\');
    run.count() % 2 == 1
}

const LANES: usize = 16;

/// Returns a block in pieces that are compared at once, each with the position of its first bit.
#[inline]
fn lanes(bytes: &[u8; BLOCK]) -> impl Iterator<Item = (usize, u8x16)> + '_ {
    let lanes = bytes.as_chunks::<LANES>().0.iter().enumerate();
    lanes.map(|(i, lane)| (i * LANES, u8x16::new(*lane)))
}

#[inline]
fn bits(lane: u8x16, shift: usize) -> u64 {
    u64::from(lane.to_bitmask()) << shift
}

/// The same with registers of 32 bytes, which not every x86-64 processor has.
///
/// Without it, reading a session of 300 MB takes about a sixth more processor time.
#[cfg(target_arch = "x86_64")]
mod wide_registers {
    use std::arch::x86_64::{
        __m256i, _mm256_cmpeq_epi8, _mm256_min_epu8, _mm256_movemask_epi8, _mm256_or_si256,
        _mm256_set1_epi8, _mm256_setr_epi8, _mm256_shuffle_epi8,
    };

    use super::{BLOCK, Planes};

    #[target_feature(enable = "avx2")]
    #[inline]
    fn lanes(bytes: &[u8; BLOCK]) -> (__m256i, __m256i) {
        let [first, second]: [[u8; 32]; 2] = bytemuck::cast(*bytes);
        (bytemuck::cast(first), bytemuck::cast(second))
    }

    #[target_feature(enable = "avx2")]
    #[inline]
    fn is(lane: __m256i, byte: u8) -> __m256i {
        _mm256_cmpeq_epi8(lane, _mm256_set1_epi8(byte.cast_signed()))
    }

    #[target_feature(enable = "avx2")]
    #[inline]
    fn control(lane: __m256i) -> __m256i {
        _mm256_cmpeq_epi8(lane, _mm256_min_epu8(lane, _mm256_set1_epi8(0x1f)))
    }

    #[target_feature(enable = "avx2")]
    #[inline]
    fn letter(lane: __m256i) -> __m256i {
        // Except for `r`, each letter is the only one with its last four bits.
        let table = _mm256_setr_epi8(
            -1, -1, B, -1, T, -1, F, -1, -1, -1, -1, -1, -1, -1, N, SLASH, -1, -1, B, -1, T, -1, F,
            -1, -1, -1, -1, -1, -1, -1, N, SLASH,
        );
        let others = _mm256_cmpeq_epi8(_mm256_shuffle_epi8(table, lane), lane);
        _mm256_or_si256(others, is(lane, b'r'))
    }

    const B: i8 = b'b'.cast_signed();
    const F: i8 = b'f'.cast_signed();
    const N: i8 = b'n'.cast_signed();
    const T: i8 = b't'.cast_signed();
    const SLASH: i8 = b'/'.cast_signed();

    #[target_feature(enable = "avx2")]
    #[inline]
    fn bits(first: __m256i, second: __m256i) -> u64 {
        let low = _mm256_movemask_epi8(first).cast_unsigned();
        let high = _mm256_movemask_epi8(second).cast_unsigned();
        u64::from(low) | u64::from(high) << 32
    }

    #[target_feature(enable = "avx2")]
    #[inline]
    pub(crate) fn planes(bytes: &[u8; BLOCK]) -> Planes {
        let (a, b) = lanes(bytes);
        Planes {
            quotes: bits(is(a, b'"'), is(b, b'"')),
            backslashes: bits(is(a, b'\\'), is(b, b'\\')),
            controls: bits(control(a), control(b)),
            high: _mm256_movemask_epi8(_mm256_or_si256(a, b)) != 0,
        }
    }

    #[target_feature(enable = "avx2")]
    #[inline]
    pub(crate) fn letters_of_escapes(bytes: &[u8; BLOCK]) -> u64 {
        let (a, b) = lanes(bytes);
        bits(letter(a), letter(b))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn scan_marks_every_byte(text in proptest::collection::vec(prop_oneof![Just(b'"'), Just(b'\\'), Just(b'\\'), Just(b'n'), any::<u8>()], 0..200)) {
            for block in 0..5 {
                let marks = Marks::of(&text, block, is_escaped(&text, block * BLOCK));
                let bytes = &text[(block * BLOCK).min(text.len())..((block + 1) * BLOCK).min(text.len())];
                for i in 0..BLOCK {
                    let byte = bytes.get(i).copied().unwrap_or(b' ');
                    let escaped = is_escaped(&text, block * BLOCK + i);
                    prop_assert_eq!(marks.quotes >> i & 1 == 1, byte == b'"' && !escaped);
                    let known = matches!(byte, b'"' | b'\\' | b'/' | b'b' | b'f' | b'n' | b'r' | b't');
                    prop_assert_eq!(marks.odd >> i & 1 == 1, matches!(byte, 0..0x20) || escaped && !known, "{} in block {}", i, block);
                }
                if (block + 1) * BLOCK <= text.len() {
                    prop_assert_eq!(marks.escapes_next, is_escaped(&text, (block + 1) * BLOCK));
                }
                prop_assert_eq!(marks.high, !bytes.is_ascii());
            }
        }
    }
}
