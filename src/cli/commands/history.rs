use std::fmt::Write as _;
use std::io::{self, Write as _};
use std::path::Path;
use std::process::ExitCode;

use clap::{Args, Subcommand};
use serde::Serialize;

use crate::view::SessionText;

use crate::render::{
    Cell, Column, Table, YELLOW, age, bytes, clean, paint, short_id, signed_bytes,
};
use crate::store::{Operation, Records, State, UnusableRecord};

use super::super::args::SessionArg;
use super::super::context::Context;
use super::super::error::CliError;
use super::super::names;
use super::super::operations::{Wanted, next, plural, short_name, time_of, title};
use super::super::question::confirm;
use super::super::report::SCHEMA;
use super::super::selection::Age;

/// List past operations, newest first
#[derive(Debug, Args)]
#[command(args_conflicts_with_subcommands = true)]
pub(crate) struct HistoryArgs {
    /// Only operations on this session, or the one that created it
    #[arg(value_name = "SESSION")]
    session: Option<String>,
    #[command(subcommand)]
    command: Option<HistoryCommand>,
}

#[derive(Debug, Subcommand)]
enum HistoryCommand {
    /// Delete the records and saved bytes of old operations, which can then no longer be undone
    Gc(GcArgs),
}

#[derive(Debug, Args)]
struct GcArgs {
    /// Only operations that are at least this old: 30d, 12h, 0d (all)
    #[arg(long, value_name = "AGE", default_value = "30d")]
    older_than: Age,
    /// Show what would be deleted, and change nothing
    #[arg(short = 'n', long)]
    dry_run: bool,
    /// Do not ask
    #[arg(short, long)]
    yes: bool,
}

pub(crate) fn run(args: HistoryArgs, context: &mut Context) -> Result<ExitCode, CliError> {
    if let Some(HistoryCommand::Gc(args)) = args.command {
        return gc(context, &args);
    }
    let Records {
        operations: all,
        unusable,
    } = context.journal.records()?;
    let id = args
        .session
        .map(|name| session_id(context, &all, &name))
        .transpose()?;
    let chosen = |o: &&Operation| match &id {
        Some(id) => o.source_id == *id || o.session_ids().contains(id),
        None => true,
    };
    let shown: Vec<&Operation> = all.iter().rev().filter(chosen).collect();
    if context.json {
        return print_json(context, &all, &shown, &unusable);
    }
    let text = listing(context, &all, &shown, &unusable);
    context.out.write_all(text.as_bytes())?;
    Ok(ExitCode::SUCCESS)
}

/// Lists operations in a table, then the records that cannot be used, then what can be done.
fn listing(
    context: &Context,
    all: &[Operation],
    shown: &[&Operation],
    unusable: &[UnusableRecord],
) -> String {
    if shown.is_empty() && unusable.is_empty() {
        return "The history is empty.\n".to_owned();
    }
    let mut text = String::new();
    if !shown.is_empty() {
        text += &table(context, all, shown).render(context.table_columns);
    }
    for record in unusable {
        let _ = writeln!(
            text,
            "{} {}: {}",
            paint(YELLOW, "unreadable"),
            clean(&record.path.to_string_lossy()),
            clean(&record.fault.to_string())
        );
    }
    if let Some(advice) = advice(all, shown, unusable) {
        let _ = writeln!(text, "\n{advice}");
    }
    text
}

/// Returns the id of the session that a name means. A session that no longer exists is found by its id in the journal.
fn session_id(context: &mut Context, all: &[Operation], name: &str) -> Result<String, CliError> {
    let session = Some(name.to_owned());
    match names::find(context, &SessionArg { session }) {
        Ok(found) => Ok(found.id),
        Err(error) => {
            let ids = all.iter().rev().flat_map(|o| [&o.source_id, &o.target_id]);
            let mut known = ids.filter(|id| id.starts_with(name));
            known.next().cloned().ok_or(error)
        }
    }
}

/// Returns the command that undoes or redoes the newest operation that is shown, if it would not be refused.
fn advice(all: &[Operation], shown: &[&Operation], unusable: &[UnusableRecord]) -> Option<String> {
    let newest = |state| shown.iter().find(|o| o.state == state && !o.forgets);
    if let Some(operation) = newest(State::Committed) {
        let name = short_name(all, operation);
        return Some(format!("Undo one with: ccsurgery undo {name}"));
    }
    let last = next(all, Wanted::Redo).filter(|o| shown.contains(o) && unusable.is_empty())?;
    Some(format!(
        "Redo one with: ccsurgery redo {}",
        short_name(all, last)
    ))
}

fn table(context: &Context, all: &[Operation], shown: &[&Operation]) -> Table {
    let columns = [
        Column::left("name"),
        Column::right("age").optional(2),
        Column::left("operation"),
        Column::left("state").optional(5),
        Column::left("session").optional(1),
        Column::right("size").optional(4),
        Column::right("change").optional(3),
        Column::left("title"),
    ];
    let mut table = Table::new(&columns, 16);
    for operation in shown {
        let row = row(context, all, operation);
        if operation.state == State::Undone {
            table.push_dim(row);
        } else {
            table.push(row);
        }
    }
    table
}

fn row(context: &Context, all: &[Operation], operation: &Operation) -> Vec<Cell> {
    let state = match operation.state {
        State::Committed => "",
        State::Undone => "undone",
        _ if context.journal.is_interrupted(operation) => "interrupted",
        _ => "running",
    };
    let (source, target) = (
        short_id(&operation.source_id),
        short_id(&operation.target_id),
    );
    let (before, after) = sizes(operation);
    let session = if !operation.removed.is_empty() {
        removed(operation, &source)
    } else if operation.replaced.is_empty() {
        format!("{source} → {target}")
    } else {
        format!("{source} in place")
    };
    let change = match (before, after) {
        (Some(before), Some(after)) => signed_bytes(after as i64 - before as i64),
        _ => String::new(),
    };
    vec![
        short_name(all, operation).into(),
        age(time_of(operation), context.now).into(),
        clean(&operation.operation).into(),
        state.into(),
        session.into(),
        after.map(bytes).unwrap_or_default().into(),
        change.into(),
        title(operation)
            .map(|t| context.words(&t))
            .unwrap_or_default()
            .into(),
    ]
}

/// Describes an operation that removed files: the session, or how many of them, and the bytes.
fn removed(operation: &Operation, first: &str) -> String {
    let sessions = operation.other.get("sessions").and_then(|s| s.as_array());
    let len = operation.removed.iter().map(|r| r.before.len).sum();
    match sessions.map_or(0, Vec::len) {
        0 => format!(
            "{}, {}",
            plural(operation.removed.len() as u64, "file", "files"),
            bytes(len)
        ),
        1 => format!("{first}, {}", bytes(len)),
        number => format!("{number} sessions, {}", bytes(len)),
    }
}

/// Returns the sizes of the transcript before and after an operation, as far as the record has them.
fn sizes(operation: &Operation) -> (Option<u64>, Option<u64>) {
    match operation.replaced.last() {
        Some(main) => (Some(main.before.len), main.after.as_ref().map(|a| a.len)),
        None => (None, operation.created_states.last().map(|s| s.len)),
    }
}

#[derive(Serialize)]
struct Document<'a> {
    schema: u32,
    operations: Vec<Row<'a>>,
    unreadable: Vec<Unreadable<'a>>,
}

#[derive(Serialize)]
struct Row<'a> {
    id: &'a str,
    name: &'a str,
    time: &'a str,
    operation: &'a str,
    state: State,
    command: &'a [String],
    source: Session<'a>,
    target: Session<'a>,
    in_place: bool,
    title: Option<SessionText>,
    bytes_before: Option<u64>,
    bytes_after: Option<u64>,
}

#[derive(Serialize)]
struct Session<'a> {
    session_id: &'a str,
    path: String,
}

#[derive(Serialize)]
struct Unreadable<'a> {
    id: &'a str,
    path: String,
    message: String,
}

impl<'a> Row<'a> {
    fn of(all: &[Operation], o: &'a Operation) -> Self {
        let (bytes_before, bytes_after) = sizes(o);
        Self {
            id: &o.id,
            name: short_name(all, o),
            time: &o.time,
            operation: &o.operation,
            state: o.state,
            command: &o.command,
            source: Session::new(&o.source_id, &o.source),
            target: Session::new(&o.target_id, &o.target),
            in_place: !o.replaced.is_empty(),
            title: title(o),
            bytes_before,
            bytes_after,
        }
    }
}

impl<'a> Session<'a> {
    fn new(session_id: &'a str, path: &Path) -> Self {
        let path = path.to_string_lossy().into_owned();
        Self { session_id, path }
    }
}

impl<'a> Unreadable<'a> {
    fn of(record: &'a UnusableRecord) -> Self {
        Self {
            id: &record.id,
            path: record.path.to_string_lossy().into_owned(),
            message: record.fault.to_string(),
        }
    }
}

fn print_json(
    context: &mut Context,
    all: &[Operation],
    shown: &[&Operation],
    unusable: &[UnusableRecord],
) -> Result<ExitCode, CliError> {
    let document = Document {
        schema: SCHEMA,
        operations: shown.iter().map(|o| Row::of(all, o)).collect(),
        unreadable: unusable.iter().map(Unreadable::of).collect(),
    };
    context.print_json(&document)?;
    Ok(ExitCode::SUCCESS)
}

#[derive(Serialize)]
struct GcDocument {
    schema: u32,
    operation: &'static str,
    dry_run: bool,
    forgotten: u64,
    bytes: u64,
}

/// Forgets operations that are old enough. Records that cannot be used are reported and kept.
fn gc(context: &mut Context, args: &GcArgs) -> Result<ExitCode, CliError> {
    let Records {
        operations,
        unusable,
    } = context.journal.records()?;
    for record in &unusable {
        context.tell(&format!(
            "note: {} cannot be read and is kept; remove its folder by hand if you no longer need it",
            clean(&record.path.to_string_lossy())
        ));
    }
    let now = context.now;
    let age_of = |o: &Operation| now.duration_since(time_of(o)).unwrap_or_default();
    let is_old = |o: &&Operation| age_of(o) >= args.older_than.0 && !o.state.is_under_way();
    let old: Vec<&Operation> = operations.iter().filter(is_old).collect();
    let mut freed = 0;
    for operation in &old {
        freed += context.journal.size(operation)?;
    }
    let forgotten = old.len() as u64;
    let what = plural(forgotten, "operation", "operations");
    if !args.dry_run && forgotten > 0 {
        let question = format!(
            "Forget {what} and free {}? {} can no longer be undone.",
            bytes(freed),
            if forgotten == 1 { "It" } else { "They" }
        );
        confirm(context, args.yes, "history gc", &question)?;
        for operation in &old {
            context.journal.forget(operation)?;
        }
    }
    let document = GcDocument {
        schema: SCHEMA,
        operation: "history gc",
        dry_run: args.dry_run,
        forgotten,
        bytes: freed,
    };
    let printed = print_gc(context, &document, &what);
    if args.dry_run || forgotten == 0 {
        printed?;
    } else {
        context.end_report(printed);
    }
    Ok(ExitCode::SUCCESS)
}

fn print_gc(context: &mut Context, document: &GcDocument, what: &str) -> io::Result<()> {
    let freed = bytes(document.bytes);
    if context.json {
        return context.print_json(document);
    }
    let text = match document.forgotten {
        0 => "No operation is that old; nothing was forgotten.".to_owned(),
        _ if document.dry_run => format!("{what} would be forgotten, and {freed} freed."),
        _ => format!("{what} forgotten, {freed} freed."),
    };
    writeln!(context.out, "{text}")
}
