//! Turns text with colours, as `render` makes it, into lines of the terminal interface.

use ratatui::style::{Color, Modifier, Style};
use ratatui::text::{Line, Span};

/// Returns the lines of a text with colours. All other control sequences are left out.
pub(super) fn lines(text: &str, colours: bool) -> Vec<Line<'static>> {
    let mut style = Style::new();
    let mut out = Vec::new();
    for line in text.lines() {
        let mut spans = Vec::new();
        let mut rest = line;
        while let Some(at) = rest.find('\x1b') {
            push(&mut spans, &rest[..at], style);
            let (sequence, after) = split_sequence(&rest[at + 1..]);
            let numbers = sequence.strip_prefix('[').and_then(|s| s.strip_suffix('m'));
            if let Some(numbers) = numbers {
                style = applied(style, numbers, colours);
            }
            rest = after;
        }
        push(&mut spans, rest, style);
        out.push(Line::from(spans));
    }
    out
}

fn push(spans: &mut Vec<Span<'static>>, text: &str, style: Style) {
    if !text.is_empty() {
        spans.push(Span::styled(text.to_owned(), style));
    }
}

/// Splits the rest of a control sequence from the text after it.
fn split_sequence(text: &str) -> (&str, &str) {
    let length = match text.as_bytes().first() {
        Some(b'[') => {
            let end = text[1..].find(|c: char| ('@'..='~').contains(&c));
            end.map_or(text.len(), |end| end + 2)
        }
        // A link ends with a string terminator or a bell.
        Some(b']') => match (text.find("\x1b\\"), text.find('\x07')) {
            (Some(end), _) => end + 2,
            (None, Some(end)) => end + 1,
            (None, None) => text.len(),
        },
        Some(_) => text.chars().next().map_or(0, char::len_utf8),
        None => 0,
    };
    text.split_at(length)
}

/// Applies the numbers of a style sequence.
fn applied(mut style: Style, numbers: &str, colours: bool) -> Style {
    for number in numbers.split(';').map(|n| n.parse().unwrap_or(0u8)) {
        let colour = |n: u8| {
            const ALL: [Color; 8] = [
                Color::Black,
                Color::Red,
                Color::Green,
                Color::Yellow,
                Color::Blue,
                Color::Magenta,
                Color::Cyan,
                Color::Gray,
            ];
            ALL[usize::from(n) % 8]
        };
        style = match number {
            0 => Style::new(),
            1 => style.add_modifier(Modifier::BOLD),
            2 => style.add_modifier(Modifier::DIM),
            3 => style.add_modifier(Modifier::ITALIC),
            4 => style.add_modifier(Modifier::UNDERLINED),
            7 => style.add_modifier(Modifier::REVERSED),
            9 => style.add_modifier(Modifier::CROSSED_OUT),
            30..=37 if colours => style.fg(colour(number - 30)),
            90..=97 if colours => style.fg(colour(number - 90)),
            _ => style,
        };
    }
    style
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ansi_styles_become_spans_and_links_their_text() {
        let text = "a\x1b[1m\x1b[31mb\x1b[0m\x1b]8;;http://x\x1b\\c\x1b]8;;\x1b\\\x1b[2Jd";
        let lines = lines(text, true);
        let spans: Vec<(&str, Style)> = lines[0]
            .spans
            .iter()
            .map(|s| (&*s.content, s.style))
            .collect();
        let red = Style::new().add_modifier(Modifier::BOLD).fg(Color::Red);
        let plain = Style::new();
        assert_eq!(
            spans,
            [("a", plain), ("b", red), ("c", plain), ("d", plain)]
        );
    }
}
