//! Draws the list of sessions.

use ratatui::Frame;
use ratatui::layout::Rect;
use ratatui::style::Style;
use ratatui::text::Line;
use ratatui::widgets::Paragraph;

use crate::human::{age, bytes, percent, tokens};
use crate::render::{bar, short_path};
use crate::view::{SessionRow, State};

use super::{LIST_FOOTER, Row, draw_lines, draw_rule, key_line, message_or, parts};
use crate::ui::app::App;

/// The columns of the bar that shows how full the context window is.
const BAR: usize = 6;

pub(super) fn draw(app: &App, frame: &mut Frame<'_>) {
    let parts = parts(app, LIST_FOOTER);
    frame.render_widget(Paragraph::new(header(app, parts.header)), parts.header);
    frame.render_widget(Paragraph::new(rows(app, parts.list)), parts.list);
    draw_rule(app, frame, parts.list);
    draw_glimpse(app, frame, parts.pane);
    let columns = parts.footer.width;
    let keys = [
        ("Enter", "open"),
        (
            "Tab",
            if app.list.all {
                "this project"
            } else {
                "all projects"
            },
        ),
        ("type", "to filter"),
        ("?", "help"),
        ("Esc", "quit"),
    ];
    let lines = vec![
        message_or(app, columns, Line::default()),
        key_line(app, columns, &keys),
    ];
    frame.render_widget(Paragraph::new(lines), parts.footer);
}

fn header(app: &App, area: Rect) -> Vec<Line<'static>> {
    let mut title = Row::new(area.width);
    title.push("ccsurgery", app.look.strong());
    let scope = if app.list.all {
        "  sessions of all projects"
    } else {
        "  sessions of this project"
    };
    title.push(scope, Style::new());
    if let Some(rows) = &app.list.rows {
        let count = format!("  {} of {}", app.list.fitting.len(), rows.len());
        title.push(&count, app.look.faint());
    }
    let mut filter = Row::new(area.width);
    filter.push("filter: ", app.look.faint());
    filter.push(
        &app.look.presenter.line(&app.list.filter),
        app.look.strong(),
    );
    filter.push("▏", app.look.name());
    vec![title.line(), filter.line(), Line::default()]
}

fn rows(app: &App, area: Rect) -> Vec<Line<'static>> {
    let mut head = Row::new(area.width);
    head.cell("", 2, Style::new());
    head.right("age", 4, app.look.faint());
    head.right("context", 9, app.look.faint());
    head.right("full", 13, app.look.faint());
    head.cell("  title or first prompt", 40, app.look.faint());
    let mut lines = vec![head.line()];
    let Some(all) = &app.list.rows else {
        lines.push(Line::styled("  reading the sessions …", app.look.faint()));
        return lines;
    };
    if all.is_empty() {
        let none = if app.list.all {
            "  There are no sessions."
        } else {
            "  This project has no sessions; Tab shows those of all projects."
        };
        lines.push(Line::from(none));
    } else if app.list.fitting.is_empty() {
        lines.push(Line::from("  No session fits; Esc clears the filter."));
    }
    let shown = usize::from(area.height.saturating_sub(1));
    let fitting = app.list.fitting.iter().enumerate().skip(app.list.top);
    for (place, at) in fitting.take(shown) {
        lines.push(row(app, &all[*at], area.width, place == app.list.cursor));
    }
    lines
}

fn row(app: &App, session: &SessionRow, columns: u16, is_current: bool) -> Line<'static> {
    let look = &app.look;
    let mut row = Row::new(columns);
    let (mark, style) = match session.state {
        State::Approval => ("◆", look.changed()),
        State::Working => ("●", look.good()),
        State::Input => ("○", look.good()),
        State::Idle if session.live => ("○", look.good()),
        State::Idle => (" ", Style::new()),
    };
    row.cell(mark, 2, style);
    row.right(&short_age(session, app), 4, look.faint());
    let about = if session.tokens_recorded { "" } else { "~" };
    row.right(
        &format!("{about}{}", tokens(session.tokens)),
        9,
        Style::new(),
    );
    let full = look.fullness(session.tokens, session.tokens_limit);
    row.push("  ", Style::new());
    row.cell(&bar(session.tokens, session.tokens_limit, BAR), BAR, full);
    row.right(&percent(session.tokens, session.tokens_limit), 5, full);
    row.push("  ", Style::new());
    let name = look.presenter.line(session.name());
    row.words(&name, row.left, Style::new());
    let line = row.line();
    if is_current {
        line.patch_style(look.cursor())
    } else {
        line
    }
}

fn short_age(session: &SessionRow, app: &App) -> String {
    match age(session.modified_at, app.look.now) {
        now if now == "just now" => "now".to_owned(),
        age => age,
    }
}

fn draw_glimpse(app: &App, frame: &mut Frame<'_>, area: Rect) {
    let Some(session) = app.list.current().filter(|_| area.width > 0) else {
        return;
    };
    let look = &app.look;
    let room = usize::from(area.width);
    let mut facts = vec![format!("{}  {}", session.short_id, bytes(session.bytes))];
    if let Some(turns) = session.turns {
        facts.push(match turns {
            1 => "1 turn".to_owned(),
            turns => format!("{turns} turns"),
        });
    }
    facts.extend(
        session
            .compactions
            .filter(|n| *n > 0)
            .map(|n| format!("compacted {n}×")),
    );
    if session.state != State::Idle {
        facts.push(session.state.name().to_owned());
    }
    let facts = look.presenter.line(facts.join(" · "));
    let project = session.project.as_deref().unwrap_or_default();
    let project = short_path(std::path::Path::new(project), look.home.as_deref(), room);
    let head = vec![
        Line::styled(crate::render::fit(&facts, room), look.strong()),
        Line::styled(crate::render::fit(&project, room), look.faint()),
        Line::default(),
    ];
    let [top, rest] = split_after(area, 3);
    frame.render_widget(Paragraph::new(head), top);
    let known = app.list.glimpse.as_ref();
    if let Some((_, _, lines)) = known.filter(|(path, ..)| *path == session.path) {
        draw_lines(frame, rest, lines, 0);
    }
}

fn split_after(area: Rect, rows: u16) -> [Rect; 2] {
    let rows = rows.min(area.height);
    let top = Rect {
        height: rows,
        ..area
    };
    let rest = Rect {
        y: area.y + rows,
        height: area.height - rows,
        ..area
    };
    [top, rest]
}
