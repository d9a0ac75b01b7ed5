use std::io::Write as _;
use std::process::ExitCode;

use clap::Args;
use serde_json::json;

use crate::store::{self, Operation, State, UndoError};

use super::super::context::Context;
use super::super::error::CliError;
use super::super::operations::{describe, pick};

/// Take back the last operation, or a named one
///
/// A session that was rewritten gets its old bytes, mode and time back; a session that was made goes,
/// with all its files. `ccsurgery redo` does it again.
#[derive(Debug, Args)]
pub(crate) struct UndoArgs {
    /// The operation, or a unique prefix of its name; see `ccsurgery history` [default: the last]
    #[arg(value_name = "OP")]
    operation: Option<String>,
    /// Keep what was appended since, by appending it to the old transcript
    #[arg(long)]
    onto_current: bool,
    /// Show what would happen, and change nothing
    #[arg(short = 'n', long)]
    dry_run: bool,
    /// Do not ask
    #[arg(short, long)]
    yes: bool,
}

pub(crate) fn run(args: &UndoArgs, context: &mut Context) -> Result<ExitCode, CliError> {
    context.recover()?;
    let operation = pick(context, args.operation.as_deref(), State::Committed)?;
    if !context.json {
        let text = format!("undo {}", describe(context, &operation));
        writeln!(context.out, "{text}")?;
    }
    if !args.onto_current {
        store::check_undo(&operation).map_err(|e| explain(e, &operation))?;
    }
    if args.dry_run {
        return finish(context, "undo", &operation, true);
    }
    if !args.yes && context.interactive && !context.confirm("Take it back?")? {
        return Err(CliError::refused(
            "not-confirmed",
            "not confirmed; nothing was changed",
            "",
        ));
    }
    let done = store::undo(&context.journal, operation.clone(), args.onto_current)
        .map_err(|e| explain(e, &operation))?;
    finish(context, "undo", &done, false)
}

/// Says that it is done, or would be.
pub(super) fn finish(
    context: &mut Context,
    verb: &str,
    operation: &Operation,
    dry_run: bool,
) -> Result<ExitCode, CliError> {
    if context.json {
        let files: Vec<_> = operation
            .replaced
            .iter()
            .map(|r| &r.path)
            .chain(&operation.created)
            .collect();
        let document = json!({
            "operation": verb, "dry_run": dry_run, "undone": operation.id, "of": operation.operation,
            "session_id": operation.target_id, "path": operation.target, "files": files, "state": operation.state,
        });
        context.print_json(&document)?;
    } else if dry_run {
        writeln!(context.out, "Dry run: nothing was changed.")?;
    } else {
        writeln!(
            context.out,
            "Done.{}",
            if verb == "undo" {
                " To do it again: ccsurgery redo"
            } else {
                ""
            }
        )?;
    }
    Ok(ExitCode::SUCCESS)
}

fn entries_added(count: usize) -> String {
    match count {
        1 => "one entry was added".to_owned(),
        n => format!("{n} entries were added"),
    }
}

/// An error of the way back, with a way on.
pub(super) fn explain(error: UndoError, operation: &Operation) -> CliError {
    let message = error.to_string();
    match error {
        UndoError::Changed {
            added: Some(added), ..
        } => {
            let entries = memchr::memchr_iter(b'\n', &added).count().max(1);
            let hint = if operation.replaced.is_empty() {
                "the session was used after it was made; keep it, or remove it yourself once you do not need what was added".to_owned()
            } else {
                "to keep them: ccsurgery undo --onto-current".to_owned()
            };
            CliError::refused(
                "changed",
                format!("{message}: {}", entries_added(entries)),
                hint,
            )
        }
        UndoError::Changed { .. } => CliError::refused(
            "changed",
            message,
            "the old bytes are safe in the journal; copy them by hand if you want them back (see SAFETY.md)",
        ),
        UndoError::Disturbed { .. } => CliError::refused(
            "changed",
            message,
            "nothing was changed; run the command again when the session is at rest",
        ),
        UndoError::Busy { .. } => CliError::refused(
            "busy",
            message,
            "end what has it open, and run the command again. Nothing was changed",
        ),
        UndoError::Spoilt { .. } => CliError::failed(
            "spoilt",
            message,
            "the session is left as it is; another program wrote to the journal's file",
        ),
        UndoError::Gone { .. } => {
            CliError::refused("gone", message, "there is nothing left to take back")
        }
        UndoError::Exists { .. } => {
            CliError::refused("exists", message, "move that file away first")
        }
        UndoError::Orphans(_) => CliError::refused(
            "orphans",
            message,
            "the added entries cannot follow the old transcript; keep the session as it is",
        ),
        UndoError::Publish(error) => error.into(),
        UndoError::Journal(error) => error.into(),
        UndoError::Io(error) => error.into(),
    }
}
