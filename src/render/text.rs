//! Text of a session, made safe for a terminal and fit for a column.

use std::borrow::Cow;
use std::fmt::Write as _;

use unicode_width::{UnicodeWidthChar, UnicodeWidthStr};

/// The text with white space folded and control characters replaced: nothing that moves a cursor,
/// changes a colour or turns the direction of writing is left.
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

/// The text with its lines and indentation, and all else made safe: tabs become blanks, a carriage
/// return goes, other control characters are replaced.
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

/// Breaks clean lines so that none is wider than `columns`, at blanks where there are some.
pub fn wrap(text: &str, columns: usize) -> Vec<String> {
    let mut out = Vec::new();
    for line in text.split('\n') {
        let mut rest = line.trim_end();
        while width(rest) > columns && columns > 1 {
            let mut taken = 0;
            let mut end = rest.len();
            for (i, c) in rest.char_indices() {
                let w = c.width().unwrap_or(0);
                if taken + w > columns {
                    end = i;
                    break;
                }
                taken += w;
            }
            // A word longer than half a line is broken; so is indentation that fills one.
            let blank = rest[..end]
                .rfind(' ')
                .filter(|&b| b > end / 2 && !rest[..b].trim().is_empty());
            let cut = if rest[end..].starts_with(' ') {
                end
            } else {
                blank.unwrap_or(end)
            };
            let cut = if cut == 0 {
                rest.chars().next().map_or(1, char::len_utf8)
            } else {
                cut
            };
            out.push(rest[..cut].trim_end().to_owned());
            rest = rest[cut..].trim_start_matches(' ');
        }
        out.push(rest.to_owned());
    }
    out
}

/// JSON text that says the same and is safe for a terminal: what is unsafe in a string is spelt with an escape.
pub fn json_text(text: &str) -> Cow<'_, str> {
    // Below the blank, JSON has escapes in strings and line breaks between values; those are fine.
    let is_raw = |c: char| is_unsafe(c) && c >= ' ';
    if !text.contains(is_raw) {
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

/// Controls, and formatting characters that reorder or hide text.
fn is_unsafe(c: char) -> bool {
    c.is_control()
        || matches!(c, '\u{200e}' | '\u{200f}' | '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}' | '\u{feff}' | '\u{2028}' | '\u{2029}' | '\u{e0000}'..='\u{e007f}')
}

/// How many columns a text takes.
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

/// A path with the home folder as `~`, cut in the middle if it is long.
pub fn short_path(
    path: &std::path::Path,
    home: Option<&std::path::Path>,
    columns: usize,
) -> String {
    let shown = match home.and_then(|h| path.strip_prefix(h).ok()) {
        Some(rest) => format!("~/{}", rest.display()),
        None => path.display().to_string(),
    };
    let shown = clean(&shown);
    if width(&shown) <= columns || columns < 16 {
        return shown;
    }
    let chars: Vec<char> = shown.chars().collect();
    // The end tells more than the beginning.
    let tail = (columns - 1) * 2 / 3;
    let head = columns - 1 - tail;
    let front: String = chars[..head.min(chars.len())].iter().collect();
    let back: String = chars[chars.len().saturating_sub(tail)..].iter().collect();
    format!("{front}…{back}")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nothing_hostile_is_left() {
        assert_eq!(
            clean("\x1b[31mred\x07\u{202e}x\r\n y"),
            "\u{fffd}[31mred\u{fffd}\u{fffd}x y"
        );
        assert_eq!(clean("  a \t b  "), "a b");
        assert_eq!(clean("\u{9b}31m"), "\u{fffd}31m");
    }

    #[test]
    fn lines_stay_lines() {
        assert_eq!(clean_lines("a\tb\r\n\t\x1b[2Jc"), "a   b\n    \u{fffd}[2Jc");
        assert_eq!(wrap("one two three\n\nx", 8), ["one two", "three", "", "x"]);
        assert_eq!(wrap("日本語テキスト", 6), ["日本語", "テキス", "ト"]);
        assert_eq!(wrap("aaaaaaaaaa", 4), ["aaaa", "aaaa", "aa"]);
    }

    #[test]
    fn wide_characters_align() {
        assert_eq!(fit("日本語テキスト", 7), "日本語…");
        assert_eq!(width(&pad("日本", 6)), 6);
        assert_eq!(pad("7", -3), "  7");
        assert_eq!(fit("abc", 3), "abc");
        assert_eq!(fit("abcd", 3), "ab…");
    }
}
