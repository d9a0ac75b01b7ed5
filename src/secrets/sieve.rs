//! Finds out fast whether a text has any of some hundred keywords.
//!
//! An automaton of all keywords takes one step for each byte, and each step waits for the one before: 250 MB/s on one core.
//! The sieve looks at three bytes at every place, independently of the other places, and compares a keyword only where its
//! rarest three bytes are: 1 GB/s and more.

use rustc_hash::FxHashMap;

use super::around::Around;

/// How many bytes of a keyword are looked at.
const GRAM: usize = 3;

/// Turns capital letters into small ones, for three bytes at once. Some other bytes become the same, which only costs time.
const FOLD: u32 = 0x0020_2020;

/// How many numbers the bitmap has.
const BITS: usize = 1 << 16;

/// How many places are looked at together, with one branch for all of them.
const BLOCK: usize = 16;

/// Keywords, found in any case.
#[derive(Debug)]
pub(super) struct Sieve {
    /// A bit for the hash of every three bytes by which a keyword is found.
    bits: Box<[u32; BITS / 32]>,
    /// The keywords by these three bytes.
    words: FxHashMap<u32, Vec<Word>>,
    /// Keywords of a user that have fewer than two bytes.
    short: Vec<Word>,
}

/// A keyword, the place in it of the bytes by which it is found, and what it counts with around it.
#[derive(Debug)]
struct Word {
    at: usize,
    text: Box<[u8]>,
    around: Around,
    owner: usize,
}

impl Default for Sieve {
    fn default() -> Self {
        Self {
            bits: Box::new([0; BITS / 32]),
            words: FxHashMap::default(),
            short: Vec::new(),
        }
    }
}

impl Sieve {
    /// Adds a keyword of an owner that counts with this around it.
    pub(super) fn add(&mut self, text: &[u8], around: &Around, owner: usize) {
        let word = |at: usize| Word {
            at,
            text: text.into(),
            around: around.clone(),
            owner,
        };
        let grams = text.windows(GRAM).enumerate();
        match (text, grams.min_by_key(|(_, gram)| commonness(gram))) {
            (_, Some((at, rarest))) => self.add_at([rarest[0], rarest[1], rarest[2]], word(at)),
            ([first, second], None) => {
                // Anything may follow it. A capital letter would get the same place as the small one.
                let all = (0..=u8::MAX).filter(|next| u32::from(*next) & FOLD != 0);
                all.for_each(|next| self.add_at([*first, *second, next], word(0)));
            }
            _ => self.short.push(word(0)),
        }
    }

    fn add_at(&mut self, bytes: [u8; GRAM], word: Word) {
        let gram = gram([bytes[0], bytes[1], bytes[2], 0]);
        self.words.entry(gram).or_default().push(word);
        let hash = hash(gram);
        self.bits[hash / 32] |= 1 << (hash % 32);
    }

    /// Returns whether a text contains one of the keywords.
    pub(super) fn is_match(&self, text: &[u8]) -> bool {
        self.any(text, |_| true)
    }

    /// Calls `each` with the owners of the keywords in a text. An owner may come again.
    pub(super) fn each_owner(&self, text: &[u8], mut each: impl FnMut(usize)) {
        self.any(text, |word| {
            each(word.owner);
            false
        });
    }

    /// Returns whether a text contains a keyword for which `wanted` holds.
    fn any(&self, text: &[u8], mut wanted: impl FnMut(&Word) -> bool) -> bool {
        let mut at = 0;
        while let Some(block) = text[at..].first_chunk() {
            let mut places = self.places(block);
            while places != 0 {
                if self.any_at(text, at + places.trailing_zeros() as usize, &mut wanted) {
                    return true;
                }
                places &= places - 1;
            }
            at += BLOCK;
        }
        (at..text.len()).any(|at| self.any_at(text, at, &mut wanted))
            || self.short.iter().any(|word| {
                let found = text.windows(word.text.len().max(1));
                let mut found = found.filter(|here| here.eq_ignore_ascii_case(&word.text));
                (word.text.is_empty() || found.next().is_some()) && wanted(word)
            })
    }

    /// Returns a bit for each of the first places of a block at which a word may be.
    #[inline]
    fn places(&self, block: &[u8; BLOCK + GRAM]) -> u32 {
        let mut places = 0;
        for (n, bytes) in block.windows(GRAM + 1).enumerate() {
            let hash = hash(gram([bytes[0], bytes[1], bytes[2], bytes[3]]));
            places |= (self.bits[hash / 32] >> (hash % 32) & 1) << n;
        }
        places
    }

    /// Returns whether a wanted word that is found by the three bytes at a place of the text is there.
    #[inline(never)]
    fn any_at(&self, text: &[u8], at: usize, wanted: &mut impl FnMut(&Word) -> bool) -> bool {
        let byte = |n: usize| text.get(at + n).copied().unwrap_or_default();
        let words = self.words.get(&gram([byte(0), byte(1), byte(2), 0]));
        words.into_iter().flatten().any(|word| {
            let Some(start) = at.checked_sub(word.at) else {
                return false;
            };
            let end = start + word.text.len();
            let here = text.get(start..end);
            here.is_some_and(|here| here.eq_ignore_ascii_case(&word.text))
                && word.around.fits(text, start, end)
                && wanted(word)
        })
    }
}

#[inline]
fn gram(bytes: [u8; GRAM + 1]) -> u32 {
    u32::from_le_bytes(bytes) & 0x00ff_ffff | FOLD
}

#[inline]
fn hash(gram: u32) -> usize {
    (gram.wrapping_mul(0x9e37_79b1) >> 16) as usize
}

/// Returns how often three bytes occur in prose and code, roughly.
fn commonness(gram: &[u8]) -> u32 {
    let one = |byte: &u8| match byte.to_ascii_lowercase() {
        b'e' | b't' | b'a' | b'o' | b'i' | b'n' | b's' | b'r' => 12,
        b'h' | b'l' | b'd' | b'c' | b'u' | b'm' | b'p' | b'f' => 6,
        b'g' | b'w' | b'y' | b'b' | b'v' | b'k' => 3,
        b'-' | b'_' | b'.' | b'/' | b':' | b'=' => 2,
        _ => 1,
    };
    gram.iter().map(one).product()
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::super::rules::{automaton, rules};
    use super::*;

    fn keywords() -> Vec<String> {
        let all = rules().all.iter().flat_map(|rule| rule.keywords.clone());
        all.collect()
    }

    fn sieve<W: AsRef<[u8]>>(words: &[W]) -> Sieve {
        let mut sieve = Sieve::default();
        for (n, word) in words.iter().enumerate() {
            sieve.add(word.as_ref(), &Around::default(), n);
        }
        sieve
    }

    #[test]
    fn sieve_finds_every_keyword_anywhere_and_in_any_case() {
        let words = keywords();
        let sieve = sieve(&words);
        for word in &words {
            for text in [word.clone(), format!("größe {word}"), format!("{word} = 1")] {
                assert!(sieve.is_match(text.as_bytes()), "{text}");
                assert!(sieve.is_match(text.to_uppercase().as_bytes()), "{text}");
            }
        }
    }

    #[test]
    fn sieve_takes_words_of_any_length() {
        let two = sieve(&["ab"]);
        assert!(two.is_match(b"xxAB") && !two.is_match(b"xxA") && !two.is_match(b""));
        let one = sieve(&["q"]);
        assert!(one.is_match(b"xQ") && !one.is_match(b"x") && !one.is_match(b""));
        assert!(sieve(&[""]).is_match(b""));
    }

    proptest! {
        #[test]
        fn sieve_agrees_with_the_automaton(
            pieces in proptest::collection::vec(
                (any::<proptest::sample::Index>(), 0_usize..8, 0_usize..8, ".{0,3}"), 0..6
            )
        ) {
            let words = keywords();
            let mut text = String::new();
            for (word, from, to, between) in pieces {
                let word = word.get(&words);
                text.extend(word.chars().skip(from).take(to));
                text.push_str(&between);
            }
            let automaton = automaton(&words, true).unwrap();
            let sieve = sieve(&words);
            prop_assert_eq!(sieve.is_match(text.as_bytes()), automaton.is_match(&text), "{}", text);
        }
    }
}
