//! Chooses the lines of an output that matter when the rest is removed.

use std::sync::LazyLock;

use aho_corasick::AhoCorasick;

/// The most lines that are chosen because they report a failure.
const FAILURES: usize = 8;

/// The most lines of an outline.
const DEFINITIONS: usize = 60;

/// Lines are cut after this many bytes.
const WIDTH: usize = 200;

/// The fewest and the most bytes that may be chosen, and the part of the output in between.
const ROOM: (usize, usize, usize) = (240, 3_000, 8);

/// Words that begin a definition, after words such as `pub` and `export`.
const DEFINES: [&str; 18] = [
    "fn",
    "func",
    "function",
    "def",
    "class",
    "struct",
    "enum",
    "trait",
    "impl",
    "interface",
    "type",
    "module",
    "mod",
    "namespace",
    "macro_rules!",
    "describe",
    "protocol",
    "record",
];

/// Words that can stand before those.
const QUALIFIES: [&str; 16] = [
    "pub",
    "pub(crate)",
    "pub(super)",
    "export",
    "default",
    "async",
    "static",
    "public",
    "private",
    "protected",
    "abstract",
    "final",
    "unsafe",
    "const",
    "extern",
    "declare",
];

/// Words of lines that report a failure, in lower case.
const FAILS: [&str; 8] = [
    "error",
    "fail",
    "panic",
    "exception",
    "traceback",
    "fatal",
    "assert",
    "denied",
];

/// Words of lines that report that nothing failed.
const GOOD_NEWS: [&str; 4] = ["0 failed", "0 errors", "no errors", "0 failures"];

/// Returns an outline of a file that was read: its definitions or headings, with the numbers of their lines. Empty if it
/// has none.
pub(crate) fn outline<'a>(lines: &[&'a str]) -> Vec<&'a str> {
    let size: usize = lines.iter().map(|l| l.len() + 1).sum();
    let all: Vec<(&str, bool)> = lines
        .iter()
        .filter_map(|line| {
            let text = without_number(line);
            is_definition(text).then(|| (clip(line, WIDTH), text.starts_with([' ', '\t'])))
        })
        .collect();
    let every: Vec<&str> = all.iter().map(|(line, _)| *line).collect();
    let room = room(size);
    if every.len() <= DEFINITIONS && every.iter().map(|l| l.len() + 1).sum::<usize>() <= room {
        return every;
    }
    // There are too many: those that are not inside others come first.
    let outer = all.iter().filter(|(_, nested)| !nested);
    within(outer.map(|(line, _)| *line).take(DEFINITIONS), room)
}

/// Returns the lines of an output that report failures.
pub(crate) fn failures<'a>(lines: &[&'a str]) -> Vec<&'a str> {
    let size: usize = lines.iter().map(|l| l.len() + 1).sum();
    let failed = lines.iter().filter(|line| is_failure(line));
    within(
        failed.map(|line| clip(line, WIDTH)).take(FAILURES),
        room(size),
    )
}

/// Cuts a line after so many bytes.
pub(crate) fn clip(line: &str, width: usize) -> &str {
    let end = (0..=width.min(line.len()))
        .rev()
        .find(|&at| line.is_char_boundary(at));
    &line[..end.unwrap_or(0)]
}

/// Returns the bytes that may be chosen of an output of this size.
fn room(size: usize) -> usize {
    let (least, most, part) = ROOM;
    (size / part).clamp(least, most)
}

/// Returns the lines from the first on that fit.
fn within<'a>(lines: impl Iterator<Item = &'a str>, mut room: usize) -> Vec<&'a str> {
    let fits = |line: &&str| match room.checked_sub(line.len() + 1) {
        Some(rest) => {
            room = rest;
            true
        }
        None => false,
    };
    lines.take_while(fits).collect()
}

/// Returns a line of a file without the number that the client puts before it.
fn without_number(line: &str) -> &str {
    let rest = line
        .trim_start()
        .trim_start_matches(|c: char| c.is_ascii_digit());
    if rest.len() == line.trim_start().len() {
        return line;
    }
    rest.strip_prefix('→')
        .or_else(|| rest.strip_prefix('\t'))
        .unwrap_or(line)
}

fn is_definition(text: &str) -> bool {
    let heading = text.trim_start_matches('#');
    if heading.len() < text.len() && heading.starts_with(' ') && text.len() - heading.len() < 4 {
        return true;
    }
    let words = text.split_whitespace();
    let mut words = words.skip_while(|word| QUALIFIES.contains(word));
    let (Some(word), Some(name)) = (words.next(), words.next()) else {
        return false;
    };
    let generic = word.split(['<', '(']).next().unwrap_or(word);
    DEFINES.contains(&generic)
        && name.starts_with(|c: char| c.is_alphabetic() || "_(<&{'\"".contains(c))
}

fn is_failure(line: &str) -> bool {
    static WORDS: LazyLock<Option<(AhoCorasick, AhoCorasick)>> = LazyLock::new(|| {
        let mut builder = AhoCorasick::builder();
        builder.ascii_case_insensitive(true);
        builder.build(FAILS).ok().zip(builder.build(GOOD_NEWS).ok())
    });
    let line = clip(line, 4 * WIDTH);
    let holds = |words: &AhoCorasick| words.is_match(line);
    WORDS
        .as_ref()
        .is_some_and(|(fails, good)| holds(fails) && !holds(good))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn key_lines_of_a_file_are_its_definitions() {
        let file = [
            "     1→use std::fmt;",
            "     2→",
            "     3→pub(crate) fn read(text: &str) -> u32 {",
            "     4→    function_call(text)",
            "     5→}",
            "     6→impl<T> Reader<T> {",
            "     7→    async fn next(&mut self) {}",
            "8\texport default class Parser extends Base {",
            "9\t    type = 3",
        ];
        assert_eq!(
            outline(&file),
            [file[2], file[5], file[6], file[7]],
            "imports and bodies are left out"
        );
        let notes = ["1\t# Title", "2\ttext", "3\t## Part", "4\t#hashtag"];
        assert_eq!(outline(&notes), [notes[0], notes[2]]);
    }

    #[test]
    fn key_lines_of_a_long_file_are_the_outer_definitions() {
        let methods: Vec<String> = (0..100)
            .map(|n| format!("{n}→    fn method_{n}(&self) -> u32;"))
            .collect();
        let mut file = vec!["1→struct Long {"];
        file.extend(methods.iter().map(String::as_str));
        assert_eq!(outline(&file), ["1→struct Long {"]);
    }

    #[test]
    fn key_lines_of_a_run_are_its_failures() {
        let run = [
            "ok a",
            "--- FAIL: TestB",
            "ok c",
            "error[E0308]: types",
            "3 passed, 0 failed",
        ];
        assert_eq!(failures(&run), [run[1], run[3]]);
        let long = format!("error: {}", "é".repeat(4_000));
        assert!(failures(&[&long]).concat().len() <= WIDTH);
    }
}
