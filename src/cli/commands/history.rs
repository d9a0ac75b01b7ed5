use std::io::Write as _;
use std::path::Path;
use std::process::ExitCode;

use clap::{Args, Subcommand};
use serde::Serialize;

use crate::view::SessionText;

use crate::render::{DIM, YELLOW, age, bytes, clean, fit, pad, paint};
use crate::store::{Operation, Records, State, UnusableRecord, glance};

use super::super::args::SessionArg;
use super::super::context::Context;
use super::super::error::CliError;
use super::super::names;
use super::super::operations::{Wanted, next, plural, short_name, time_of};
use super::super::selection::Age;
use super::undo::confirm;

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
    if shown.is_empty() && unusable.is_empty() {
        writeln!(context.out, "The history is empty.")?;
        return Ok(ExitCode::SUCCESS);
    }
    for operation in &shown {
        let line = row(context, &all, operation);
        let is_dim = operation.state == State::Undone;
        let line = if is_dim { paint(DIM, line) } else { line };
        writeln!(context.out, "{line}")?;
    }
    for record in &unusable {
        let line = format!(
            "{} {}: {}",
            paint(YELLOW, "unreadable"),
            clean(&record.path.to_string_lossy()),
            clean(&record.fault.to_string())
        );
        writeln!(context.out, "{line}")?;
    }
    if let Some(advice) = advice(&all, &shown, &unusable) {
        writeln!(context.out, "\n{advice}")?;
    }
    Ok(ExitCode::SUCCESS)
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
    let newest = |state| shown.iter().find(|o| o.state == state);
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

fn row(context: &Context, all: &[Operation], operation: &Operation) -> String {
    let state = match operation.state {
        State::Committed => "",
        State::Undone => "undone  ",
        _ if context.journal.is_interrupted(operation) => "interrupted  ",
        _ => "running  ",
    };
    let title = title(operation).map_or_else(String::new, |t| format!("  “{}”", context.words(&t)));
    let line = format!(
        "{}  {}  {}  {state}{}{title}",
        pad(short_name(all, operation), 4),
        pad(&age(time_of(operation), context.now), 8),
        pad(&clean(&operation.operation), 14),
        result(operation),
    );
    fit(&line, context.columns)
}

/// Describes what came of an operation.
fn result(operation: &Operation) -> String {
    let short = |id: &str| clean(&id.chars().take(8).collect::<String>());
    match sizes(operation) {
        (Some(before), Some(after)) => format!(
            "{} in place  {} → {}",
            short(&operation.source_id),
            bytes(before),
            bytes(after)
        ),
        (_, after) => {
            let size = after.map_or_else(String::new, |n| format!("  {}", bytes(n)));
            let (source, target) = (short(&operation.source_id), short(&operation.target_id));
            if !operation.removed.is_empty() {
                return many(operation, &source);
            }
            format!("{source} → {target}{size}")
        }
    }
}

/// Describes an operation that removed files: the session, or how many of them, and the bytes.
fn many(operation: &Operation, first: &str) -> String {
    let sessions = operation.other.get("sessions").and_then(|s| s.as_array());
    let len = operation.removed.iter().map(|r| r.before.len).sum();
    match sessions.map_or(0, Vec::len) {
        0 => format!(
            "{}  {}",
            plural(operation.removed.len() as u64, "file", "files"),
            bytes(len)
        ),
        1 => format!("{first}  {}", bytes(len)),
        number => format!("{number} sessions  {}", bytes(len)),
    }
}

/// Returns the sizes of the transcript before and after an operation, as far as the record has them.
fn sizes(operation: &Operation) -> (Option<u64>, Option<u64>) {
    match operation.replaced.last() {
        Some(main) => (Some(main.before.len), main.after.as_ref().map(|a| a.len)),
        None => (None, operation.created_states.last().map(|s| s.len)),
    }
}

/// Returns the title of the session that resulted, or of the one that was operated on.
fn title(operation: &Operation) -> Option<SessionText> {
    let name = |path: &Path| {
        let overview = glance(path).ok()?;
        let name = overview.name();
        (!name.is_empty()).then_some(name)
    };
    name(&operation.target).or_else(|| name(&operation.source))
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
        schema: 1,
        operations: shown.iter().map(|o| Row::of(all, o)).collect(),
        unreadable: unusable.iter().map(Unreadable::of).collect(),
    };
    let document = serde_json::to_value(document).map_err(std::io::Error::other)?;
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
    if context.json {
        let document = GcDocument {
            schema: 1,
            operation: "history gc",
            dry_run: args.dry_run,
            forgotten,
            bytes: freed,
        };
        let document = serde_json::to_value(document).map_err(std::io::Error::other)?;
        context.print_json(&document)?;
    } else if forgotten == 0 {
        writeln!(
            context.out,
            "No operation is that old; nothing was forgotten."
        )?;
    } else if args.dry_run {
        writeln!(
            context.out,
            "{what} would be forgotten, and {} freed.",
            bytes(freed)
        )?;
    } else {
        writeln!(context.out, "{what} forgotten, {} freed.", bytes(freed))?;
    }
    Ok(ExitCode::SUCCESS)
}
