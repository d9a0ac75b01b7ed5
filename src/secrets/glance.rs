//! Finds out at a glance that a short text has no secret.
//!
//! Most texts that are shown are titles, names and gists without any keyword. Reading the table of rules for them costs
//! nine million instructions, half of what a small session takes. The keywords are therefore also taken from the
//! table when the program is built.

/// The table of rules, of which only the keywords are read here.
const TABLE: &[u8] = include_bytes!("rules.toml");

/// What the line of a rule's keywords begins with.
const LINE: &[u8] = b"keywords = [";

/// The longest text that is looked at. For longer ones, reading the table costs little in comparison.
const LONGEST: usize = 4096;

/// Where a keyword is in the table.
type Word = (u16, u8);

const _: () = assert!(TABLE.len() <= u16::MAX as usize);

/// How many keywords there are.
const COUNT: usize = collect(&mut []);

/// All keywords, by their first characters.
static WORDS: [Word; COUNT] = {
    let mut words = [(0, 0); COUNT];
    collect(&mut words);
    let mut sorted = [(0, 0); COUNT];
    let (mut first, mut filled) = (0, 0);
    while first < BUCKETS {
        let mut n = 0;
        while n < COUNT {
            if bucket(TABLE[words[n].0 as usize]) == first {
                sorted[filled] = words[n];
                filled += 1;
            }
            n += 1;
        }
        first += 1;
    }
    sorted
};

/// Where the keywords of each first character begin in [`WORDS`].
static STARTS: [u16; BUCKETS + 1] = {
    let mut starts = [0; BUCKETS + 1];
    let mut n = 0;
    while n < COUNT {
        let mut after = bucket(TABLE[WORDS[n].0 as usize]) + 1;
        while after <= BUCKETS {
            starts[after] += 1;
            after += 1;
        }
        n += 1;
    }
    starts
};

/// A bit for every three characters that a keyword begins with.
static BEGINNINGS: [u32; BUCKETS * BUCKETS] = {
    let mut bits = [0; BUCKETS * BUCKETS];
    let mut n = 0;
    while n < COUNT {
        let (at, len) = (WORDS[n].0 as usize, WORDS[n].1);
        assert!(len >= 2);
        let row = bucket(TABLE[at]) * BUCKETS + bucket(TABLE[at + 1]);
        // Anything may follow a keyword of two characters.
        bits[row] |= if len == 2 {
            u32::MAX
        } else {
            1 << bucket(TABLE[at + 2])
        };
        n += 1;
    }
    bits
};

/// How many groups of characters are told apart.
const BUCKETS: usize = 32;

/// The group of a character, the same for a capital and a small letter.
const fn bucket(character: u8) -> usize {
    (character & 31) as usize
}

/// Returns whether a text has no keyword of any rule, and so no secret. False is no more than a suspicion.
pub(super) fn is_clean(text: &str) -> bool {
    let text = text.as_bytes();
    // Codes of a terminal may interrupt a keyword.
    if text.len() > LONGEST || memchr::memchr2(0x1b, b'\\', text).is_some() {
        return false;
    }
    let begins = |at: usize, third: u8| {
        let row = bucket(text[at]) * BUCKETS + bucket(text[at + 1]);
        BEGINNINGS[row] >> bucket(third) & 1 != 0 && begins_with_word(&text[at..])
    };
    let within = text.windows(3).enumerate().any(|(at, w)| begins(at, w[2]));
    let at_end = || text.len() >= 2 && begins(text.len() - 2, 0);
    !(within || at_end())
}

fn begins_with_word(text: &[u8]) -> bool {
    let group = bucket(text[0]);
    let words = &WORDS[STARTS[group] as usize..STARTS[group + 1] as usize];
    words.iter().any(|&(at, len)| {
        let word = &TABLE[at as usize..at as usize + len as usize];
        let head = text.get(..word.len());
        head.is_some_and(|head| head.eq_ignore_ascii_case(word))
    })
}

/// Takes the keywords of the table, as many as fit; returns how many there are.
const fn collect(words: &mut [Word]) -> usize {
    let (mut at, mut count) = (0, 0);
    while at + LINE.len() < TABLE.len() {
        if (at == 0 || TABLE[at - 1] == b'\n') && begins_line(at) {
            at += LINE.len();
            while TABLE[at] != b'\n' {
                if TABLE[at] == b'\'' {
                    let start = at + 1;
                    at = start;
                    while TABLE[at] != b'\'' {
                        at += 1;
                    }
                    if count < words.len() {
                        words[count] = (start as u16, (at - start) as u8);
                    }
                    count += 1;
                }
                at += 1;
            }
        }
        at += 1;
    }
    count
}

/// Whether the line at a place of the table lists keywords.
const fn begins_line(at: usize) -> bool {
    let mut n = 0;
    while n < LINE.len() {
        if TABLE[at + n] != LINE[n] {
            return false;
        }
        n += 1;
    }
    true
}

#[cfg(test)]
mod tests {
    use super::super::rules::rules;
    use super::*;

    #[test]
    fn a_glance_suspects_every_keyword_of_every_rule() {
        let mut count = 0;
        for rule in &rules().all {
            assert!(!rule.keywords.is_empty(), "{} has no keyword", rule.id);
            for word in &rule.keywords {
                count += 1;
                for word in [word.clone(), word.to_ascii_uppercase()] {
                    assert!(!is_clean(&word), "{word}");
                    assert!(!is_clean(&format!("größe {word}x")), "{word}");
                }
            }
        }
        assert_eq!(count, COUNT);
    }

    #[test]
    fn a_glance_clears_plain_titles_only() {
        assert!(is_clean("Make the parser keep what it does not know"));
        assert!(is_clean(""));
        assert!(!is_clean("\u{1b}[1mtitle"));
        assert!(!is_clean(&"long ".repeat(1000)));
    }
}
