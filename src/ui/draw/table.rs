//! Draws the operating table.

use ratatui::Frame;
use ratatui::layout::Rect;
use ratatui::style::{Modifier, Style};
use ratatui::text::Line;
use ratatui::widgets::Paragraph;

use crate::human::{bytes, percent, round_tokens, tokens};
use crate::render::{bar, fit, pad, width, wrap};

use super::{Row, TABLE_FOOTER, command_rows, draw_lines, draw_rule, key_line, message_or, parts};
use crate::ui::app::{App, Opening};
use crate::ui::label::label;
use crate::ui::marks::Fate;
use crate::ui::table::Table;
use crate::ui::tree::{Node, NodeKind};

/// The columns of bars in the tree and in the header.
const BAR: usize = 5;
const WIDE_BAR: usize = 20;
const NARROW_BAR: usize = 8;

/// The columns from which the wide bar is drawn.
const WIDE: u16 = 100;

/// The columns of the word that names what happens to a row.
const FATE: usize = 8;

pub(super) fn draw(app: &App, frame: &mut Frame<'_>) {
    let parts = parts(app, TABLE_FOOTER);
    let Some(table) = app.table.as_deref() else {
        if let Some(opening) = &app.opening {
            let lines = reading(app, opening, parts.header.width);
            frame.render_widget(Paragraph::new(lines), parts.header);
        }
        return;
    };
    let header = header(app, table, parts.header.width);
    frame.render_widget(Paragraph::new(header), parts.header);
    let rows = rows(app, table, parts.list);
    frame.render_widget(Paragraph::new(rows), parts.list);
    draw_rule(app, frame, parts.list);
    draw_content(table, frame, parts.pane);
    let footer = footer(app, table, parts.footer.width);
    frame.render_widget(Paragraph::new(footer), parts.footer);
}

fn reading(app: &App, opening: &Opening, columns: u16) -> Vec<Line<'static>> {
    const FRAMES: [&str; 8] = ["⠋", "⠙", "⠸", "⠴", "⠦", "⠧", "⠇", "⠏"];
    let frame = FRAMES[(app.ticks % 8) as usize];
    let size = match opening.bytes {
        0 => String::new(),
        n => format!(" {}", bytes(n)),
    };
    let mut title = Row::new(columns);
    title.push("ccsurgery", app.look.strong());
    title.push(&format!("  “{}”", opening.title), Style::new());
    let mut text = format!("{frame} reading{size} …");
    if opening.read > 0 && opening.bytes > 0 {
        let share = percent(opening.read.min(opening.bytes), opening.bytes);
        text = format!("{text} {share}");
    }
    vec![title.line(), Line::styled(text, app.look.name())]
}

fn header(app: &App, table: &Table, columns: u16) -> Vec<Line<'static>> {
    let look = &app.look;
    let mut title = Row::new(columns);
    title.push(&look.presenter.line(&table.tree.name), look.strong());
    let name = format!("  “{}”", look.presenter.line(&table.tree.title));
    let grew = if table.grew {
        "  it has grown: R reads it again"
    } else {
        ""
    };
    let room = title.left.saturating_sub(width(grew));
    title.push(&fit(&name, room), Style::new());
    title.push(grew, look.changed());
    vec![title.line(), totals(app, table, columns), Line::default()]
}

/// Returns the totals before and after, with a bar of the context window.
fn totals(app: &App, table: &Table, columns: u16) -> Line<'static> {
    let look = &app.look;
    let (before, after) = (table.before, table.after);
    let changes = !table.plan.is_empty();
    let mut row = Row::new(columns);
    row.push("context ", look.faint());
    row.push(&tokens(before.tokens), look.strong());
    if changes {
        let about = if table.is_exact { "" } else { "~" };
        row.push(" → ", look.faint());
        let style = look.good().add_modifier(Modifier::BOLD);
        row.push(&format!("{about}{}", tokens(after.tokens)), style);
    }
    let limit = round_tokens(table.tree.limit);
    let share = percent(after.tokens, table.tree.limit);
    row.push(&format!(" of {limit} "), look.faint());
    let full = look.fullness(after.tokens, table.tree.limit);
    let bar_columns = if columns < WIDE { NARROW_BAR } else { WIDE_BAR };
    let filled = bar(
        after.tokens.min(table.tree.limit),
        table.tree.limit,
        bar_columns,
    );
    row.push(
        &pad(&filled, bar_columns as i32),
        full.add_modifier(Modifier::UNDERLINED),
    );
    row.push(&format!(" {share}"), full);
    let pair = |before: String, after: String| {
        if changes && before != after {
            format!("{before} → {after}")
        } else {
            before
        }
    };
    let file = pair(bytes(before.bytes), bytes(after.bytes));
    let turns = pair(before.turns.to_string(), after.turns.to_string());
    for (name, value) in [("file", file), ("turns", turns)] {
        if row.left >= width(name) + width(&value) + 3 {
            row.push(&format!("  {name} "), look.faint());
            row.push(&value, Style::new());
        }
    }
    row.line()
}

fn rows(app: &App, table: &Table, area: Rect) -> Vec<Line<'static>> {
    let chosen = table.anchor.map(|_| table.chosen()).unwrap_or_default();
    let visible = table.visible.iter().enumerate().skip(table.top);
    let rows = visible.take(usize::from(area.height)).map(|(place, row)| {
        let row = *row as usize;
        let line = tree_row(app, table, row, area.width);
        if place == table.cursor && !table.reads {
            line.patch_style(app.look.cursor())
        } else if chosen.contains(&row) || place == table.cursor {
            line.patch_style(Style::new().add_modifier(Modifier::UNDERLINED))
        } else {
            line
        }
    });
    rows.collect()
}

fn tree_row(app: &App, table: &Table, at: usize, columns: u16) -> Line<'static> {
    let look = &app.look;
    let node = &table.tree.nodes[at];
    let mut row = Row::new(columns);
    if node.kind == NodeKind::Compaction {
        let text = " compacted: the model is shown a summary of what is above ";
        let rule = "┄".repeat(usize::from(columns).saturating_sub(width(text) + 2));
        row.push(&format!("┄┄{text}{rule}"), look.changed());
        return row.line();
    }
    let fate = table.marks.fate(&table.tree, at);
    row.push(&" ".repeat(usize::from(node.depth) * 2), Style::new());
    let is_open = table.has_below(at) && table.is_open(at);
    let fold = match (table.can_unfold(at), is_open) {
        (false, _) => "  ",
        (true, true) => "▾ ",
        (true, false) => "▸ ",
    };
    row.push(fold, look.faint());
    row.push(mark(node, fate), fate_style(app, fate));
    let figures = 7 + BAR + 1;
    let word = fate.word();
    let fate_columns = if word.is_empty() { 0 } else { FATE };
    let room = row.left.saturating_sub(figures + fate_columns);
    push_label(app, table, node, fate, room, &mut row);
    if fate_columns > 0 {
        row.right(&format!("{word} "), FATE, fate_style(app, fate));
    }
    let faded = if node.shown {
        Style::new()
    } else {
        look.faint()
    };
    row.right(&figure(node), 7, faded);
    row.push(" ", Style::new());
    let largest = match node.kind {
        NodeKind::Turn => table.tree.largest_turn,
        _ => table.tree.largest_block.max(1.0),
    };
    let heat = look.heat(f64::from(node.tokens) / table.tree.limit.max(1) as f64);
    let style = if node.shown { heat } else { look.faint() };
    let part = (node.tokens as u64).min(largest as u64);
    row.cell(&bar(part, largest as u64, BAR), BAR, style);
    row.line()
}

/// Returns the tokens of a row; of a branch or a subagent its bytes, of what is in them nothing.
fn figure(node: &Node) -> String {
    match node.kind {
        NodeKind::Branch | NodeKind::Subagent => bytes(node.bytes).replace(' ', ""),
        NodeKind::Aside => String::new(),
        _ => tokens(node.tokens as u64),
    }
}

fn mark(node: &Node, fate: Fate) -> &'static str {
    match (node.kind, fate) {
        (NodeKind::Branch | NodeKind::Subagent | NodeKind::Aside, _) => "    ",
        (_, Fate::Kept) => "[ ] ",
        (_, Fate::Touched | Fate::Stubbed | Fate::Edited | Fate::Summarised) => "[~] ",
        _ => "[x] ",
    }
}

fn fate_style(app: &App, fate: Fate) -> Style {
    match fate {
        Fate::Kept => app.look.faint(),
        Fate::Touched | Fate::Stubbed | Fate::Edited | Fate::Summarised => app.look.changed(),
        Fate::Deleted | Fate::Stripped | Fate::Dropped | Fate::Cut => app.look.bad(),
    }
}

fn push_label(app: &App, table: &Table, node: &Node, fate: Fate, room: usize, row: &mut Row) {
    let look = &app.look;
    let label = label(&table.tree, node, look.presenter);
    let style = match node.kind {
        _ if node.failed && node.kind != NodeKind::Turn => look.bad(),
        NodeKind::Turn => look.strong(),
        NodeKind::Prompt => look.good(),
        NodeKind::Call | NodeKind::Branch | NodeKind::Subagent => look.name(),
        _ => look.faint(),
    };
    let gone = matches!(
        fate,
        Fate::Deleted | Fate::Stripped | Fate::Dropped | Fate::Cut
    );
    let (style, words) = if gone {
        (look.removed(), look.removed())
    } else if node.shown || matches!(node.kind, NodeKind::Branch | NodeKind::Subagent) {
        (style, Style::new())
    } else {
        (look.faint(), look.faint())
    };
    let what = match node.kind {
        // Numbers of turns are lined up.
        NodeKind::Turn if node.turn > 0 => {
            let digits = table.tree.turns().to_string().len() as i32;
            pad(&label.what, -digits)
        }
        _ => label.what,
    };
    let what = fit(&what, room);
    let failed = node.kind == NodeKind::Turn && node.failed;
    row.push(&what, style);
    let left = room.saturating_sub(width(&what));
    let sign = if failed && left > 4 { " !" } else { "" };
    row.push(sign, look.bad());
    let left = left.saturating_sub(width(sign));
    row.words(&format!("  {}", label.gist), left, words);
}

fn draw_content(table: &Table, frame: &mut Frame<'_>, area: Rect) {
    if area.width == 0 {
        return;
    }
    let area = Rect {
        x: area.x + 1,
        width: area.width - 1,
        ..area
    };
    let key = table.key();
    let known = table.content.as_ref().filter(|(of, ..)| Some(*of) == key);
    match known {
        Some((_, _, lines)) => draw_lines(frame, area, lines, table.scroll),
        None => frame.render_widget(Paragraph::new("…"), area),
    }
}

fn footer(app: &App, table: &Table, columns: u16) -> Vec<Line<'static>> {
    let look = &app.look;
    let filter = table.filter.as_ref().map(|(typed, _)| {
        let text = format!("filter: {}  (Esc shows all)", look.presenter.line(typed));
        Line::styled(fit(&text, usize::from(columns)), look.faint())
    });
    let is_free = app.message.is_none() && filter.is_none();
    let mut lines = command_lines(app, table, columns, if is_free { 2 } else { 1 });
    if lines.len() < 2 {
        lines.insert(0, message_or(app, columns, filter.unwrap_or_default()));
    }
    lines.push(key_line(app, columns, keys(table)));
    lines
}

/// Returns the command line that does the same as the marks, or why there is none.
fn command_lines(app: &App, table: &Table, columns: u16, most: usize) -> Vec<Line<'static>> {
    let look = &app.look;
    if let Some(why) = &table.refusal {
        let text = format!("refused: {}", look.presenter.line(why));
        let mut rows = wrap(&text, usize::from(columns).max(4));
        rows.truncate(most);
        return rows
            .into_iter()
            .map(|row| Line::styled(row, look.bad()))
            .collect();
    }
    if table.plan.is_empty() {
        return vec![Line::styled("nothing is marked", look.faint())];
    }
    let (file, is_saved) = table.plan_file();
    let mut command = table.command();
    if table.plan.operation() == "run" && !is_saved {
        command = format!("{command}   (:w {file} writes the plan)");
    }
    command_rows(app, columns, &command, most)
}

/// Returns the keys that matter here, the most important first.
fn keys(table: &Table) -> &'static [(&'static str, &'static str)] {
    if table.reads {
        &[
            ("j k", "scroll"),
            ("Tab", "back to the tree"),
            ("?", "all keys"),
        ]
    } else if table.anchor.is_some() {
        &[
            ("j k", "extend"),
            ("d", "delete"),
            ("o", "stub outputs"),
            ("t", "thinking"),
            ("i", "images"),
            ("Esc", "no range"),
        ]
    } else if table.plan.is_empty() {
        &[
            ("space", "mark"),
            ("→", "unfold"),
            ("d", "delete"),
            ("o", "stub"),
            ("t", "thinking"),
            ("?", "all keys"),
            ("/", "search"),
            ("b", "budget"),
            ("q", "back"),
        ]
    } else {
        &[
            ("Enter", "preview"),
            ("space", "mark"),
            ("u", "take back"),
            ("?", "all keys"),
            ("U", "unmark all"),
            (":w", "write the plan"),
            ("q", "back"),
        ]
    }
}
