//! Draws the state. Only text that was cleaned and masked is drawn.

mod dialogs;
mod help;
mod sessions;
mod table;

use ratatui::Frame;
use ratatui::layout::{Constraint, Layout, Rect};
use ratatui::style::Style;
use ratatui::text::{Line, Span};
use ratatui::widgets::Paragraph;

use crate::render::{fit, width, wrap};

use super::app::{App, View};

pub use help::KEYS;

/// Below this width only one of the two panes is shown.
const TWO_PANES: u16 = 72;

impl App {
    /// Draws everything.
    pub fn draw(&self, frame: &mut Frame<'_>) {
        match self.view {
            View::Sessions => sessions::draw(self, frame),
            View::Table => table::draw(self, frame),
            View::Preview => dialogs::draw_preview(self, frame),
            View::Made => dialogs::draw_made(self, frame),
        }
        dialogs::draw(self, frame);
    }

    fn area(&self) -> Rect {
        Rect::new(0, 0, self.size.0, self.size.1)
    }
}

/// The parts of a screen with a list and a pane beside it.
struct Parts {
    header: Rect,
    list: Rect,
    pane: Rect,
    footer: Rect,
}

fn parts(app: &App, footer: u16) -> Parts {
    let rows = Layout::vertical([
        Constraint::Length(3),
        Constraint::Min(3),
        Constraint::Length(footer),
    ]);
    let [header, body, footer] = rows.areas(app.area());
    let (list, pane) = if body.width < TWO_PANES {
        let reads = app.table.as_ref().is_some_and(|t| t.reads);
        let nothing = Rect::new(body.right(), body.y, 0, body.height);
        if reads && app.view == View::Table {
            (nothing, body)
        } else {
            (body, nothing)
        }
    } else {
        let share = match (app.view, body.width) {
            (View::Sessions, _) => 60,
            (_, ..110) => 56,
            _ => 48,
        };
        let columns = Layout::horizontal([
            Constraint::Percentage(share),
            Constraint::Length(1),
            Constraint::Min(10),
        ]);
        let [list, _, pane] = columns.areas(body);
        (list, pane)
    };
    Parts {
        header,
        list,
        pane,
        footer,
    }
}

const TABLE_FOOTER: u16 = 3;
const LIST_FOOTER: u16 = 2;

/// Returns where the tree is on the screen.
pub(super) fn tree_area(app: &App) -> Rect {
    parts(app, TABLE_FOOTER).list
}

/// Returns where the rows of the tree are on the screen.
pub(super) fn tree_rows(app: &App) -> Rect {
    tree_area(app)
}

/// Returns where the rows of the list of sessions are on the screen.
pub(super) fn list_rows(app: &App) -> Rect {
    let list = parts(app, LIST_FOOTER).list;
    Rect {
        y: list.y + 1,
        height: list.height.saturating_sub(1),
        ..list
    }
}

/// Returns how many columns the content has; 0 if it is not on the screen.
pub(super) fn content_columns(app: &App) -> usize {
    usize::from(parts(app, TABLE_FOOTER).pane.width.saturating_sub(1))
}

/// Returns how many columns the last turns of a session have; 0 if they are not on the screen.
pub(super) fn glimpse_columns(app: &App) -> usize {
    usize::from(parts(app, LIST_FOOTER).pane.width.saturating_sub(1))
}

/// A line that is filled from the left and cut at its end.
struct Row {
    spans: Vec<Span<'static>>,
    left: usize,
}

impl Row {
    fn new(columns: u16) -> Self {
        Self {
            spans: Vec::new(),
            left: usize::from(columns),
        }
    }

    /// Adds text, cut to what is left.
    fn push(&mut self, text: &str, style: Style) {
        if self.left == 0 {
            return;
        }
        let text = fit(text, self.left);
        self.left -= width(&text);
        self.spans.push(Span::styled(text, style));
    }

    /// Adds text in so many columns, cut or padded.
    fn cell(&mut self, text: &str, columns: usize, style: Style) {
        let columns = columns.min(self.left);
        let text = fit(text, columns);
        let gap = " ".repeat(columns - width(&text));
        self.left -= columns;
        self.spans.push(Span::styled(text + &gap, style));
    }

    /// Adds words in so many columns, cut after a word or padded.
    fn words(&mut self, text: &str, columns: usize, style: Style) {
        self.cell(&fit_words(text, columns.min(self.left)), columns, style);
    }

    /// Adds text at the right end of so many columns.
    fn right(&mut self, text: &str, columns: usize, style: Style) {
        let columns = columns.min(self.left);
        let text = fit(text, columns);
        let gap = " ".repeat(columns - width(&text));
        self.left -= columns;
        self.spans.push(Span::styled(gap + &text, style));
    }

    fn line(self) -> Line<'static> {
        Line::from(self.spans)
    }
}

/// Cuts a text to at most `columns`, after a word where one ends in the second half.
fn fit_words(text: &str, columns: usize) -> String {
    let cut = fit(text, columns);
    if cut == text {
        return cut;
    }
    let kept = cut.trim_end_matches('…');
    match kept.rfind(' ') {
        Some(at) if at > kept.len() / 2 => format!("{} …", kept[..at].trim_end()),
        _ => cut,
    }
}

/// Returns a command line in at most so many rows.
fn command_rows(app: &App, columns: u16, command: &str, most: usize) -> Vec<Line<'static>> {
    let room = usize::from(columns.saturating_sub(2)).max(4);
    let mut rows = wrap(&app.look.presenter.line(command), room);
    if rows.len() > most {
        rows.truncate(most);
        if let Some(last) = rows.last_mut() {
            *last = fit(&format!("{last} …"), room);
        }
    }
    let rows = rows.into_iter().enumerate().map(|(n, text)| {
        let mut row = Row::new(columns);
        row.push(if n == 0 { "$ " } else { "  " }, app.look.faint());
        row.push(&text, app.look.strong());
        row.line()
    });
    rows.collect()
}

/// Draws the line between the two panes.
fn draw_rule(app: &App, frame: &mut Frame<'_>, list: Rect) {
    if list.width == 0 || list.right() >= app.size.0 {
        return;
    }
    let area = Rect::new(list.right(), list.y, 1, list.height);
    let lines = vec![Line::styled("│", app.look.faint()); usize::from(list.height)];
    frame.render_widget(Paragraph::new(lines), area);
}

/// Draws lines from one of them on.
fn draw_lines(frame: &mut Frame<'_>, area: Rect, lines: &[Line<'static>], scroll: usize) {
    let most = lines.len().saturating_sub(usize::from(area.height) / 2);
    let from = scroll.min(most);
    let to = (from + usize::from(area.height)).min(lines.len());
    frame.render_widget(Paragraph::new(lines[from..to].to_vec()), area);
}

/// Draws a message, or what stands in its place.
fn message_or(app: &App, columns: u16, otherwise: Line<'static>) -> Line<'static> {
    match &app.message {
        Some(message) => {
            let style = if message.is_error {
                app.look.bad()
            } else {
                app.look.changed()
            };
            Line::styled(fit(&message.text, usize::from(columns)), style)
        }
        None => otherwise,
    }
}

/// Returns keys and what they do, as many as fit into a line.
fn key_line(app: &App, columns: u16, keys: &[(&str, &str)]) -> Line<'static> {
    let mut row = Row::new(columns);
    for (key, what) in keys {
        let needed = width(key) + width(what) + 3;
        if row.left < needed {
            break;
        }
        row.push(key, app.look.name());
        row.push(&format!(" {what}"), Style::new());
        row.push("  ", Style::new());
    }
    row.line()
}
