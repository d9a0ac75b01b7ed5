//! The command line.

mod advice;
mod args;
mod clock;
mod commands;
mod commit_flow;
mod completing;
mod context;
mod destination;
mod error;
mod help;
mod installed;
mod names;
mod operations;
mod pager;
mod parsing;
mod passphrase;
mod plain_ui;
mod plan_file;
mod progress;
mod prompt_history;
mod question;
mod remedy;
mod report;
mod report_page;
mod row_format;
mod selection;
mod selector_args;
mod settings;
mod shell;
mod summary;
mod ui_host;

use std::ffi::OsString;
use std::io::{self, IsTerminal as _, Write as _};
use std::process::ExitCode;

use args::Command;
use context::Context;
use error::{CliError, report};
use settings::Settings;

/// Runs the program on the arguments, streams and environment of this process.
pub fn main() -> ExitCode {
    if completing::answer() {
        return ExitCode::SUCCESS;
    }
    // A mistake in the settings must not keep anyone from reading the help.
    let (settings, mistake) = match Settings::of_user() {
        Ok(settings) => (settings, None),
        Err(error) => (Settings::default(), Some(error)),
    };
    let words = with_default_command(std::env::args_os().collect());
    let cli = match parsing::parse(words, &settings) {
        Ok(cli) => cli,
        Err(error) => {
            let json = std::env::args_os().any(|a| a == "--json");
            return error::usage(error, json);
        }
    };
    if let Some(mistake) = mistake {
        return report(&mistake, cli.global.json, &mut anstream::stderr());
    }
    let mut context = match Context::new(&cli.global, settings) {
        Ok(context) => context,
        Err(error) => return report(&error, cli.global.json, &mut anstream::stderr()),
    };
    let outcome = run(cli.command, &mut context).and_then(|code| {
        context.flush()?;
        Ok(code)
    });
    match outcome {
        Ok(code) => code,
        Err(error) if error.is_broken_pipe() => ExitCode::SUCCESS,
        Err(error) => {
            let _ = context.out.flush();
            report(&error, cli.global.json, &mut context.err)
        }
    }
}

/// Adds the command that opens the terminal interface where a person on a terminal names none.
fn with_default_command(mut words: Vec<OsString>) -> Vec<OsString> {
    let terminal = io::stdin().is_terminal() && io::stdout().is_terminal();
    let is_dumb = std::env::var_os("TERM").is_none_or(|term| term == "dumb");
    if words.len() == 1 && terminal && !is_dumb {
        words.push("ui".into());
    }
    words
}

fn run(command: Command, context: &mut Context) -> Result<ExitCode, CliError> {
    match command {
        Command::Ui(args) => commands::ui::run(&args, context),
        Command::Ls(args) => commands::ls::run(&args, context),
        Command::Grep(args) => commands::grep::run(&args, context),
        Command::Show(args) => commands::show::run(&args, context),
        Command::Inspect(args) => commands::inspect::run(&args, context),
        Command::Payload(args) => commands::payload::run(&args, context),
        Command::Diff(args) => commands::diff::run(&args, context),
        Command::Export(args) => commands::export::run(&args, context),
        Command::Clone(args) => commands::clone::run(args, context),
        Command::StripThinking(args) => commands::strip_thinking::run(args, context),
        Command::DropTools(args) => commands::drop_tools::run(args, context),
        Command::DropImages(args) => commands::drop_images::run(args, context),
        Command::DropHidden(args) => commands::drop_hidden::run(args, context),
        Command::Truncate(args) => commands::truncate::run(args, context),
        Command::Compact(args) => commands::compact::run(args, context),
        Command::Trim(args) => commands::trim::run(args, context),
        Command::Delete(args) => commands::delete::run(args, context),
        Command::Edit(args) => commands::edit::run(args, context),
        Command::Extract(args) => commands::extract::run(args, context),
        Command::Graft(args) => commands::graft::run(args, context),
        Command::Redact(args) => commands::redact::run(args, context),
        Command::Uncompact(args) => commands::uncompact::run(args, context),
        Command::RestoreBranch(args) => commands::restore_branch::run(args, context),
        Command::Title(args) => commands::title::run(args, context),
        Command::Run(args) => commands::run::run(args, context),
        Command::Du(args) => commands::du::run(&args, context),
        Command::Move(args) => commands::move_project::run(&args, context),
        Command::Bundle(args) => commands::bundle::run(&args, context),
        Command::Import(args) => commands::import::run(&args, context),
        Command::Archive(args) => commands::archive::run(&args, context),
        Command::Restore(args) => commands::restore::run(&args, context),
        Command::Keep(args) => commands::keep::run(&args, context),
        Command::Rm(args) => commands::rm::run(&args, context),
        Command::Doctor(args) => commands::doctor::run(args, context),
        Command::Repair(args) => commands::repair::run(args, context),
        Command::History(args) => commands::history::run(args, context),
        Command::Undo(args) => commands::undo::run(&args, context),
        Command::Redo(args) => commands::redo::run(&args, context),
        Command::Demo(args) => commands::demo::run(&args, context),
        Command::Completions(args) => commands::completions::run(&args, context),
        Command::Man(args) => commands::man::run(&args, context),
    }
}
