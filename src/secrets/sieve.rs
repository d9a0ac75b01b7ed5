//! Finds out fast whether a text has any of some hundred keywords.
//!
//! An automaton of all keywords takes one step for each byte, and each step waits for the one before: 250 MB/s on one core.
//! The sieve looks at three bytes at every place, independently of the other places, and compares a keyword only where its
//! rarest three bytes are: 1 GB/s and more.

use rustc_hash::FxHashMap;

/// How many bytes of a keyword are looked at.
const GRAM: usize = 3;

/// Turns capital letters into small ones, for three bytes at once. Some other bytes become the same, which only costs time.
const FOLD: u32 = 0x0020_2020;

/// How many numbers the bitmap has.
const BITS: usize = 1 << 16;

/// Keywords, found in any case.
#[derive(Debug)]
pub(super) struct Sieve {
    /// A bit for the hash of every three bytes by which a keyword is found.
    bits: Box<[u32; BITS / 32]>,
    /// The keywords by these three bytes.
    words: FxHashMap<u32, Vec<Word>>,
}

/// A keyword, and the place in it of the bytes by which it is found.
#[derive(Debug)]
struct Word {
    at: usize,
    text: Box<[u8]>,
}

impl Sieve {
    /// Returns a sieve for these words; `None` if one of them is too short for it.
    pub(super) fn new<W: AsRef<[u8]>>(words: &[W]) -> Option<Self> {
        let mut sieve = Self {
            bits: Box::new([0; BITS / 32]),
            words: FxHashMap::default(),
        };
        for word in words.iter().map(AsRef::as_ref) {
            match word.len() {
                0 | 1 => return None,
                // Anything may follow it.
                2 => (0..=u8::MAX).for_each(|next| sieve.add(0, [word[0], word[1], next], word)),
                _ => {
                    let grams = word.windows(GRAM).enumerate();
                    let (at, rarest) = grams.min_by_key(|(_, gram)| commonness(gram))?;
                    sieve.add(at, [rarest[0], rarest[1], rarest[2]], word);
                }
            }
        }
        Some(sieve)
    }

    fn add(&mut self, at: usize, bytes: [u8; GRAM], word: &[u8]) {
        let gram = gram([bytes[0], bytes[1], bytes[2], 0]);
        let words = self.words.entry(gram).or_default();
        if !words.iter().any(|known| *known.text == *word) {
            let text = word.into();
            words.push(Word { at, text });
        }
        let hash = hash(gram);
        self.bits[hash / 32] |= 1 << (hash % 32);
    }

    /// Returns whether a text contains one of the words.
    pub(super) fn is_match(&self, text: &[u8]) -> bool {
        let found = |at: usize, bytes: [u8; GRAM + 1]| {
            let gram = gram(bytes);
            let hash = hash(gram);
            self.bits[hash / 32] >> (hash % 32) & 1 != 0 && self.has_word(text, at, gram)
        };
        let mut windows = text.windows(GRAM + 1).enumerate();
        if windows.any(|(at, w)| found(at, [w[0], w[1], w[2], w[3]])) {
            return true;
        }
        // The last places have fewer bytes after them.
        (text.len().saturating_sub(GRAM)..text.len()).any(|at| {
            let byte = |n: usize| text.get(at + n).copied().unwrap_or_default();
            found(at, [byte(0), byte(1), byte(2), 0])
        })
    }

    /// Returns whether a word with these three bytes at a place of the text is there.
    fn has_word(&self, text: &[u8], at: usize, gram: u32) -> bool {
        let words = self.words.get(&gram).into_iter().flatten();
        words.into_iter().any(|word| {
            let start = at.checked_sub(word.at);
            let here = start.and_then(|start| text.get(start..start + word.text.len()));
            here.is_some_and(|here| here.eq_ignore_ascii_case(&word.text))
        })
    }
}

fn gram(bytes: [u8; GRAM + 1]) -> u32 {
    u32::from_le_bytes(bytes) & 0x00ff_ffff | FOLD
}

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

    #[test]
    fn sieve_finds_every_keyword_anywhere_and_in_any_case() {
        let words = keywords();
        let sieve = Sieve::new(&words).unwrap();
        for word in &words {
            for text in [word.clone(), format!("größe {word}"), format!("{word} = 1")] {
                assert!(sieve.is_match(text.as_bytes()), "{text}");
                assert!(sieve.is_match(text.to_uppercase().as_bytes()), "{text}");
            }
        }
    }

    #[test]
    fn sieve_needs_words_of_two_bytes() {
        assert!(Sieve::new(&["a"]).is_none());
        let sieve = Sieve::new(&["ab"]).unwrap();
        assert!(sieve.is_match(b"xxAB") && !sieve.is_match(b"xxA") && !sieve.is_match(b""));
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
            let sieve = Sieve::new(&words).unwrap();
            prop_assert_eq!(sieve.is_match(text.as_bytes()), automaton.is_match(&text), "{}", text);
        }
    }
}
