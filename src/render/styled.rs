//! Text with styles and links, wrapped like plain text.

use std::fmt::Write as _;

use anstyle::Style;

use super::text::{width, wrap_ranges};

/// A stretch of safe text in one style, perhaps a link.
#[derive(Debug, Clone, Default)]
struct Piece {
    end: usize,
    style: Style,
    link: Option<String>,
}

/// A text whose parts have styles.
#[derive(Debug, Clone, Default)]
pub(super) struct Styled {
    text: String,
    pieces: Vec<Piece>,
}

impl Styled {
    /// Makes a text in one style.
    pub(super) fn new(style: Style, text: &str) -> Self {
        let mut out = Self::default();
        out.push(style, text);
        out
    }

    /// Adds text.
    pub(super) fn push(&mut self, style: Style, text: &str) {
        self.push_link(style, text, None);
    }

    /// Adds text that leads to an address.
    pub(super) fn push_link(&mut self, style: Style, text: &str, link: Option<&str>) {
        if !text.is_empty() {
            self.text.push_str(text);
            self.pieces.push(Piece {
                end: self.text.len(),
                style,
                link: link.map(str::to_owned),
            });
        }
    }

    /// Returns the text without styles.
    pub(super) fn plain(&self) -> &str {
        &self.text
    }

    /// Returns how many columns the text takes.
    pub(super) fn width(&self) -> usize {
        width(&self.text)
    }

    /// Returns the whole text with its styles.
    #[cfg(test)]
    pub(super) fn painted(&self) -> String {
        self.range(0, self.text.len())
    }

    /// Adds another text with its styles.
    pub(super) fn append(&mut self, other: &Self) {
        let mut start = 0;
        for piece in &other.pieces {
            let text = &other.text[start..piece.end];
            self.push_link(piece.style, text, piece.link.as_deref());
            start = piece.end;
        }
    }

    /// Returns rows that are at most `columns` wide, broken at blanks and line ends.
    pub(super) fn wrapped(&self, columns: usize) -> Vec<String> {
        self.rows(columns).into_iter().map(|row| row.0).collect()
    }

    /// Returns the same rows with the columns that each takes.
    pub(super) fn rows(&self, columns: usize) -> Vec<(String, usize)> {
        let rows = wrap_ranges(&self.text, columns).into_iter();
        rows.map(|row| (self.range(row.start, row.end), width(&self.text[row])))
            .collect()
    }

    fn range(&self, from: usize, to: usize) -> String {
        let mut out = String::new();
        let mut start = 0;
        for piece in &self.pieces {
            let (a, b) = (start.max(from), piece.end.min(to));
            start = piece.end;
            if a >= b {
                continue;
            }
            let text = &self.text[a..b];
            let style = piece.style;
            match &piece.link {
                Some(link) => {
                    let _ = write!(
                        out,
                        "{style}\x1b]8;;{link}\x1b\\{text}\x1b]8;;\x1b\\{style:#}"
                    );
                }
                None => {
                    let _ = write!(out, "{style}{text}{style:#}");
                }
            }
        }
        out
    }
}

#[cfg(test)]
mod tests {
    use super::super::style::BOLD;
    use super::*;

    #[test]
    fn styled_text_keeps_styles_across_rows() {
        let mut text = Styled::new(Style::new(), "one ");
        text.push(BOLD, "two three");
        assert_eq!(
            text.wrapped(7),
            ["one \u{1b}[1mtwo\u{1b}[0m", "\u{1b}[1mthree\u{1b}[0m"]
        );
        assert_eq!(text.width(), 13);
    }

    #[test]
    fn styled_links_are_closed_on_each_row() {
        let mut text = Styled::default();
        text.push_link(Style::new(), "a b", Some("http://x"));
        for row in text.wrapped(1) {
            assert_eq!(row.matches("\u{1b}]8;;").count(), 2, "{row:?}");
        }
    }
}
