//! Lists of sessions.

use std::collections::BTreeMap;
use std::path::Path;

use crate::human::{age, bytes, duration, percent, tokens};
use crate::store::slug;
use crate::view::{SessionRow, State};

use super::screen::Screen;
use super::style::{BOLD, GREEN, RED, YELLOW, paint};
use super::table::{Cell, Column, Table};
use super::text::{clean, short_path};

const COLUMNS: [Column; 13] = [
    Column::left(""),
    Column::left("id").at_most(24),
    Column::right("age").optional(3),
    Column::right("turns").optional(4),
    Column::right("context"),
    Column::right("full").optional(2),
    Column::right("size").optional(5),
    Column::right("compacted").optional(7),
    Column::left("state").optional(6),
    Column::left("branch").at_most(18).optional(8),
    Column::left("model").at_most(24).optional(9),
    Column::left("project").at_most(28).optional(1),
    Column::left("title or first prompt"),
];

/// Returns a table of sessions.
/// `with_project` adds the project of each.
pub fn session_table(screen: &Screen<'_>, rows: &[&SessionRow], with_project: bool) -> String {
    let mut table = Table::new(&COLUMNS, title_room(screen));
    for row in rows {
        push(&mut table, screen, row, with_project);
    }
    table.render(screen.table_columns)
}

/// Returns how wide the titles should be before other columns are left out for them.
fn title_room(screen: &Screen<'_>) -> usize {
    (screen.table_columns * 2 / 5).clamp(20, 60)
}

fn push(table: &mut Table, screen: &Screen<'_>, row: &SessionRow, with_project: bool) {
    table.push(cells(screen, row, with_project));
    if let Some(call) = &row.pending_call {
        let call = format!("{}  {}", screen.line(&call.tool), screen.line(&call.gist));
        table.note(format!("   waits for a result of: {}", call.trim_end()));
    }
}

fn cells(screen: &Screen<'_>, row: &SessionRow, with_project: bool) -> Vec<Cell> {
    let unknown = |n: Option<u64>| n.map_or("?".to_owned(), |n| n.to_string());
    let optional =
        |text: Option<&crate::view::SessionText>| text.map(|t| screen.line(t)).unwrap_or_default();
    let estimate = if row.tokens_recorded { "" } else { "~" };
    let compactions = match row.compactions {
        Some(0) | None => String::new(),
        Some(n) => format!("{n}×"),
    };
    let project = row.project.as_ref().filter(|_| with_project);
    let project = project.map(|p| short_path(Path::new(p), screen.home, 28));
    let state = match row.state {
        State::Idle => Cell::default(),
        State::Approval => Cell::painted(YELLOW, row.state.name()),
        _ => Cell::from(row.state.name()),
    };
    vec![
        if row.live {
            Cell::painted(GREEN, "●")
        } else {
            Cell::default()
        },
        clean(&row.short_id).into(),
        age(row.modified_at, screen.now).into(),
        unknown(row.turns).into(),
        format!("{estimate}{}", tokens(row.tokens)).into(),
        fullness(row),
        bytes(row.bytes).into(),
        compactions.into(),
        state,
        optional(row.branch.as_ref()).into(),
        optional(row.model.as_ref()).into(),
        project.unwrap_or_default().into(),
        screen.line(row.name()).into(),
    ]
}

const EXPIRING_COLUMNS: [Column; 5] = [
    Column::left("id").at_most(24),
    Column::right("deleted in"),
    Column::right("size").optional(2),
    Column::left("project").at_most(28).optional(1),
    Column::left("title or first prompt"),
];

/// Returns a table of sessions with the time until the client deletes each.
pub fn expiring_table(screen: &Screen<'_>, rows: &[SessionRow]) -> String {
    let mut table = Table::new(&EXPIRING_COLUMNS, title_room(screen));
    for row in rows {
        let left = row
            .expires_at
            .and_then(|t| t.duration_since(screen.now).ok());
        let cell = match left.map(|left| left.as_secs()) {
            None => Cell::painted(RED, "next start"),
            Some(left @ 0..=604_800) => Cell::painted(YELLOW, duration(left)),
            Some(left) => duration(left / 86_400 * 86_400).into(),
        };
        let project = row.project.as_deref().unwrap_or_default();
        table.push(vec![
            clean(&row.short_id).into(),
            cell,
            bytes(row.bytes).into(),
            clean(&short_path(Path::new(project), screen.home, 28)).into(),
            screen.line(row.name()).into(),
        ]);
    }
    table.render(screen.table_columns)
}

/// Returns how full the context window is, coloured where Claude Code is about to compact.
fn fullness(row: &SessionRow) -> Cell {
    let text = percent(row.tokens, row.tokens_limit);
    match row.tokens * 100 / row.tokens_limit.max(1) {
        90.. => Cell::painted(RED, text),
        75.. => Cell::painted(YELLOW, text),
        _ => text.into(),
    }
}

/// Returns one table with a heading for each project, in the order in which the projects first occur.
pub fn session_groups(screen: &Screen<'_>, rows: &[SessionRow]) -> String {
    SessionGroups::new(screen).part(screen, rows)
}

/// A table with a heading for each project, made part by part.
pub struct SessionGroups(Table);

impl SessionGroups {
    /// Begins a table for this screen.
    pub fn new(screen: &Screen<'_>) -> Self {
        Self(Table::new(&COLUMNS, title_room(screen)))
    }

    /// Returns the sessions of some projects as the next lines of the table, the projects in the order in which they first
    /// occur.
    pub fn part(&mut self, screen: &Screen<'_>, rows: &[SessionRow]) -> String {
        let table = &mut self.0;
        let mut order: Vec<&Path> = Vec::new();
        let mut groups: BTreeMap<&Path, Vec<&SessionRow>> = BTreeMap::new();
        for row in rows {
            let folder = row.path.parent().unwrap_or(Path::new(""));
            let group = groups.entry(folder).or_default();
            if group.is_empty() {
                order.push(folder);
            }
            group.push(row);
        }
        for folder in order {
            let group = &groups[folder];
            let name = folder.file_name().unwrap_or_default().to_string_lossy();
            // A session may have moved between folders; the one that gave the project its name counts.
            let mut held = group.iter().filter_map(|r| r.project.as_deref());
            let project = held.find(|p| slug(p) == name).unwrap_or(&name);
            let project = short_path(Path::new(project), screen.home, screen.table_columns);
            table.heading(paint(BOLD, project));
            for row in group {
                push(table, screen, row, false);
            }
        }
        table.render_part(screen.table_columns)
    }
}
