mod files;
mod formats;

use std::io::Write as _;
use std::path::{Path, PathBuf};
use std::process::ExitCode;

use clap::Args;

use crate::export::{PrivateNames, Redactor};
use crate::human::bytes;
use crate::render::short_id;
use crate::session::TurnRange;
use crate::store::{Located, Locator, glance};
use crate::view::SCHEMA;

use super::super::args::SessionArg;
use super::super::context::Context;
use super::super::error::{CliError, ErrorKind};
use super::super::names;
use super::super::question::confirm_secrets;
use super::show::Only;
use files::{Report, export_folder, open_in_browser, write};
use formats::{Detail, Format, exported};

/// Write a session as one page or one text file, to read and share
///
/// The page (HTML) needs nothing else: it opens offline, loads nothing, and reads well without scripts. Keys, tokens and
/// passwords are masked; the last line shows how many were found. Long outputs are cut to their beginning and end, unless
/// you ask for --detail full. Several sessions, or --all, make a folder with a list.
#[derive(Debug, Args)]
#[command(
    after_help = "Examples:\n  ccsurgery export                          the newest session, as a page in this folder\n  ccsurgery export @2 --to md -o talk.md    as Markdown\n  ccsurgery export --turns 3..5 --open      three turns, opened in the browser\n  ccsurgery export --all -o pages           all sessions of this project, with a list\n  ccsurgery export --detail prompts --to text -o -   only what you wrote"
)]
#[allow(clippy::struct_excessive_bools, reason = "each is an option")]
pub(crate) struct ExportArgs {
    /// The sessions: ids, titles or paths to .jsonl files, as for other commands [default: @]
    #[arg(value_name = "SESSION")]
    sessions: Vec<String>,
    /// Export all sessions of this project into a folder
    #[arg(long, conflicts_with_all = ["sessions", "turns"])]
    all: bool,
    /// What to write
    #[arg(long, value_name = "FORMAT", default_value = "html")]
    to: Format,
    /// The file to write, or the folder if there are several sessions; `-` for standard output
    /// [default: session-ID in this folder]
    #[arg(short, long, value_name = "FILE")]
    output: Option<PathBuf>,
    /// Replace the file if it exists
    #[arg(short, long)]
    force: bool,
    /// Only these turns: 7, 3..7, -1, -3..
    #[arg(long, value_name = "TURNS", allow_hyphen_values = true)]
    turns: Option<TurnRange>,
    /// Only the prompts, answers or calls (several with commas)
    #[arg(long, value_name = "WHAT", value_delimiter = ',')]
    only: Vec<Only>,
    /// How much to write
    #[arg(long, value_name = "DETAIL", default_value = "normal")]
    detail: Detail,
    /// Leave out thinking
    #[arg(long)]
    no_thinking: bool,
    /// Export the conversation of this subagent, by its id or the beginning of it
    #[arg(long, value_name = "ID", conflicts_with_all = ["all", "turns"])]
    agent: Option<String>,
    /// Add the branches that were abandoned by rewinding
    #[arg(long)]
    branches: bool,
    /// Replace home folders and user names in paths, yours and those of whoever held the session
    #[arg(long)]
    anonymize: bool,
    /// Open the page in the browser
    #[arg(long)]
    open: bool,
    /// Do not ask before writing secrets as they are (with --show-secrets)
    #[arg(short, long)]
    yes: bool,
}

pub(crate) fn run(args: &ExportArgs, context: &mut Context) -> Result<ExitCode, CliError> {
    confirm_secrets(context, args.yes)?;
    let found = sessions(args, context)?;
    let redactor = Redactor::new(context.show_secrets, private_names(args, context, &found));
    let several = args.all || found.len() > 1;
    let to_stdout = args.output.as_deref() == Some(Path::new("-"));
    if several && to_stdout {
        return Err(CliError::usage(
            ErrorKind::Usage,
            "several sessions cannot be written to standard output",
            "name a folder with -o FOLDER",
        ));
    }
    let mut report = Report {
        schema: SCHEMA,
        operation: "export",
        files: Vec::new(),
        masked: 0,
    };
    let first = if several {
        export_folder(args, context, &found, &redactor, &mut report)?
    } else {
        let text = exported(args, context, &found[0], &redactor)?.0;
        if to_stdout {
            context.out.write_all(text.as_bytes())?;
            context.flush()?;
            context.tell(&redactor.summary());
            return Ok(ExitCode::SUCCESS);
        }
        let path = args.output.clone().unwrap_or_else(|| {
            let id = short_id(&found[0].id);
            context
                .working_folder
                .join(format!("session-{id}.{}", args.to.ending()))
        });
        write(&path, &text, args.force, &mut report)?;
        path
    };
    report.masked = redactor.masked();
    finish(args, context, &first, &report, &redactor)
}

/// Reports what was written, and opens it if asked.
fn finish(
    args: &ExportArgs,
    context: &mut Context,
    first: &Path,
    report: &Report,
    redactor: &Redactor,
) -> Result<ExitCode, CliError> {
    context.is_done = true;
    let printed = if context.json {
        context.print_json(report)
    } else {
        let size: u64 = report.files.iter().map(|f| f.bytes).sum();
        let name = context.words(first.display().to_string());
        context.tell(&redactor.summary());
        writeln!(context.out, "{name}  ({})", bytes(size))
    };
    context.end_report(printed);
    if args.open {
        open_in_browser(first)?;
    }
    Ok(ExitCode::SUCCESS)
}

fn sessions(args: &ExportArgs, context: &mut Context) -> Result<Vec<Located>, CliError> {
    if args.all {
        names::require_data(context)?;
        let found = Locator::new(&context.config, &context.project).here();
        let found = found.map_err(|e| names::explain(context, e))?;
        return if found.is_empty() {
            Err(CliError::failed(
                ErrorKind::NoSessions,
                "this project has no sessions",
                "name a session, or change to the folder of a project",
            ))
        } else {
            Ok(found.into_iter().filter(|f| f.len > 0).collect())
        };
    }
    let names: Vec<Option<String>> = match &args.sessions[..] {
        [] => vec![None],
        names => names.iter().cloned().map(Some).collect(),
    };
    let find = |session: Option<String>| names::find(context, &SessionArg { session });
    names.into_iter().map(find).collect()
}

/// Returns the names that `--anonymize` replaces: those of this machine's user, and of who held the sessions.
fn private_names(args: &ExportArgs, context: &Context, found: &[Located]) -> PrivateNames {
    if !args.anonymize {
        return PrivateNames::default();
    }
    let home = context
        .home
        .as_ref()
        .map(|home| home.to_string_lossy().into_owned());
    let held = found.iter().filter_map(|f| glance(&f.path).ok()?.cwd);
    let held: Vec<String> = held.collect();
    PrivateNames::of(home.as_deref(), held.iter().map(String::as_str))
}
