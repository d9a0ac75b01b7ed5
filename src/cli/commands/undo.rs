use std::io::{self, Write as _};
use std::path::{Path, PathBuf};
use std::process::ExitCode;

use clap::Args;
use serde::Serialize;

use crate::render::clean;
use crate::session::Session;
use crate::store::{self, Operation, State, Step, UndoError};
use crate::view::SessionText;

use super::super::context::Context;
use super::super::error::CliError;
use super::super::operations::{Wanted, describe, pick, plural, title};
use super::super::question::confirm;
use super::super::report::SCHEMA;
use super::super::report_page;

/// Undo the last operation, or a named one
///
/// A session that was rewritten gets its old bytes, mode and time back; a session that was created is removed with all its
/// files. `ccsurgery redo` redoes it.
#[derive(Debug, Args)]
pub(crate) struct UndoArgs {
    /// The operation: its short name in `ccsurgery history`, or the beginning of its full name [default: the last]
    #[arg(value_name = "OP")]
    operation: Option<String>,
    /// Keep entries that were added since: append them to the restored transcript
    #[arg(long)]
    onto_current: bool,
    #[command(flatten)]
    way: WayArgs,
}

/// What undo and redo share.
#[derive(Debug, Args)]
pub(super) struct WayArgs {
    /// Show what would happen, and change nothing
    #[arg(short = 'n', long)]
    dry_run: bool,
    /// Do not ask
    #[arg(short, long)]
    yes: bool,
    /// Go ahead although Claude Code has the session open
    #[arg(long)]
    allow_live: bool,
    /// Also write a page (HTML) that shows what was done
    #[arg(long, value_name = "FILE")]
    report: Option<PathBuf>,
}

impl WayArgs {
    pub(super) fn is_dry_run(&self) -> bool {
        self.dry_run
    }
}

pub(crate) fn run(args: &UndoArgs, context: &mut Context) -> Result<ExitCode, CliError> {
    let name = args.operation.as_deref();
    let (operation, steps) = prepare(
        context,
        &args.way,
        name,
        Wanted::Undo,
        |context, operation| store::check_undo(&context.journal, operation, args.onto_current),
    )?;
    let page = Page::new(context, &args.way, Wanted::Undo, &operation, &steps);
    if args.way.dry_run {
        page.write(context, false)?;
        return report(context, Wanted::Undo, &operation, &steps, true);
    }
    let done = store::undo(&context.journal, operation.clone(), args.onto_current)
        .map_err(|e| explain(e, &operation, Wanted::Undo))?;
    page.write(context, true)?;
    report(context, Wanted::Undo, &done, &steps, false)
}

/// The page that shows what was done, if one was asked for.
pub(super) struct Page<'a> {
    path: Option<&'a Path>,
    title: String,
    text: String,
    /// The sessions that are rewritten, as they are before.
    before: Vec<(&'a Path, Session)>,
}

impl<'a> Page<'a> {
    /// Describes what will happen.
    pub(super) fn new(
        context: &Context,
        args: &'a WayArgs,
        wanted: Wanted,
        operation: &Operation,
        steps: &'a [Step],
    ) -> Self {
        let path = args.report.as_deref();
        let rewritten = steps.iter().filter_map(|step| match step {
            Step::Replace { path, .. } if path.extension().is_some_and(|e| e == "jsonl") => {
                Some(path.as_path())
            }
            _ => None,
        });
        let read = |path: &'a Path| Some((path, Session::open(path).ok()?));
        Self {
            path,
            title: format!(
                "{} {}",
                capitalised(wanted.verb()),
                clean(&operation.operation)
            ),
            text: describe(context, wanted, operation, steps),
            before: match path {
                Some(_) if !args.dry_run => rewritten.filter_map(read).collect(),
                _ => Vec::new(),
            },
        }
    }

    /// Writes the page; `is_done` if it has happened.
    pub(super) fn write(mut self, context: &mut Context, is_done: bool) -> Result<(), CliError> {
        for (path, before) in &self.before {
            if let Ok(after) = Session::open(path) {
                self.text.push_str("\n\n");
                self.text += &report_page::differences(context, path, before, &after);
            }
        }
        report_page::write_text(context, self.path, &self.title, &self.text, is_done)
    }
}

/// Undoes an operation without a question, the last one if none is named; returns a sentence about it.
pub(crate) fn undo_now(context: &mut Context, name: Option<&str>) -> Result<String, CliError> {
    context.recover()?;
    let operation = pick(context, name, Wanted::Undo)?;
    let explained = |e| explain(e, &operation, Wanted::Undo);
    store::check_undo(&context.journal, &operation, false).map_err(explained)?;
    refuse_live(context, &operation, Wanted::Undo)?;
    store::undo(&context.journal, operation.clone(), false).map_err(explained)?;
    Ok(format!("Undone: {}.", clean(&operation.operation)))
}

/// Finds the operation, shows what will happen, and asks. A dry run writes nothing: it does not even clean up after an
/// interrupted run.
pub(super) fn prepare(
    context: &mut Context,
    args: &WayArgs,
    name: Option<&str>,
    wanted: Wanted,
    check: impl FnOnce(&Context, &Operation) -> Result<Vec<Step>, UndoError>,
) -> Result<(Operation, Vec<Step>), CliError> {
    report_page::refuse_existing(args.report.as_deref())?;
    if args.dry_run {
        note_interrupted(context)?;
    } else {
        context.recover()?;
    }
    let operation = pick(context, name, wanted)?;
    let steps = check(context, &operation).map_err(|e| explain(e, &operation, wanted))?;
    if !args.dry_run && !args.allow_live {
        refuse_live(context, &operation, wanted)?;
    }
    if !context.json && (!context.quiet || args.dry_run) {
        let text = describe(context, wanted, &operation, &steps);
        context.show_plan(&format!("{text}\n"))?;
    }
    if !args.dry_run {
        let question = format!("{} it?", capitalised(wanted.verb()));
        confirm(context, args.yes, wanted.verb(), &question)?;
    }
    Ok((operation, steps))
}

/// Reports interrupted operations, which a dry run leaves alone.
fn note_interrupted(context: &mut Context) -> Result<(), CliError> {
    let operations = context.journal.records()?.operations;
    let interrupted = operations
        .iter()
        .filter(|o| context.journal.is_interrupted(o));
    let ids: Vec<String> = interrupted.map(|o| o.id.clone()).collect();
    for id in ids {
        context.tell(&format!(
            "note: {id} was interrupted; the next command that writes cleans up after it"
        ));
    }
    Ok(())
}

/// Refuses to change a session that a running client has open: it would continue as if nothing had happened.
fn refuse_live(context: &Context, operation: &Operation, wanted: Wanted) -> Result<(), CliError> {
    let clients = store::running(&context.config);
    let mut ids = operation.session_ids().into_iter();
    let open = ids.find_map(|id| clients.get(&id).map(|live| (id, live)));
    match open {
        Some((id, live)) => Err(CliError::refused(
            "live",
            format!(
                "session {} is open in Claude Code (process {})",
                clean(&id),
                live.pid
            ),
            format!(
                "leave Claude Code first, or override with: ccsurgery {} {} --allow-live",
                wanted.verb(),
                operation.letters()
            ),
        )),
        None => Ok(()),
    }
}

#[derive(Serialize)]
struct Document<'a> {
    schema: u32,
    operation: &'static str,
    dry_run: bool,
    id: &'a str,
    of: &'a str,
    state: State,
    session_id: &'a str,
    path: String,
    title: Option<SessionText>,
    files: Vec<File>,
}

#[derive(Serialize)]
struct File {
    path: String,
    action: &'static str,
    bytes_before: u64,
    bytes_after: u64,
}

impl File {
    fn of(step: &Step) -> Self {
        let (path, action, bytes_before, bytes_after) = match step {
            Step::Replace { path, from, to } => (path, "write", *from, *to),
            Step::Create { path, len } => (path, "create", 0, *len),
            Step::Remove { path, len } => (path, "remove", *len, 0),
            Step::Leave { path } => (path, "keep", 0, 0),
        };
        Self {
            path: path.to_string_lossy().into_owned(),
            action,
            bytes_before,
            bytes_after,
        }
    }
}

/// Reports that it is done, or would be.
pub(super) fn report(
    context: &mut Context,
    wanted: Wanted,
    operation: &Operation,
    steps: &[Step],
    dry_run: bool,
) -> Result<ExitCode, CliError> {
    let printed = print(context, wanted, operation, steps, dry_run);
    if dry_run {
        printed?;
    } else {
        context.end_report(printed);
    }
    Ok(ExitCode::SUCCESS)
}

fn print(
    context: &mut Context,
    wanted: Wanted,
    operation: &Operation,
    steps: &[Step],
    dry_run: bool,
) -> io::Result<()> {
    if context.json {
        return context.print_json(&Document {
            schema: SCHEMA,
            operation: wanted.verb(),
            dry_run,
            id: &operation.id,
            of: &operation.operation,
            state: operation.state,
            session_id: &operation.target_id,
            path: operation.target.to_string_lossy().into_owned(),
            title: title(operation),
            files: steps.iter().map(File::of).collect(),
        });
    }
    let end = match wanted {
        _ if dry_run => "Dry run: nothing was changed.".to_owned(),
        Wanted::Undo => format!("Undone. To redo it: ccsurgery redo {}", operation.letters()),
        Wanted::Redo => format!("Redone. To undo it: ccsurgery undo {}", operation.letters()),
    };
    writeln!(context.out, "{end}")
}

fn capitalised(word: &str) -> String {
    let mut letters = word.chars();
    let first = letters.next().map(|c| c.to_ascii_uppercase());
    first.into_iter().chain(letters).collect()
}

/// Words an error of undo or redo, with what to do next.
pub(super) fn explain(error: UndoError, operation: &Operation, wanted: Wanted) -> CliError {
    let message = error.to_string();
    match error {
        UndoError::Changed {
            added: Some(added), ..
        } => {
            let lines = memchr::memchr_iter(b'\n', &added).count().max(1);
            let entries = plural(lines as u64, "entry was", "entries were");
            let message = format!("{message}: {entries} added");
            CliError::refused("changed", message, hint_for_added(operation, wanted))
        }
        UndoError::Changed { .. } => CliError::refused(
            "changed",
            message,
            "the old bytes are safe in the journal; to get them back by hand, see SAFETY.md",
        ),
        UndoError::Disturbed { .. } => CliError::refused(
            "changed",
            message,
            "nothing was changed; run the command again when nothing writes to the session",
        ),
        UndoError::Busy { .. } => CliError::refused(
            "busy",
            message,
            "end the program that has it open, and run the command again. Nothing was changed",
        ),
        UndoError::Spoilt { .. } => CliError::failed(
            "spoilt",
            message,
            "the session is left as it is; the file in the journal was damaged or changed",
        ),
        UndoError::NotKept { .. } => {
            CliError::refused("not-kept", message, run_again(operation, wanted))
        }
        UndoError::Forgotten => CliError::refused(
            "not-kept",
            message,
            "name an earlier operation from: ccsurgery history",
        ),
        UndoError::Gone { .. } => CliError::refused(
            "gone",
            message,
            "restore the session first; nothing was changed",
        ),
        UndoError::Exists { .. } => {
            CliError::refused("exists", message, "move that file away first")
        }
        UndoError::Special { .. } => CliError::refused(
            "not-a-file",
            message,
            "move it away, and run the command again. Nothing was changed",
        ),
        UndoError::Incomplete => CliError::refused(
            "incomplete-record",
            message,
            "nothing was changed; remove the session's files by hand if you no longer need them",
        ),
        UndoError::Foreign { .. } => CliError::refused(
            "other-config",
            message,
            "run the command with the config folder it was made in: --config-dir DIR. Nothing was changed",
        ),
        UndoError::Misplaced { .. } => CliError::refused(
            "unusable-record",
            message,
            "the record was changed, or files were moved; restore the session by hand, see SAFETY.md. Nothing was changed",
        ),
        UndoError::Orphans(_) => CliError::refused(
            "orphans",
            message,
            "the added messages cannot follow the old transcript; keep the session as it is",
        ),
        UndoError::Publish(error) => error.into(),
        UndoError::Journal(error) => error.into(),
        UndoError::Io(error) => error.into(),
    }
}

/// Returns what to do if lines were appended to a session since.
fn hint_for_added(operation: &Operation, wanted: Wanted) -> String {
    match wanted {
        Wanted::Redo => run_again(operation, wanted),
        Wanted::Undo if operation.replaced.is_empty() => {
            "the session was used after it was created; keep it, or remove it yourself when you no longer need what was added".to_owned()
        }
        Wanted::Undo => format!(
            "to keep what was added: ccsurgery undo {} --onto-current",
            operation.letters()
        ),
    }
}

/// Returns how to get the operation's result where redo cannot: by running it on the session as it is now.
fn run_again(operation: &Operation, wanted: Wanted) -> String {
    match wanted {
        Wanted::Redo => format!(
            "redo restores exactly the bytes that were there, so run the operation on the session as it is instead: ccsurgery {}",
            operation.operation
        ),
        Wanted::Undo => "the journal no longer has the old bytes. Nothing was changed".to_owned(),
    }
}
