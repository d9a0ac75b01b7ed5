use std::io::{Read as _, Write as _};
use std::path::{Path, PathBuf};
use std::process::ExitCode;

use clap::Args;

use crate::ops::{EditText, EditableText, Selector};

use super::super::args::{InPlaceArgs, SessionArg, WriteArgs};
use super::super::commit_flow::{self, Job};
use super::super::context::Context;
use super::super::error::{CliError, ErrorKind};
use super::super::plan_file::{PlanStep, StepOptions};
use super::super::selector_args::SelectorArgs;
use super::super::shell::run_line;
use super::edit_form::Form;

/// Change the text of a prompt, an answer, a call or a result
///
/// Without --text or --text-file, your editor ($VISUAL or $EDITOR) opens with the present text. If you choose texts with
/// --turns, --match or another selector instead of naming a message, it opens with all of them. The input of a call is edited as JSON. If you change an answer, the thinking of that
/// message is removed, because its signature does not fit the new text.
#[derive(Debug, Args)]
#[command(
    after_help = "Examples:\n  ccsurgery show --turns 3                            see the ids of the messages\n  ccsurgery edit 1f2e3d4c                             in your editor\n  ccsurgery edit --turns 3..5                         all texts of these turns\n  ccsurgery edit --match 'old-name'                   all texts that match\n  ccsurgery edit 1f2e3d4c --text \"Use tabs.\" -n       preview"
)]
pub(crate) struct EditArgs {
    /// The id of the message, or the beginning of it; with a selector, the session
    #[arg(value_name = "MESSAGE", required_unless_present = "selectors")]
    name: Option<String>,
    #[command(flatten)]
    session: SessionArg,
    #[command(flatten)]
    selector: SelectorArgs,
    /// The new text
    #[arg(long, value_name = "TEXT", conflicts_with_all = ["text_file", "selectors"])]
    text: Option<String>,
    /// A file with the new text; `-` is standard input
    #[arg(long, value_name = "FILE", conflicts_with = "selectors")]
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
    let selector = args.selector.selector();
    if !selector.is_empty() {
        let words = (args.name, args.session.session);
        return edit_selected(words, &selector, (args.write, args.in_place), context);
    }
    let message = args.name.unwrap_or_default();
    let mut job = Job::new(context, &args.session, "edit", args.write, args.in_place)?;
    let present = EditText::current(&job.session, &message)?;
    let text = match (args.text, &args.text_file) {
        (Some(text), _) => text,
        (None, Some(path)) => like(&present, read(path)?),
        (None, None) => like(&present, edited(&present)?),
    };
    job.idle = Some("the text stays the same".to_owned());
    EditOptions { message, text }
        .step()
        .add_to(context, &mut job)?;
    commit_flow::run(context, job)
}

/// Edits all texts that a selector matches in one form.
fn edit_selected(
    words: (Option<String>, Option<String>),
    selector: &Selector,
    (write, in_place): (WriteArgs, InPlaceArgs),
    context: &mut Context,
) -> Result<ExitCode, CliError> {
    // The only word is the session: no message is named.
    let named = match words {
        (Some(_), Some(_)) => {
            return Err(CliError::usage(
                ErrorKind::Usage,
                "name either a message or a selector such as --turns, not both",
                "leave out the message's id, or choose it with --message",
            ));
        }
        (message, session) => session.or(message),
    };
    let session = SessionArg { session: named };
    let mut job = Job::new(context, &session, "edit", write, in_place)?;
    let texts = EditableText::selected(&job.session, selector)?;
    if texts.is_empty() {
        return Err(CliError::refused(
            "not-editable",
            "no text that can be edited was chosen",
            "see what is in them with: ccsurgery show --turns N",
        ));
    }
    let form = Form::new(&texts);
    for (message, text) in form.changes(&edited(&form.text())?)? {
        EditOptions { message, text }
            .step()
            .add_to(context, &mut job)?;
    }
    job.idle = Some("the texts stay the same".to_owned());
    commit_flow::run(context, job)
}

/// Opens a person's editor with a text, and returns what it became.
pub(crate) fn in_editor(text: &str) -> Result<String, CliError> {
    Ok(like(text, edited(text)?))
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
fn edited(text: &str) -> Result<String, CliError> {
    let editor = ["VISUAL", "EDITOR"]
        .iter()
        .filter_map(|name| std::env::var(name).ok())
        .find(|editor| !editor.trim().is_empty())
        // Every Windows has this one, and hardly anybody sets the variables there.
        .or_else(|| cfg!(windows).then(|| "notepad".to_owned()));
    let Some(editor) = editor else {
        return Err(CliError::usage(
            ErrorKind::Usage,
            "there is no editor to open: $EDITOR is not set",
            "set it, e.g. EDITOR=nano, or give the new text of a message with --text or --text-file",
        ));
    };
    let mut file = tempfile::Builder::new()
        .prefix("ccsurgery-")
        .suffix(".txt")
        .tempfile()?;
    file.write_all(text.as_bytes())?;
    file.flush()?;
    // On Windows, many editors open no file that another program has open for writing.
    let file = file.into_temp_path();
    match run_line(&editor, Some(&file)).status() {
        Ok(status) if status.success() => read(&file),
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
