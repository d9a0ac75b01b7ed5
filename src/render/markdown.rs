//! Markdown laid out for a terminal.

use anstyle::{AnsiColor, Style};

use crate::view::{Inline, MarkdownBlock, markdown};

use super::highlight::highlighted;
use super::screen::Screen;
use super::style::{BOLD, DIM, paint};
use super::styled::Styled;
use super::text::{clean, clean_lines, pad, wrap};

const CODE: Style = AnsiColor::Cyan.on_default();
const HEADING: Style = AnsiColor::Blue.on_default().bold();

/// The widest that text is set: longer lines are hard to read. Code and tables may be wider.
const READABLE: usize = 100;

/// The narrowest that a column of a table becomes before the table is shown as a list.
const NARROWEST: usize = 8;

/// Lays out Markdown.
pub(super) struct MarkdownText<'a> {
    screen: &'a Screen<'a>,
    /// Whether the text has character references: what they stand for may be unsafe or secret.
    has_references: bool,
}

impl<'a> MarkdownText<'a> {
    /// Returns the rows of a Markdown text that was masked and cleaned.
    pub(super) fn rows(screen: &'a Screen<'a>, text: &str, columns: usize) -> Vec<String> {
        let layout = Self {
            screen,
            has_references: text.contains('&'),
        };
        layout.blocks(&markdown(text), columns, false)
    }

    /// Lays out blocks, with an empty row between them unless they are `tight`.
    fn blocks(&self, blocks: &[MarkdownBlock], columns: usize, tight: bool) -> Vec<String> {
        let mut out: Vec<String> = Vec::new();
        for block in blocks {
            if !out.is_empty() && !tight {
                out.push(String::new());
            }
            match block {
                MarkdownBlock::Paragraph(inlines) => {
                    out.extend(
                        self.styled(inlines, Style::new())
                            .wrapped(columns.min(READABLE)),
                    );
                }
                MarkdownBlock::Heading(level, inlines) => {
                    let mut text = Styled::new(HEADING, &"#".repeat(usize::from(*level)));
                    text.push(HEADING, " ");
                    self.add(inlines, HEADING, &mut text);
                    out.extend(text.wrapped(columns.min(READABLE)));
                }
                MarkdownBlock::List(first, items) => self.list(*first, items, columns, &mut out),
                MarkdownBlock::Quote(inner) => {
                    let rows = self.blocks(inner, columns.saturating_sub(2).max(10), false);
                    let bar = paint(DIM, "│");
                    let quoted = rows.iter().map(|row| format!("{bar} {row}"));
                    out.extend(quoted.map(|row| row.trim_end().to_owned()));
                }
                MarkdownBlock::Code(language, code) => {
                    let rows = self.code(language, code, columns.saturating_sub(2).max(10));
                    out.extend(rows.into_iter().map(|row| format!("  {row}")));
                }
                MarkdownBlock::Table(right, rows) => self.table(right, rows, columns, &mut out),
                MarkdownBlock::Rule => out.push(paint(DIM, "─".repeat(columns.min(40)))),
            }
        }
        out
    }

    fn list(
        &self,
        first: Option<u64>,
        items: &[Vec<MarkdownBlock>],
        columns: usize,
        out: &mut Vec<String>,
    ) {
        let is_short = |item: &Vec<MarkdownBlock>| {
            let text = |b: &&MarkdownBlock| matches!(b, MarkdownBlock::Paragraph(_));
            item.iter().filter(text).count() <= 1
                && item
                    .iter()
                    .all(|b| matches!(b, MarkdownBlock::Paragraph(_) | MarkdownBlock::List(..)))
        };
        let tight = items.iter().all(is_short);
        let last = first.map(|n| n.saturating_add(items.len() as u64).saturating_sub(1));
        let lead = last.map_or(2, |n| n.to_string().len() + 2);
        for (i, item) in items.iter().enumerate() {
            if i > 0 && !tight {
                out.push(String::new());
            }
            let mark = match first {
                Some(n) => pad(
                    &format!("{}.", n.saturating_add(i as u64)),
                    -(lead as i32 - 1),
                ),
                None => "•".to_owned(),
            };
            let rows = self.blocks(item, columns.saturating_sub(lead).max(10), tight);
            let blank = " ".repeat(lead);
            if rows.is_empty() {
                out.push(mark.clone());
            }
            for (row_number, row) in rows.iter().enumerate() {
                out.push(match (row_number, row.is_empty()) {
                    (0, _) => format!("{mark} {row}"),
                    (_, true) => String::new(),
                    (_, false) => format!("{blank}{row}"),
                });
            }
        }
    }

    /// Returns the rows of some code.
    pub(super) fn code(&self, language: &str, code: &str, columns: usize) -> Vec<String> {
        let code = self.safe(code);
        if !self.screen.colours {
            return code.lines().flat_map(|l| wrap(l, columns)).collect();
        }
        let lines = highlighted(language, &code).into_iter();
        lines.flat_map(|line| line.wrapped(columns)).collect()
    }

    fn table(
        &self,
        right: &[bool],
        rows: &[Vec<Vec<Inline>>],
        columns: usize,
        out: &mut Vec<String>,
    ) {
        let style = |row: usize| if row == 0 { BOLD } else { Style::new() };
        let cells: Vec<Vec<Styled>> = rows
            .iter()
            .enumerate()
            .map(|(i, row)| row.iter().map(|cell| self.styled(cell, style(i))).collect())
            .collect();
        let Some(widths) = column_widths(&cells, columns) else {
            return self.table_as_list(&cells, columns, out);
        };
        for (i, row) in cells.iter().enumerate() {
            if i == 1 {
                let rules: Vec<String> = widths.iter().map(|w| "─".repeat(*w)).collect();
                out.push(paint(DIM, rules.join("─┼─")));
            }
            let wrapped: Vec<Vec<(String, usize)>> = widths
                .iter()
                .enumerate()
                .map(|(c, w)| row.get(c).map(|cell| cell.rows(*w)).unwrap_or_default())
                .collect();
            for line in 0..wrapped.iter().map(Vec::len).max().unwrap_or(0) {
                let parts: Vec<String> = wrapped
                    .iter()
                    .zip(&widths)
                    .enumerate()
                    .map(|(c, (cell, w))| {
                        let (text, taken) = cell.get(line).map_or(("", 0), |r| (&r.0, r.1));
                        let blanks = " ".repeat(w.saturating_sub(taken));
                        if right.get(c).copied().unwrap_or(false) {
                            format!("{blanks}{text}")
                        } else {
                            format!("{text}{blanks}")
                        }
                    })
                    .collect();
                let separator = format!(" {} ", paint(DIM, "│"));
                out.push(parts.join(&separator).trim_end().to_owned());
            }
        }
    }

    /// Writes the rows of a table that is too wide one after the other, each cell after its column's name.
    fn table_as_list(&self, cells: &[Vec<Styled>], columns: usize, out: &mut Vec<String>) {
        let Some((header, rows)) = cells.split_first() else {
            return;
        };
        for (i, row) in rows.iter().enumerate() {
            if i > 0 {
                out.push(String::new());
            }
            for (name, cell) in header.iter().zip(row) {
                let mut line = Styled::new(BOLD, &format!("{}: ", name.plain()));
                line.append(cell);
                out.extend(line.wrapped(columns));
            }
        }
    }

    fn styled(&self, inlines: &[Inline], style: Style) -> Styled {
        let mut out = Styled::default();
        self.add(inlines, style, &mut out);
        out
    }

    fn add(&self, inlines: &[Inline], style: Style, out: &mut Styled) {
        for inline in inlines {
            match inline {
                Inline::Text(text) => out.push(style, &self.safe(text)),
                Inline::Code(text) => {
                    let code = if style == HEADING { HEADING } else { CODE };
                    out.push(style, self.mark("`"));
                    out.push(code, &self.safe(text));
                    out.push(style, self.mark("`"));
                }
                Inline::Break => out.push(style, "\n"),
                Inline::Emphasis(inner) => self.add_marked("*", inner, style.italic(), out),
                Inline::Strong(inner) => self.add_marked("**", inner, style.bold(), out),
                Inline::Strikethrough(inner) => {
                    self.add_marked("~~", inner, style.strikethrough(), out);
                }
                Inline::Link(address, inner) => self.add_link(address, inner, style, out),
            }
        }
    }

    fn add_marked(&self, mark: &'static str, inner: &[Inline], style: Style, out: &mut Styled) {
        out.push(style, self.mark(mark));
        self.add(inner, style, out);
        out.push(style, self.mark(mark));
    }

    /// Adds a link. The address is shown, unless the terminal can hide it and the text does not pretend to be another.
    fn add_link(&self, address: &str, inner: &[Inline], style: Style, out: &mut Styled) {
        let address = clean(&self.safe(address));
        let text = clean(&self.safe(&Inline::plain(inner)));
        let is_address = text.contains("://") || text.starts_with("www.");
        let can_hide = self.screen.links && is_web(&address);
        let link = can_hide.then_some(address.as_str());
        let shown = if text.is_empty() { &address } else { &text };
        out.push_link(style.underline(), shown, link);
        if text != address && !text.is_empty() && (!can_hide || is_address) {
            out.push(DIM, &format!(" ({address})"));
        }
    }

    /// Returns a mark of Markdown where there are no colours to show what it means.
    fn mark(&self, mark: &'static str) -> &'static str {
        if self.screen.colours { "" } else { mark }
    }

    /// Returns text that is safe to show: character references may stand for anything.
    fn safe(&self, text: &str) -> String {
        if self.has_references {
            self.screen.presenter.lines(text)
        } else {
            clean_lines(text)
        }
    }
}

/// Returns whether an address leads to a page.
fn is_web(address: &str) -> bool {
    address.starts_with("https://") || address.starts_with("http://")
}

/// Returns the widths of a table's columns, narrowed until the table fits; `None` if it cannot.
fn column_widths(cells: &[Vec<Styled>], columns: usize) -> Option<Vec<usize>> {
    let count = cells.iter().map(Vec::len).max()?;
    let natural = |c: usize| {
        let widths = cells.iter().filter_map(|row| row.get(c)).map(Styled::width);
        widths.max().unwrap_or(0).max(1)
    };
    let mut widths: Vec<usize> = (0..count).map(natural).collect();
    let room = columns.checked_sub(3 * count.saturating_sub(1))?;
    while widths.iter().sum::<usize>() > room {
        let over = widths.iter().sum::<usize>() - room;
        let widest = widths.iter().copied().max()?;
        let next = widths
            .iter()
            .copied()
            .filter(|w| *w < widest)
            .max()
            .unwrap_or(0);
        let at = widths.iter().position(|w| *w == widest)?;
        let narrower = widest - over.min((widest - next).max(1));
        if narrower < NARROWEST {
            return None;
        }
        widths[at] = narrower;
    }
    Some(widths)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::render::Presenter;

    fn screen(colours: bool, links: bool) -> Screen<'static> {
        Screen {
            colours,
            links,
            ..Screen::plain(Presenter::default(), 40)
        }
    }

    fn rows(text: &str, columns: usize) -> String {
        MarkdownText::rows(&screen(false, false), text, columns).join("\n")
    }

    #[test]
    fn markdown_lists_quotes_and_headings() {
        let text = "## Plan\n\n- first item that is too long for one row\n- second\n  1. deep\n\n> said\n\n```rust\nfn x() {}\n```\n---";
        let rows = rows(text, 30);
        let rule = "─".repeat(30);
        let expected = format!(
            "## Plan\n\n• first item that is too long\n  for one row\n• second\n  1. deep\n\n│ said\n\n  fn x() {{}}\n\n{rule}"
        );
        assert_eq!(anstream::adapter::strip_str(&rows).to_string(), expected);
    }

    #[test]
    fn markdown_tables_fit() {
        let table =
            "|name|what it does|n|\n|-|-|-:|\n|a|wide words that need wrapping|1|\n|b|日本語|22|";
        let text = anstream::adapter::strip_str(&rows(table, 32)).to_string();
        assert_eq!(
            text,
            "name │ what it does         │  n\n─────┼──────────────────────┼───\na    │ wide words that need │  1\n     │ wrapping             │\nb    │ 日本語               │ 22"
        );
        let narrow = anstream::adapter::strip_str(&rows(table, 14)).to_string();
        assert!(
            narrow.starts_with("name: a\nwhat it does:\nwide words"),
            "{narrow}"
        );
    }

    #[test]
    fn markdown_references_cannot_smuggle_control_characters() {
        let painted = MarkdownText::rows(&screen(true, true), "a &#27;[2J [x](http://a/&#7;b)", 80);
        let text = anstream::adapter::strip_str(&painted.join("\n")).to_string();
        assert!(!text.contains(['\x1b', '\x07']), "{text:?}");
        assert!(!painted.join("").contains('\x07'));
    }

    #[test]
    fn markdown_links_show_where_they_lead() {
        let plain = |links, text: &str| {
            let rows = MarkdownText::rows(&screen(true, links), text, 80).join("");
            anstream::adapter::strip_str(&rows).to_string()
        };
        assert_eq!(plain(false, "[docs](http://a)"), "docs (http://a)");
        assert_eq!(plain(true, "[docs](http://a)"), "docs");
        assert_eq!(
            plain(true, "[http://good](http://evil)"),
            "http://good (http://evil)"
        );
        assert_eq!(plain(true, "[x](file:///etc)"), "x (file:///etc)");
    }
}
