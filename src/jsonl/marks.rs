//! Finds what can end a stretch of string in 64 bytes at once.

use wide::u8x16;

/// How many bytes are looked at together: a bit of a word for each.
pub(super) const BLOCK: usize = 64;

/// What stands where in one block of bytes.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct Marks {
    /// Quotes.
    pub(super) quotes: u64,
    /// Quotes, backslashes and control characters: where reading a string has to look twice.
    pub(super) stops: u64,
    /// Some byte is not ASCII.
    pub(super) high: bool,
}

impl Marks {
    /// Marks the block with this number; past the end of the text nothing is marked.
    #[inline]
    pub(super) fn of(text: &[u8], block: usize) -> Self {
        let rest = text.get(block * BLOCK..).unwrap_or_default();
        match rest.first_chunk() {
            Some(whole) => Self::of_whole(whole),
            None => {
                let mut padded = [b' '; BLOCK];
                padded[..rest.len()].copy_from_slice(rest);
                Self::of_whole(&padded)
            }
        }
    }

    #[inline]
    fn of_whole(bytes: &[u8; BLOCK]) -> Self {
        const LANES: usize = 16;
        let mut marks = Self::default();
        let mut all = u8x16::default();
        for (i, lane) in bytes.as_chunks::<LANES>().0.iter().enumerate() {
            let lane = u8x16::new(*lane);
            let quote = lane.simd_eq(u8x16::splat(b'"'));
            let escape = lane.simd_eq(u8x16::splat(b'\\'));
            let control = lane.simd_eq(lane.min(u8x16::splat(0x1f)));
            let stop = quote | escape | control;
            marks.quotes |= u64::from(quote.to_bitmask()) << (i * LANES);
            marks.stops |= u64::from(stop.to_bitmask()) << (i * LANES);
            all |= lane;
        }
        marks.high = all.to_bitmask() != 0;
        marks
    }
}

/// Where `width` bytes stand between two quotes, each by its first byte: candidates for ids of that length, found
/// without looking at one quote after the other.
///
/// The quotes may be escaped, and others may stand between them.
pub fn between_quotes(text: &[u8], width: usize) -> impl Iterator<Item = usize> + '_ {
    let gap = width + 1;
    assert!(gap < BLOCK, "both quotes lie in two neighbouring blocks");
    let mut next = Marks::of(text, 0).quotes;
    (0..text.len().div_ceil(BLOCK)).flat_map(move |block| {
        let here = next;
        next = Marks::of(text, block + 1).quotes;
        let mut pairs = here & (here >> gap | next << (BLOCK - gap));
        std::iter::from_fn(move || {
            let bit = (pairs != 0).then(|| pairs.trailing_zeros() as usize)?;
            pairs &= pairs - 1;
            Some(block * BLOCK + bit + 1)
        })
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn finds_every_pair_of_quotes(text in proptest::collection::vec(prop_oneof![Just(b'"'), Just(b'a')], 0..300), width in 1..62usize) {
            let expected: Vec<usize> = (1..text.len()).filter(|&i| text[i - 1] == b'"' && text.get(i + width) == Some(&b'"')).collect();
            prop_assert_eq!(between_quotes(&text, width).collect::<Vec<_>>(), expected);
        }

        #[test]
        fn marks_what_is_there(text in proptest::collection::vec(prop_oneof![Just(b'"'), Just(b'\\'), any::<u8>()], 0..200)) {
            for block in 0..5 {
                let marks = Marks::of(&text, block);
                let bytes = &text[(block * BLOCK).min(text.len())..((block + 1) * BLOCK).min(text.len())];
                for i in 0..BLOCK {
                    let byte = bytes.get(i).copied().unwrap_or(b' ');
                    prop_assert_eq!(marks.quotes >> i & 1 == 1, byte == b'"');
                    prop_assert_eq!(marks.stops >> i & 1 == 1, matches!(byte, b'"' | b'\\' | 0..0x20));
                }
                prop_assert_eq!(marks.high, !bytes.is_ascii());
            }
        }
    }
}
