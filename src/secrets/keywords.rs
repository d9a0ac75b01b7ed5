//! Finds the keywords of the built-in rules in a text, without reading the table of rules.
//!
//! Reading the whole table and making an automaton of its keywords takes 25 million instructions, as much as everything
//! else that is done with a session of 2 MB. The keywords are therefore taken from the table when the program is built,
//! and only the rules whose keywords occur are ever read.

/// The table of rules.
const TABLE: &str = include_str!("rules.toml");

/// What the line of a rule's keywords begins with.
const KEYWORDS: &[u8] = b"keywords = [";

/// What a rule begins with.
const RULE: &[u8] = b"[[rules]]";

/// Where a keyword is in the table, and its length.
type Word = (u16, u8);

const _: () = assert!(TABLE.len() <= u16::MAX as usize);

/// How many rules there are.
pub(super) const RULES: usize = rule_starts(&mut []);

/// Where each rule begins in the table.
static RULE_STARTS: [u16; RULES] = {
    let mut starts = [0; RULES];
    rule_starts(&mut starts);
    starts
};

/// How many keywords there are.
const COUNT: usize = collect(&mut []);

/// All keywords, by their first two characters.
static WORDS: [Word; COUNT] = {
    let mut words = [(0, 0); COUNT];
    collect(&mut words);
    let mut sorted = 1;
    while sorted < COUNT {
        let word = words[sorted];
        let row = row_of(word);
        let mut at = sorted;
        while at > 0 && row_of(words[at - 1]) > row {
            words[at] = words[at - 1];
            at -= 1;
        }
        words[at] = word;
        sorted += 1;
    }
    words
};

/// Where the keywords of each two first characters begin in [`WORDS`].
static STARTS: [u16; ROWS + 1] = {
    let mut starts = [0; ROWS + 1];
    let mut n = 0;
    while n < COUNT {
        starts[row_of(WORDS[n]) + 1] += 1;
        n += 1;
    }
    let mut row = 0;
    while row < ROWS {
        starts[row + 1] += starts[row];
        row += 1;
    }
    starts
};

/// A bit for every three characters that a keyword begins with.
static BEGINNINGS: [u32; ROWS] = {
    let mut bits = [0; ROWS];
    let mut n = 0;
    while n < COUNT {
        let (at, len) = WORDS[n];
        assert!(len >= 2);
        // Anything may follow a keyword of two characters.
        bits[row_of(WORDS[n])] |= if len == 2 {
            u32::MAX
        } else {
            1 << group(TABLE.as_bytes()[at as usize + 2])
        };
        n += 1;
    }
    bits
};

/// How many groups of characters are told apart.
const GROUPS: usize = 32;

/// How many pairs of groups there are.
const ROWS: usize = GROUPS * GROUPS;

/// The group of a character, the same for a capital and a small letter.
const fn group(character: u8) -> usize {
    (character & 31) as usize
}

/// The pair of groups that a keyword begins with.
const fn row_of(word: Word) -> usize {
    let at = word.0 as usize;
    group(TABLE.as_bytes()[at]) * GROUPS + group(TABLE.as_bytes()[at + 1])
}

/// Returns the text of one rule.
pub(super) fn rule_text(number: usize) -> &'static str {
    let end = RULE_STARTS.get(number + 1);
    let end = end.map_or(TABLE.len(), |end| usize::from(*end));
    &TABLE[usize::from(RULE_STARTS[number])..end]
}

/// Returns whether a text has no keyword of any built-in rule, in any case of letters, and so no secret.
pub(super) fn is_clean(text: &[u8]) -> bool {
    !any_word(text, |_| true)
}

/// Calls `each` with the numbers of the rules whose keywords are in a text. A number may come again.
pub(super) fn each_rule(text: &[u8], mut each: impl FnMut(usize)) {
    any_word(text, |(at, _)| {
        each(RULE_STARTS.partition_point(|start| *start <= at) - 1);
        false
    });
}

/// Returns whether a text has a keyword for which `wanted` holds.
fn any_word(text: &[u8], mut wanted: impl FnMut(Word) -> bool) -> bool {
    let mut row = 0;
    for (third, &character) in text.iter().enumerate() {
        let group = group(character);
        if BEGINNINGS[row] >> group & 1 != 0
            && third >= 2
            && any_word_at(&text[third - 2..], row, &mut wanted)
        {
            return true;
        }
        row = (row * GROUPS + group) % ROWS;
    }
    text.len() >= 2 && any_word_at(&text[text.len() - 2..], row, &mut wanted)
}

/// Returns whether a text, whose first two characters are those of a row, begins with a wanted keyword.
fn any_word_at(text: &[u8], row: usize, wanted: &mut impl FnMut(Word) -> bool) -> bool {
    let words = &WORDS[usize::from(STARTS[row])..usize::from(STARTS[row + 1])];
    words.iter().any(|&(at, len)| {
        let word = &TABLE.as_bytes()[usize::from(at)..][..usize::from(len)];
        let head = text.get(..word.len());
        head.is_some_and(|head| head.eq_ignore_ascii_case(word)) && wanted((at, len))
    })
}

/// Notes where the rules begin, as many as fit; returns how many there are.
const fn rule_starts(starts: &mut [u16]) -> usize {
    let (mut at, mut count) = (0, 0);
    while at + RULE.len() < TABLE.len() {
        if begins_line(at, RULE) {
            if count < starts.len() {
                starts[count] = at as u16;
            }
            count += 1;
        }
        at += 1;
    }
    count
}

/// Takes the keywords of the table, as many as fit; returns how many there are.
const fn collect(words: &mut [Word]) -> usize {
    let table = TABLE.as_bytes();
    let (mut at, mut count) = (0, 0);
    while at + KEYWORDS.len() < table.len() {
        if begins_line(at, KEYWORDS) {
            at += KEYWORDS.len();
            while table[at] != b'\n' {
                if table[at] == b'\'' {
                    let start = at + 1;
                    at = start;
                    while table[at] != b'\'' {
                        // The strings of JSON are looked at one by one: see `mask_json`.
                        assert!(table[at] != b'"');
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

/// Whether a line of the table begins at a place, with these characters.
const fn begins_line(at: usize, with: &[u8]) -> bool {
    let table = TABLE.as_bytes();
    if at > 0 && table[at - 1] != b'\n' {
        return false;
    }
    let mut n = 0;
    while n < with.len() {
        if table[at + n] != with[n] {
            return false;
        }
        n += 1;
    }
    true
}

#[cfg(test)]
mod tests {
    use super::super::rules::{built_in_rule, rules};
    use super::*;

    /// The rules whose keywords are in a text.
    fn suspected(text: &str) -> Vec<usize> {
        let mut found = Vec::new();
        each_rule(text.as_bytes(), |rule| found.push(rule));
        found.sort_unstable();
        found.dedup();
        found
    }

    #[test]
    fn keywords_lead_to_their_rules() {
        let mut count = 0;
        for (number, rule) in rules().all.iter().enumerate() {
            for word in &rule.keywords {
                count += 1;
                for word in [word.clone(), word.to_ascii_uppercase()] {
                    for text in [word.clone(), format!("größe {word}x"), format!("a{word}")] {
                        assert!(suspected(&text).contains(&number), "{text}");
                        assert!(!is_clean(text.as_bytes()), "{text}");
                    }
                }
            }
        }
        assert_eq!(count, COUNT);
        assert_eq!(rules().all.len(), RULES);
    }

    #[test]
    fn rules_read_one_by_one_are_those_of_the_table() {
        for (number, rule) in rules().all.iter().enumerate() {
            let one = built_in_rule(number).expect("a rule");
            assert_eq!(format!("{one:?}"), format!("{rule:?}"));
        }
    }

    #[test]
    fn plain_titles_have_no_keyword() {
        assert!(is_clean(b"Make the parser keep what it does not know"));
        assert!(is_clean(b""));
        assert!(is_clean(b"s"));
    }
}
