//! Text of a session, made safe for a terminal and fit for a column.

use std::borrow::Cow;
use std::fmt::Write as _;
use std::ops::Range;

use unicode_width::{UnicodeWidthChar, UnicodeWidthStr};

use crate::secrets::mask;

/// Returns the text with white space folded and control characters replaced: nothing that moves the cursor,
/// changes a colour, turns the direction of writing or is invisible is left.
pub fn clean(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    let mut space = false;
    for c in text.chars() {
        if c.is_whitespace() {
            space = !out.is_empty();
            continue;
        }
        if space {
            out.push(' ');
            space = false;
        }
        out.push(if is_unsafe(c) { '\u{fffd}' } else { c });
    }
    out
}

/// Returns the text with its lines and indentation, and all else made safe: tabs become blanks, carriage returns
/// are removed, other control characters are replaced.
pub fn clean_lines(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    let mut column = 0;
    for c in text.chars() {
        match c {
            '\n' => {
                out.push('\n');
                column = 0;
                continue;
            }
            '\t' => {
                let blanks = 4 - column % 4;
                out.extend(std::iter::repeat_n(' ', blanks));
                column += blanks;
                continue;
            }
            '\r' => continue,
            c => out.push(if is_unsafe(c) { '\u{fffd}' } else { c }),
        }
        column += c.width().unwrap_or(1);
    }
    out
}

/// Breaks clean lines at blanks so that none is wider than `columns`; a word that is wider than a line is broken.
pub fn wrap(text: &str, columns: usize) -> Vec<String> {
    let rows = wrap_ranges(text, columns).into_iter();
    rows.map(|row| text[row].to_owned()).collect()
}

/// Returns what an id is called on a screen: the beginning of a uuid, which names it as well, and any other id as it is.
///
/// ```
/// # use ccsurgery::render::short_id;
/// assert_eq!(short_id("3f9c2a71-5d0e-4b8a-9c64-1e7d52ab0c93"), "3f9c2a71");
/// assert_eq!(short_id("shared-by-a-friend"), "shared-by-a-friend");
/// ```
pub fn short_id(id: &str) -> String {
    if uuid::Uuid::try_parse(id).is_ok() {
        return id.chars().take(8).collect();
    }
    fit(&clean(&mask(id)), 24)
}

/// Breaks the lines of a message at blanks so that they fit into `columns`. Rows that follow are indented like their line, and
/// after a label such as `note:` like the words behind it. Ids, paths and other words are never broken, so that they can be
/// copied.
pub fn wrap_message(text: &str, columns: usize) -> String {
    let lines = text.split('\n').map(|line| wrap_line(line, columns));
    lines.collect::<Vec<_>>().join("\n")
}

/// The words that announce a message.
const LABELS: [&str; 5] = ["note:", "Error:", "Refused:", "Cause:", "Hint:"];

fn wrap_line(line: &str, columns: usize) -> String {
    if textwrap::core::display_width(line) <= columns {
        return line.to_owned();
    }
    let plain = without_colours(line);
    let blanks = plain.len() - plain.trim_start().len();
    let label = LABELS.iter().find(|label| plain.starts_with(**label));
    let indent = " ".repeat(blanks + label.map_or(0, |label| label.len() + 1));
    let options = textwrap::Options::new(columns.max(1))
        .subsequent_indent(&indent)
        .break_words(false)
        .word_separator(textwrap::WordSeparator::AsciiSpace)
        .word_splitter(textwrap::WordSplitter::NoHyphenation)
        .wrap_algorithm(textwrap::WrapAlgorithm::FirstFit);
    textwrap::fill(line.trim_end(), options)
}

/// Returns a line of ours without its colours.
fn without_colours(line: &str) -> String {
    let mut out = String::with_capacity(line.len());
    let mut rest = line;
    while let Some((before, after)) = rest.split_once("\u{1b}[") {
        out.push_str(before);
        rest = after.split_once('m').map_or("", |(_, after)| after);
    }
    out.push_str(rest);
    out
}

/// Returns where the rows of a wrapped text are in it.
pub(super) fn wrap_ranges(text: &str, columns: usize) -> Vec<Range<usize>> {
    let options = textwrap::Options::new(columns.max(1))
        .word_separator(textwrap::WordSeparator::AsciiSpace)
        .word_splitter(textwrap::WordSplitter::NoHyphenation)
        .wrap_algorithm(textwrap::WrapAlgorithm::FirstFit);
    let mut out = Vec::new();
    let mut start = 0;
    for line in text.split('\n') {
        let mut at = start;
        let trimmed = line.trim_end();
        for row in textwrap::wrap(trimmed, &options) {
            // A row is a part of the line; blanks between rows are in none.
            let skipped = text[at..].find(&*row).unwrap_or(0);
            out.push(at + skipped..at + skipped + row.len());
            at += skipped + row.len();
        }
        start += line.len() + 1;
    }
    out
}

/// Returns JSON text with the same value that is safe for a terminal: unsafe characters are spelt as escapes.
pub fn json_text(text: &str) -> Cow<'_, str> {
    // JSON strings spell characters below the blank as escapes; line breaks between values are harmless.
    let is_raw = |c: char| is_unsafe(c) && c >= ' ';
    if !begins_unsafe(text, is_raw) {
        return Cow::Borrowed(text);
    }
    let mut out = String::with_capacity(text.len() + 16);
    for c in text.chars() {
        if is_raw(c) {
            for unit in c.encode_utf16(&mut [0; 2]) {
                let _ = write!(out, "\\u{unit:04x}");
            }
        } else {
            out.push(c);
        }
    }
    Cow::Owned(out)
}

/// Returns whether a text has an unsafe character other than those below the blank. Only some bytes begin one, so that
/// most letters need not be decoded: that is half the work for Chinese text.
fn begins_unsafe(text: &str, is_raw: impl Fn(char) -> bool) -> bool {
    let may_begin = |b: &u8| matches!(b, 0x7f | 0xc2 | 0xd8 | 0xe1 | 0xe2 | 0xef | 0xf3);
    let mut rest = text;
    while let Some(at) = rest.bytes().position(|b| may_begin(&b)) {
        let mut characters = rest[at..].chars();
        if characters.next().is_some_and(&is_raw) {
            return true;
        }
        rest = characters.as_str();
    }
    false
}

/// Returns whether a character controls the terminal, reorders text or is invisible.
fn is_unsafe(c: char) -> bool {
    c.is_control()
        || matches!(c, '\u{ad}' | '\u{61c}' | '\u{180e}' | '\u{200b}' | '\u{2060}'..='\u{2064}' | '\u{200e}' | '\u{200f}' | '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}' | '\u{feff}' | '\u{2028}' | '\u{2029}' | '\u{e0000}'..='\u{e007f}')
}

/// Returns how many columns a text takes.
pub fn width(text: &str) -> usize {
    text.width()
}

/// Cuts a clean text to at most `columns`, with an ellipsis where it was cut.
pub fn fit(text: &str, columns: usize) -> String {
    if width(text) <= columns {
        return text.to_owned();
    }
    let mut out = String::new();
    let mut taken = 0;
    for c in text.chars() {
        let w = c.width().unwrap_or(0);
        if taken + w + 1 > columns {
            break;
        }
        taken += w;
        out.push(c);
    }
    if columns > 0 {
        out.push('…');
    }
    out
}

/// Pads a text with blanks to `columns`; negative pads on the left.
pub fn pad(text: &str, columns: i32) -> String {
    let blanks = " ".repeat((columns.unsigned_abs() as usize).saturating_sub(width(text)));
    if columns < 0 {
        format!("{blanks}{text}")
    } else {
        format!("{text}{blanks}")
    }
}

/// Returns a path with the home folder as `~`, cut in the middle if it is wider than `columns`, which are at least 16.
pub fn short_path(
    path: &std::path::Path,
    home: Option<&std::path::Path>,
    columns: usize,
) -> String {
    let shown = match home.and_then(|h| path.strip_prefix(h).ok()) {
        Some(rest) => format!("~{}{}", std::path::MAIN_SEPARATOR, rest.display()),
        None => path.display().to_string(),
    };
    let shown = clean(&shown);
    let columns = columns.max(16);
    if width(&shown) <= columns {
        return shown;
    }
    // The end of a path says more than its beginning.
    let tail = (columns - 1) * 2 / 3;
    let front = within(shown.chars(), columns - 1 - tail);
    let back = within(shown.chars().rev(), tail);
    let back: String = back.chars().rev().collect();
    format!("{front}…{back}")
}

/// Returns the first of some characters, as many as fit into `columns`.
fn within(characters: impl Iterator<Item = char>, columns: usize) -> String {
    let mut room = columns;
    let fits = |c: &char| {
        let left = room.checked_sub(c.width().unwrap_or(0));
        room = left.unwrap_or(0);
        left.is_some()
    };
    characters.take_while(fits).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn short_path_is_never_wider_than_asked() {
        let path = std::path::Path::new(
            "/home/ada/日本語のフォルダー/とても長い名前のプロジェクト/src/main.rs",
        );
        for columns in [16, 17, 30, 60, 200] {
            let short = short_path(path, None, columns);
            assert!(width(&short) <= columns, "{columns}: {short}");
            assert!(short.ends_with("main.rs"), "{columns}: {short}");
        }
    }

    #[test]
    fn clean_leaves_nothing_hostile() {
        assert_eq!(
            clean("a\u{61c}b\u{200b}c\u{ad}d\u{2060}e\u{180e}f")
                .matches('\u{fffd}')
                .count(),
            5
        );
        assert_eq!(
            clean("\x1b[31mred\x07\u{202e}x\r\n y"),
            "\u{fffd}[31mred\u{fffd}\u{fffd}x y"
        );
        assert_eq!(clean("  a \t b  "), "a b");
        assert_eq!(clean("\u{9b}31m"), "\u{fffd}31m");
    }

    #[test]
    fn json_text_spells_every_unsafe_character() {
        let is_raw = |c: char| is_unsafe(c) && c >= ' ';
        for c in ('\0'..=char::MAX).filter(|c| is_unsafe(*c) || (*c as u32).is_multiple_of(7)) {
            let text = format!("日本 {c}，x");
            assert_eq!(begins_unsafe(&text, is_raw), is_raw(c), "{:x}", c as u32);
        }
        assert_eq!(json_text("\"日\u{feff}，\""), r#""日\ufeff，""#);
    }

    #[test]
    fn clean_lines_and_wrap_keep_lines() {
        assert_eq!(clean_lines("a\tb\r\n\t\x1b[2Jc"), "a   b\n    \u{fffd}[2Jc");
        assert_eq!(wrap("one two three\n\nx", 8), ["one two", "three", "", "x"]);
        assert_eq!(wrap("日本語テキスト", 6), ["日本語", "テキス", "ト"]);
        assert_eq!(wrap("aaaaaaaaaa", 4), ["aaaa", "aaaa", "aa"]);
    }

    #[test]
    fn fit_and_pad_count_columns() {
        assert_eq!(fit("日本語テキスト", 7), "日本語…");
        assert_eq!(width(&pad("日本", 6)), 6);
        assert_eq!(pad("7", -3), "  7");
        assert_eq!(fit("abc", 3), "abc");
        assert_eq!(fit("abcd", 3), "ab…");
    }
}
