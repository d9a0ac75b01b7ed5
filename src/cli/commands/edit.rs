use std::io::{Read as _, Write as _};
use std::path::{Path, PathBuf};
use std::process::{Command, ExitCode};

use clap::Args;

use crate::ops::EditText;

use super::super::args::{InPlaceArgs, SessionArg, WriteArgs};
use super::super::commit_flow::{self, Job};
use super::super::context::Context;
use super::super::error::{CliError, ErrorKind};
use super::super::plan_file::{PlanStep, StepOptions};

/// Change the text of a prompt, an answer, a call or a result
///
/// Without --text or --text-file, your editor ($VISUAL or $EDITOR) opens with the present text. The input of a call
/// is edited as JSON. If you change an answer, the thinking of that message is removed, because its signature does
/// not fit the new text.
#[derive(Debug, Args)]
#[command(
    after_help = "Examples:\n  ccsurgery show --turns 3                            see the ids of the messages\n  ccsurgery edit 1f2e3d4c                             in your editor\n  ccsurgery edit 1f2e3d4c --text \"Use tabs.\" -n       preview"
)]
pub(crate) struct EditArgs {
    /// The id of the message, or the beginning of it
    #[arg(value_name = "MESSAGE")]
    message: String,
    #[command(flatten)]
    session: SessionArg,
    /// The new text
    #[arg(long, value_name = "TEXT", conflicts_with = "text_file")]
    text: Option<String>,
    /// A file with the new text; `-` is standard input
    #[arg(long, value_name = "FILE")]
    text_file: Option<PathBuf>,
    #[command(flatten)]
    write: WriteArgs,
    #[command(flatten)]
    in_place: InPlaceArgs,
}

/// The options of the operation in plan files.
#[derive(Debug, Args)]
pub(crate) struct EditOptions {
    /// The id of the message, or the beginning of it
    #[arg(long, value_name = "ID")]
    message: String,
    /// The new text
    #[arg(long, value_name = "TEXT")]
    text: String,
}

impl StepOptions for EditOptions {
    fn step(self) -> PlanStep {
        PlanStep::of(EditText {
            message: self.message,
            text: self.text,
        })
    }
}

pub(crate) fn run(args: EditArgs, context: &mut Context) -> Result<ExitCode, CliError> {
    let mut job = Job::new(context, &args.session, "edit", args.write, args.in_place)?;
    let present = EditText::current(&job.session, &args.message)?;
    let text = match (args.text, &args.text_file) {
        (Some(text), _) => text,
        (None, Some(path)) => like(&present, read(path)?),
        (None, None) => like(&present, edited(context, &present)?),
    };
    job.idle = Some("the text stays the same".to_owned());
    let message = args.message;
    EditOptions { message, text }.step().add_to(&mut job)?;
    commit_flow::run(context, job)
}

/// Removes the newline that editors add at the end, if the present text has none.
fn like(present: &str, mut text: String) -> String {
    if !present.ends_with('\n') && text.ends_with('\n') {
        text.pop();
        if text.ends_with('\r') {
            text.pop();
        }
    }
    text
}

fn read(path: &Path) -> Result<String, CliError> {
    if path.as_os_str() == "-" {
        let mut text = String::new();
        std::io::stdin().read_to_string(&mut text)?;
        return Ok(text);
    }
    fs_err::read_to_string(path).map_err(CliError::unreadable)
}

/// Returns a text after a person edited it.
fn edited(context: &Context, text: &str) -> Result<String, CliError> {
    let editor = ["VISUAL", "EDITOR"]
        .iter()
        .filter_map(|name| std::env::var(name).ok())
        .find(|editor| !editor.trim().is_empty());
    let (Some(editor), true) = (editor, context.interactive) else {
        return Err(CliError::usage(
            ErrorKind::Usage,
            "there is no editor to open: $EDITOR is not set, or this is not a terminal",
            "give the new text with --text or --text-file",
        ));
    };
    let mut file = tempfile::Builder::new()
        .prefix("ccsurgery-")
        .suffix(".txt")
        .tempfile()?;
    file.write_all(text.as_bytes())?;
    file.flush()?;
    let mut words = editor.split_whitespace();
    let program = words.next().unwrap_or_default();
    let status = Command::new(program).args(words).arg(file.path()).status();
    match status {
        Ok(status) if status.success() => read(file.path()),
        Ok(_) => Err(CliError::failed(
            "editor",
            format!("`{editor}` ended with an error; nothing was changed"),
            "give the new text with --text or --text-file",
        )),
        Err(error) => Err(CliError::failed(
            "editor",
            format!("`{editor}` cannot be started: {error}"),
            "set $EDITOR, or give the new text with --text or --text-file",
        )),
    }
}
