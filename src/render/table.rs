//! Tables that fit the terminal.

use std::fmt::Write as _;

use anstyle::Style;

use super::style::{DIM, paint};
use super::text::{fit, width};

/// On which side a column is flush.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[allow(missing_docs)]
pub enum Align {
    Left,
    Right,
}

/// A column of a table. The last column of a table takes the room that is left.
#[derive(Debug, Clone, Copy)]
pub struct Column {
    title: &'static str,
    align: Align,
    most: usize,
    priority: u8,
}

impl Column {
    /// Makes a column that is flush left and always shown.
    pub const fn left(title: &'static str) -> Self {
        Self {
            title,
            align: Align::Left,
            most: usize::MAX,
            priority: 0,
        }
    }

    /// Makes a column that is flush right and always shown.
    pub const fn right(title: &'static str) -> Self {
        Self {
            align: Align::Right,
            ..Self::left(title)
        }
    }

    /// Cuts cells that are wider than this, unless the whole table fits without.
    #[must_use]
    pub const fn at_most(self, most: usize) -> Self {
        Self { most, ..self }
    }

    /// Leaves the column out of a narrow table; columns with the highest number are left out first.
    #[must_use]
    pub const fn optional(self, priority: u8) -> Self {
        Self { priority, ..self }
    }
}

/// A cell: text that was presented already, with a colour or without.
#[derive(Debug, Clone, Default)]
pub struct Cell {
    text: String,
    style: Style,
}

impl Cell {
    /// Makes a cell with a colour.
    pub fn painted(style: Style, text: impl Into<String>) -> Self {
        Self {
            text: text.into(),
            style,
        }
    }
}

impl From<String> for Cell {
    fn from(text: String) -> Self {
        Self::painted(Style::new(), text)
    }
}

impl From<&str> for Cell {
    fn from(text: &str) -> Self {
        Self::painted(Style::new(), text)
    }
}

#[derive(Debug)]
struct Row {
    /// A line above the row, with an empty one before it.
    heading: String,
    cells: Vec<Cell>,
    dim: bool,
    note: String,
}

/// A table.
#[derive(Debug)]
pub struct Table {
    columns: Vec<Column>,
    rows: Vec<Row>,
    /// The least width of the last column before others are left out.
    room: usize,
    /// The heading of the next row.
    heading: String,
    /// The widths of rows that were rendered before.
    least: Option<Vec<Option<usize>>>,
}

impl Table {
    /// Makes a table without rows; `room` is the width that the last column should have.
    pub fn new(columns: &[Column], room: usize) -> Self {
        Self {
            columns: columns.to_vec(),
            rows: Vec::new(),
            room,
            heading: String::new(),
            least: None,
        }
    }

    /// Adds a row.
    pub fn push(&mut self, cells: Vec<Cell>) {
        self.rows.push(Row {
            heading: std::mem::take(&mut self.heading),
            cells,
            dim: false,
            note: String::new(),
        });
    }

    /// Adds a row that stands back.
    pub fn push_dim(&mut self, cells: Vec<Cell>) {
        self.push(cells);
        if let Some(row) = self.rows.last_mut() {
            row.dim = true;
        }
    }

    /// Adds a line above the next row, apart from the rows before it. It is not cut.
    pub fn heading(&mut self, heading: String) {
        self.heading = heading;
    }

    /// Adds a line under the last row.
    pub fn note(&mut self, note: String) {
        if let Some(row) = self.rows.last_mut() {
            row.note = note;
        }
    }

    /// Returns the rows since the last call as text, and forgets them. The columns are at least as wide as before; the
    /// titles are only in the first part.
    pub fn render_part(&mut self, columns: usize) -> String {
        let natural = self.natural_widths();
        let text = self.render(columns);
        self.least = Some(natural);
        self.rows.clear();
        text
    }

    /// Returns the table as text that is at most `columns` wide.
    pub fn render(&self, columns: usize) -> String {
        let widths = self.widths(columns);
        let mut out = String::new();
        let is_first = self.least.is_none();
        if is_first && self.columns.iter().any(|c| !c.title.is_empty()) {
            let titles = self.columns.iter().map(|c| Cell::from(c.title)).collect();
            let header = self.line(&titles, &widths, true);
            let _ = writeln!(out, "{}", paint(DIM, header.trim_end()));
        }
        for (number, row) in self.rows.iter().enumerate() {
            if !row.heading.is_empty() {
                let gap = if number > 0 || !is_first { "\n" } else { "" };
                let _ = writeln!(out, "{gap}{}", row.heading);
            }
            let line = self.line(&row.cells, &widths, row.dim);
            let line = line.trim_end();
            let line = if row.dim {
                paint(DIM, line)
            } else {
                line.to_owned()
            };
            let _ = writeln!(out, "{line}");
            if !row.note.is_empty() {
                let _ = writeln!(out, "{}", paint(DIM, fit(&row.note, columns)));
            }
        }
        out
    }

    /// Returns the width of each column; `None` for one that is left out.
    fn widths(&self, columns: usize) -> Vec<Option<usize>> {
        let whole = self.natural_widths();
        if whole.iter().flatten().map(|w| w + 2).sum::<usize>() <= columns + 2 {
            return whole;
        }
        let cut = |(width, column): (Option<usize>, &Column)| {
            width.map(|w| w.min(column.most.max(super::text::width(column.title))))
        };
        let mut widths: Vec<_> = whole.into_iter().zip(&self.columns).map(cut).collect();
        let Some(last) = widths.len().checked_sub(1) else {
            return widths;
        };
        let wanted = widths[last].unwrap_or(0);
        let fixed = |widths: &[Option<usize>]| -> usize {
            widths[..last].iter().flatten().map(|w| w + 2).sum()
        };
        while fixed(&widths) + self.room.min(wanted) > columns {
            let shown = (0..last).filter(|&i| widths[i].is_some() && self.columns[i].priority > 0);
            match shown.max_by_key(|&i| self.columns[i].priority) {
                Some(i) => widths[i] = None,
                None => break,
            }
        }
        let left = columns.saturating_sub(fixed(&widths)).max(8);
        widths[last] = Some(wanted.min(left));
        widths
    }

    /// Returns the width that each column needs for its cells; `None` for an optional one that is empty.
    fn natural_widths(&self) -> Vec<Option<usize>> {
        let natural = |(i, column): (usize, &Column)| {
            let cells = self.rows.iter().filter_map(|r| r.cells.get(i));
            let widest = cells.map(|c| width(&c.text)).max().unwrap_or(0);
            let is_optional = column.priority > 0;
            let least = self.least.as_ref().and_then(|least| least[i]);
            let own = (widest > 0 || !is_optional).then(|| widest.max(width(column.title)));
            own.max(least)
        };
        self.columns.iter().enumerate().map(natural).collect()
    }

    fn line(&self, cells: &Vec<Cell>, widths: &[Option<usize>], plain: bool) -> String {
        let mut out = String::new();
        let shown = self.columns.iter().zip(cells).zip(widths);
        for ((column, cell), width) in shown.filter_map(|(c, w)| w.map(|w| (c, w))) {
            let text = fit(&cell.text, width);
            let blanks = " ".repeat(width.saturating_sub(super::text::width(&text)));
            let painted = if plain || cell.style == Style::new() || text.is_empty() {
                text
            } else {
                paint(cell.style, text)
            };
            match column.align {
                Align::Left => {
                    let _ = write!(out, "{painted}{blanks}  ");
                }
                Align::Right => {
                    let _ = write!(out, "{blanks}{painted}  ");
                }
            }
        }
        out
    }
}

/// Returns `7 turns` or `1 turn`: a count with the right form of its noun.
pub fn counted(n: u64, one: &str, many: &str) -> String {
    format!(
        "{} {}",
        crate::human::count(n),
        if n == 1 { one } else { many }
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    fn table() -> Table {
        let columns = [
            Column::left("id"),
            Column::right("size").optional(1),
            Column::left("branch").optional(2).at_most(8),
            Column::left("title"),
        ];
        let mut table = Table::new(&columns, 10);
        table.push(vec![
            "abcd1234".into(),
            "1.2 MB".into(),
            "a-very-long-branch".into(),
            "Fix the flaky test".into(),
        ]);
        table.push(vec!["ef".into(), "9 B".into(), "".into(), "日本語".into()]);
        table
    }

    #[test]
    fn table_leaves_out_columns_when_narrow() {
        assert_eq!(
            table().render(50),
            "\u{1b}[2mid          size  branch    title\u{1b}[0m\nabcd1234  1.2 MB  a-very-…  Fix the flaky test\nef           9 B            日本語\n"
        );
        assert!(
            table()
                .render(usize::MAX / 2)
                .contains("a-very-long-branch")
        );
        assert!(!table().render(34).contains("branch"));
        assert!(!table().render(24).contains("size"));
    }

    #[test]
    fn table_rows_fit_every_width() {
        for columns in 18..300 {
            let text = anstream::adapter::strip_str(&table().render(columns)).to_string();
            for line in text.lines() {
                assert!(width(line) <= columns, "{columns}: {line}");
            }
        }
    }

    #[test]
    fn table_in_parts_keeps_its_columns() {
        let mut parts = table();
        let first = parts.render_part(50);
        assert_eq!(first, table().render(50));
        parts.heading("more".to_owned());
        parts.push(vec!["g".into(), "1 B".into(), "".into(), "Next".into()]);
        assert_eq!(
            parts.render_part(50),
            "\nmore\ng            1 B            Next\n"
        );
        assert_eq!(parts.render_part(50), "");
    }

    #[test]
    fn table_cuts_nothing_when_unlimited() {
        assert!(
            table()
                .render(usize::MAX / 2)
                .contains("Fix the flaky test")
        );
    }
}
