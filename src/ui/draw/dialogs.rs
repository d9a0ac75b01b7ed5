//! Draws dialogs, the preview, and what was made.

use ratatui::Frame;
use ratatui::layout::{Constraint, Layout, Rect};
use ratatui::style::Style;
use ratatui::text::Line;
use ratatui::widgets::{Block, Clear, Paragraph};

use crate::render::wrap;

use super::help::help_lines;
use super::{Row, command_rows, draw_lines, key_line, message_or};
use crate::ui::app::{App, Dialog};

/// Draws what is open above the screen.
pub(super) fn draw(app: &App, frame: &mut Frame<'_>) {
    match &app.dialog {
        Some(Dialog::Help { scroll }) => {
            let area = middle(app, 76, u16::MAX);
            let inner = draw_box(app, frame, area, " all keys (any other key closes) ");
            draw_lines(frame, inner, &help_lines(&app.look), *scroll);
        }
        Some(Dialog::Input { purpose, text }) => {
            let area = Rect::new(0, app.size.1.saturating_sub(3), app.size.0, 1);
            frame.render_widget(Clear, area);
            let mut row = Row::new(area.width);
            row.push(purpose.prompt(), app.look.name());
            row.push(&app.look.presenter.line(text), app.look.strong());
            row.push("▏", app.look.name());
            frame.render_widget(Paragraph::new(row.line()), area);
        }
        Some(Dialog::Digest {
            at, text, scroll, ..
        }) => {
            let area = middle(app, 100, u16::MAX);
            let title = format!(" turns up to {at} become this digest ");
            let inner = draw_box(app, frame, area, &title);
            draw_digest(app, frame, inner, text.as_deref(), *scroll);
        }
        Some(Dialog::Confirm { question, .. }) => {
            let columns = usize::from(app.size.0.saturating_sub(8)).min(70);
            let rows = wrap(&app.look.presenter.line(question), columns);
            let area = middle(app, columns as u16 + 4, rows.len() as u16 + 4);
            let inner = draw_box(app, frame, area, " please confirm ");
            let mut lines: Vec<Line<'static>> = rows.into_iter().map(Line::from).collect();
            lines.push(Line::default());
            lines.push(key_line(
                app,
                inner.width,
                &[("y", "yes"), ("any other key", "no")],
            ));
            frame.render_widget(Paragraph::new(lines), inner);
        }
        None => {}
    }
}

fn draw_digest(app: &App, frame: &mut Frame<'_>, area: Rect, text: Option<&str>, scroll: usize) {
    let rows = Layout::vertical([Constraint::Min(1), Constraint::Length(1)]);
    let [body, foot] = rows.areas(area);
    let Some(text) = text else {
        frame.render_widget(Paragraph::new("making the digest …"), body);
        return;
    };
    let safe = app.look.presenter.lines(text);
    let columns = usize::from(body.width).max(10);
    let lines: Vec<Line<'static>> = safe
        .split('\n')
        .flat_map(|line| wrap(line, columns))
        .map(Line::from)
        .collect();
    draw_lines(frame, body, &lines, scroll);
    let keys = [
        ("Enter", "use it"),
        ("e", "edit it"),
        ("j k", "scroll"),
        ("Esc", "not now"),
    ];
    frame.render_widget(Paragraph::new(key_line(app, foot.width, &keys)), foot);
}

/// Returns an area in the middle of the screen.
fn middle(app: &App, columns: u16, rows: u16) -> Rect {
    let (columns, rows) = (
        columns.min(app.size.0.saturating_sub(2)),
        rows.min(app.size.1.saturating_sub(2)),
    );
    let (x, y) = ((app.size.0 - columns) / 2, (app.size.1 - rows) / 2);
    Rect::new(x, y, columns, rows)
}

fn draw_box(app: &App, frame: &mut Frame<'_>, area: Rect, title: &str) -> Rect {
    frame.render_widget(Clear, area);
    let block = Block::bordered()
        .title(title.to_owned())
        .border_style(app.look.name());
    let inner = block.inner(area);
    frame.render_widget(block, area);
    Rect {
        x: inner.x + 1,
        width: inner.width.saturating_sub(2),
        ..inner
    }
}

/// Draws what the marks would do.
pub(super) fn draw_preview(app: &App, frame: &mut Frame<'_>) {
    let rows = Layout::vertical([
        Constraint::Length(2),
        Constraint::Min(3),
        Constraint::Length(3),
    ]);
    let [head, body, foot] = rows.areas(app.area());
    let mut title = Row::new(head.width);
    title.push("preview", app.look.strong());
    title.push(": nothing is written yet", Style::new());
    frame.render_widget(Paragraph::new(title.line()), head);
    match app.preview.busy {
        Some("writing") | None => {
            draw_lines(frame, body, &app.preview.lines, app.preview.scroll);
        }
        Some(what) => frame.render_widget(Paragraph::new(format!("{what} …")), body),
    }
    let command = app.table.as_ref().map(|t| t.command());
    let keys: &[(&str, &str)] = match (app.preview.busy, app.preview.is_idle) {
        (Some("writing"), _) => &[("…", "writing")],
        (Some(_), _) | (None, true) => &[("Esc", "back")],
        (None, false) => &[
            ("Enter", "write a new session"),
            ("i", "rewrite in place"),
            ("j k", "scroll"),
            ("Esc", "back"),
        ],
    };
    let most = if app.message.is_none() { 2 } else { 1 };
    let mut lines = command_rows(app, foot.width, &command.unwrap_or_default(), most);
    if lines.len() < 2 {
        lines.insert(0, message_or(app, foot.width, Line::default()));
    }
    lines.push(key_line(app, foot.width, keys));
    frame.render_widget(Paragraph::new(lines), foot);
}

/// Draws what was made.
pub(super) fn draw_made(app: &App, frame: &mut Frame<'_>) {
    let Some(made) = &app.made else { return };
    let rows = Layout::vertical([Constraint::Min(3), Constraint::Length(2)]);
    let [body, foot] = rows.areas(app.area());
    let columns = usize::from(body.width.saturating_sub(4)).max(10);
    let mut lines = vec![Line::default()];
    let mut push = |text: &str, style: Style| {
        for row in wrap(&app.look.presenter.line(text), columns) {
            lines.push(Line::styled(format!("  {row}"), style));
        }
    };
    push(&made.sentence, app.look.good());
    if made.undone {
        push("It was undone.", app.look.changed());
    }
    for note in &made.notes {
        push(&format!("note: {note}"), app.look.changed());
    }
    if let Some(resume) = made.resume.as_ref().filter(|_| !made.undone) {
        push("", Style::new());
        push("Resume it with r, or with:", app.look.faint());
        push(resume, app.look.strong());
    }
    push("", Style::new());
    push("The same from the command line:", app.look.faint());
    push(&made.command, app.look.strong());
    frame.render_widget(Paragraph::new(lines), body);
    let keys: &[(&str, &str)] = if made.undone {
        &[("Enter", "go on"), ("l", "sessions"), ("q", "quit")]
    } else {
        &[
            ("r", "resume"),
            ("o", "open it here"),
            ("u", "undo"),
            ("Enter", "go on"),
            ("l", "sessions"),
            ("q", "quit"),
        ]
    };
    let lines = vec![
        message_or(app, foot.width, Line::default()),
        key_line(app, foot.width, keys),
    ];
    frame.render_widget(Paragraph::new(lines), foot);
}
