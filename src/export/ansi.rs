//! Turns the colours of terminal output into HTML, and removes all other control characters.

use maud::{Markup, PreEscaped, Render as _, html};

/// A stretch of text in one style.
#[derive(Debug, Default, Clone, Copy, PartialEq, Eq)]
struct Style {
    bold: bool,
    dim: bool,
    /// One of the eight colours, or their bright forms from 8 on.
    colour: Option<u8>,
}

impl Style {
    fn classes(self) -> String {
        let mut classes = Vec::new();
        if self.bold {
            classes.push("b".to_owned());
        }
        if self.dim {
            classes.push("d".to_owned());
        }
        if let Some(colour) = self.colour {
            classes.push(format!("c{colour}"));
        }
        classes.join(" ")
    }

    /// Applies the numbers of a colour sequence. Colours beyond the basic sixteen are left out.
    fn apply(&mut self, numbers: &str) {
        let mut all = numbers.split([';', ':']).map(|n| n.parse().unwrap_or(0u32));
        while let Some(number) = all.next() {
            match number {
                0 => *self = Self::default(),
                1 => self.bold = true,
                2 => self.dim = true,
                22 => (self.bold, self.dim) = (false, false),
                30..=37 => self.colour = Some((number - 30) as u8),
                39 => self.colour = None,
                90..=97 => self.colour = Some((number - 90 + 8) as u8),
                // A colour of 256 or of 16 million: its own numbers are not styles.
                38 | 48 => match all.next() {
                    Some(5) => drop(all.next()),
                    Some(2) => drop(all.by_ref().take(3).count()),
                    _ => {}
                },
                _ => {}
            }
        }
    }
}

/// Returns terminal output as HTML.
pub(super) fn output_html(text: &str) -> Markup {
    let mut out = String::new();
    let mut style = Style::default();
    let mut plain = String::new();
    let mut rest = text;
    while let Some(at) = rest.find('\u{1b}') {
        plain.push_str(&rest[..at]);
        let sequence = &rest[at + 1..];
        let length = sequence_length(sequence);
        let (sequence, after) = sequence.split_at(length);
        if let Some(numbers) = sequence.strip_prefix('[').and_then(|s| s.strip_suffix('m')) {
            flush(&mut plain, style, &mut out);
            style.apply(numbers);
        }
        rest = after;
    }
    plain.push_str(rest);
    flush(&mut plain, style, &mut out);
    PreEscaped(out)
}

/// Returns text without control characters, except for line breaks and tabs.
pub(super) fn plain_text(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    let mut rest = text;
    while let Some(at) = rest.find('\u{1b}') {
        out.extend(rest[..at].chars().filter(|c| is_text(*c)));
        let sequence = &rest[at + 1..];
        rest = &sequence[sequence_length(sequence)..];
    }
    out.extend(rest.chars().filter(|c| is_text(*c)));
    out
}

fn flush(plain: &mut String, style: Style, out: &mut String) {
    plain.retain(is_text);
    if plain.is_empty() {
        return;
    }
    if style == Style::default() {
        plain.as_str().render_to(out);
    } else {
        html! { span class=(style.classes()) { (plain) } }.render_to(out);
    }
    plain.clear();
}

/// Whether a character is text: not a control character, and none that changes the direction of what follows.
fn is_text(c: char) -> bool {
    let changes_direction = matches!(c, '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}');
    matches!(c, '\n' | '\t') || !c.is_control() && !changes_direction
}

/// Returns the length of a terminal sequence after its escape character.
fn sequence_length(sequence: &str) -> usize {
    let mut chars = sequence.char_indices();
    match chars.next() {
        Some((_, '[')) => {
            let end = chars.find(|(_, c)| ('@'..='~').contains(c) || !c.is_ascii());
            end.map_or(sequence.len(), |(at, c)| at + usize::from(c.is_ascii()))
        }
        // A title or a link ends with a bell, or with another escape character.
        Some((_, ']')) => match sequence.find(['\u{7}', '\u{1b}', '\n']) {
            Some(at) if sequence[at..].starts_with('\u{7}') => at + 1,
            Some(at) => at,
            None => sequence.len(),
        },
        Some((_, c)) if c.is_ascii_graphic() => 1,
        _ => 0,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ansi_colours_become_classes_and_the_rest_is_removed() {
        let html = |text: &str| output_html(text).into_string();
        assert_eq!(
            html("a <b> \u{1b}[1;31mred\u{1b}[0m end"),
            "a &lt;b&gt; <span class=\"b c1\">red</span> end"
        );
        assert_eq!(
            html("\u{1b}[38;5;196mx\u{1b}[38;2;1;2;3my\u{1b}[92mz"),
            "xy<span class=\"c10\">z</span>"
        );
        assert_eq!(
            html("a\u{1b}[2Jb\u{1b}]0;title\u{7}c\u{7}\u{202e}d\r\n"),
            "abcd\n"
        );
        assert_eq!(html("\u{1b}"), "");
        assert_eq!(html("\u{1b}[31"), "");
        assert_eq!(plain_text("\u{1b}[31mred\u{1b}[0m\u{8}"), "red");
    }
}
