//! Lists of turns and of branches.

use std::fmt::Write as _;

use crate::human::{bytes, count, round_tokens, tokens};
use crate::view::{Branches, SessionText, Subagents, TurnList, TurnRow};

use super::screen::Screen;
use super::style::{DIM, RED, YELLOW, paint};
use super::table::{Cell, Column, Table, counted};
use super::text::{short_id, wrap_message};

const TURNS: [Column; 7] = [
    Column::right("turn"),
    Column::right("time").optional(3),
    Column::right("size").optional(4),
    Column::right("tokens"),
    Column::left("calls").optional(5),
    Column::left("notes").optional(2),
    Column::left("prompt"),
];

/// Returns the turns of a session as a table; turns that the model is not shown any more are dim.
pub fn turn_table(screen: &Screen<'_>, title: &SessionText, list: &TurnList, size: u64) -> String {
    let mut out = screen.session_heading(&list.session_id, title);
    let about = if list.tokens_recorded { "" } else { "about " };
    let summary = format!(
        "{}, {}, {about}{} of {} tokens in the context window",
        counted(list.turns, "turn", "turns"),
        bytes(size),
        tokens(list.tokens),
        round_tokens(list.tokens_limit)
    );
    let summary = wrap_message(&summary, screen.table_columns);
    let _ = writeln!(out, "{}\n", paint(DIM, summary));
    let mut columns = TURNS;
    columns[4] = columns[4].at_most((screen.table_columns / 3).max(12));
    let room = (screen.table_columns / 3).clamp(16, 60);
    let mut table = Table::new(&columns, room);
    let mut day = String::new();
    for row in &list.turn_rows {
        let cells = turn_cells(screen, row, &mut day);
        if row.shown {
            table.push(cells);
        } else {
            table.push_dim(cells);
        }
    }
    out + &table.render(screen.table_columns)
}

/// Returns the cells of a turn. `day` is the day of the turn before it, which is not repeated.
fn turn_cells(screen: &Screen<'_>, row: &TurnRow, day: &mut String) -> Vec<Cell> {
    let (number, prompt) = match row.turn {
        0 => (String::new(), "(before the first prompt)".to_owned()),
        n => (n.to_string(), screen.line(&row.prompt)),
    };
    let time = row.time_ms.and_then(|t| screen.time_of(t));
    let time = time.map(|time| since_day(&time, day));
    let calls: Vec<String> = row
        .calls
        .iter()
        .map(|c| match c.count {
            1 => screen.line(&c.tool),
            n => format!("{}×{n}", screen.line(&c.tool)),
        })
        .collect();
    vec![
        number.into(),
        time.unwrap_or_default().into(),
        bytes(row.bytes).into(),
        format!("~{}", tokens(row.tokens)).into(),
        calls.join(" ").into(),
        notes(row),
        prompt.into(),
    ]
}

/// Returns a time without its day if that is the same as before.
fn since_day(time: &str, day: &mut String) -> String {
    match time.split_once(' ') {
        Some((same, clock)) if same == day => clock.to_owned(),
        Some((other, _)) => {
            other.clone_into(day);
            time.to_owned()
        }
        None => time.to_owned(),
    }
}

/// Returns what is unusual about a turn.
fn notes(row: &TurnRow) -> Cell {
    let mut notes = Vec::new();
    for (is, word) in [
        (row.compacted, "compacted"),
        (row.interrupted, "interrupted"),
        (row.unfinished, "unfinished"),
    ] {
        if is {
            notes.push(word.to_owned());
        }
    }
    if row.failures > 0 {
        notes.push(format!("{} failed", count(row.failures.into())));
    }
    let style = if row.failures > 0 { RED } else { YELLOW };
    Cell::painted(style, notes.join(", "))
}

const BRANCHES: [Column; 5] = [
    Column::right("after turn"),
    Column::right("entries"),
    Column::right("size").optional(2),
    Column::left("first entry").at_most(8),
    Column::left("first prompt"),
];

/// Returns the branches of a session as a table.
pub fn branch_table(screen: &Screen<'_>, branches: &Branches) -> String {
    let mut table = Table::new(&BRANCHES, 16);
    for branch in &branches.branches {
        let after = branch.after_turn.map(|t| t.to_string());
        table.push(vec![
            after.unwrap_or_else(|| "separate".to_owned()).into(),
            count(branch.entries.into()).into(),
            bytes(branch.bytes).into(),
            short_id(&branch.uuid).into(),
            screen.line(&branch.prompt).into(),
        ]);
    }
    table.render(screen.table_columns)
}

const AGENTS: [Column; 5] = [
    Column::left("id").at_most(17),
    Column::right("turn"),
    Column::right("size").optional(2),
    Column::left("type").at_most(20).optional(3),
    Column::left("started for"),
];

/// Returns the subagents of a session as a table; those whose transcripts are gone are dim.
pub fn agent_table(screen: &Screen<'_>, agents: &Subagents) -> String {
    let mut table = Table::new(&AGENTS, 16);
    for agent in &agents.subagents {
        let turn = agent.turn.filter(|&t| t > 0).map(|t| t.to_string());
        let cells = vec![
            screen.line(&agent.agent_id).into(),
            turn.unwrap_or_else(|| "–".to_owned()).into(),
            agent.bytes.map_or("gone".to_owned(), bytes).into(),
            screen.line(&agent.agent_type).into(),
            screen.line(&agent.description).into(),
        ];
        if agent.bytes.is_some() {
            table.push(cells);
        } else {
            table.push_dim(cells);
        }
    }
    table.render(screen.table_columns)
}
