//! Parses the command line, with a parser of only the command that is named.
//!
//! A parser of all commands takes 4 million instructions to build, a third of what a command on a session of 1 MB
//! takes; that of one command takes 0.3 million. So the whole parser is built only for help, for mistakes, and for the
//! other names of commands.

use std::ffi::OsString;

use clap::error::ErrorKind;
use clap::{Args, CommandFactory as _, FromArgMatches as _};

use super::args::{Cli, Command, Global};
use super::commands;
use super::context::columns;
use super::help;
use super::settings::Settings;

type AddArgs = fn(clap::Command) -> clap::Command;

/// Lists commands as pairs: the name, and what adds the options to a parser.
macro_rules! parsers {
    ($($name:literal: $module:ident::$args:ident,)*) => {
        [$(($name, commands::$module::$args::augment_args as AddArgs)),*]
    };
}

/// The parser of each command. A command that is missing here is parsed by the parser of all.
const PARSERS: [(&str, AddArgs); 41] = parsers! {
    "ui": ui::UiArgs,
    "ls": ls::LsArgs,
    "show": show::ShowArgs,
    "grep": grep::GrepArgs,
    "inspect": inspect::InspectArgs,
    "payload": payload::PayloadArgs,
    "diff": diff::DiffArgs,
    "export": export::ExportArgs,
    "clone": clone::CloneArgs,
    "strip-thinking": strip_thinking::StripThinkingArgs,
    "drop-tools": drop_tools::DropToolsArgs,
    "drop-images": drop_images::DropImagesArgs,
    "drop-hidden": drop_hidden::DropHiddenArgs,
    "truncate": truncate::TruncateArgs,
    "compact": compact::CompactArgs,
    "trim": trim::TrimArgs,
    "delete": delete::DeleteArgs,
    "edit": edit::EditArgs,
    "extract": extract::ExtractArgs,
    "graft": graft::GraftArgs,
    "redact": redact::RedactArgs,
    "uncompact": uncompact::UncompactArgs,
    "restore-branch": restore_branch::RestoreBranchArgs,
    "title": title::TitleArgs,
    "run": run::RunArgs,
    "du": du::DuArgs,
    "move": move_project::MoveArgs,
    "bundle": bundle::BundleArgs,
    "import": import::ImportArgs,
    "archive": archive::ArchiveArgs,
    "restore": restore::RestoreArgs,
    "keep": keep::KeepArgs,
    "rm": rm::RmArgs,
    "doctor": doctor::DoctorArgs,
    "repair": repair::RepairArgs,
    "history": history::HistoryArgs,
    "undo": undo::UndoArgs,
    "redo": redo::RedoArgs,
    "demo": demo::DemoArgs,
    "completions": completions::CompletionsArgs,
    "man": man::ManArgs,
};

/// Parses a command line. The settings are the defaults of its options.
pub(super) fn parse(words: Vec<OsString>, settings: &Settings) -> Result<Cli, clap::Error> {
    match parse_one(&words, settings) {
        Ok(cli) => Ok(cli),
        Err(error) if error.kind() == ErrorKind::DisplayVersion => Err(error),
        // The parser of all commands has the last word, and its help names them all.
        Err(_) => parse_any(words, settings),
    }
}

/// Parses a command line with the parser of all commands.
fn parse_any(words: Vec<OsString>, settings: &Settings) -> Result<Cli, clap::Error> {
    let overview = help::overview(
        &<Command as clap::Subcommand>::augment_subcommands(clap::Command::new("ccsurgery")),
        &Global::augment_args(clap::Command::new("ccsurgery")),
        columns().min(100),
    );
    let program = settings.apply(Cli::command().help_template(overview));
    Cli::from_arg_matches(&program.try_get_matches_from(words)?)
}

/// Parses a command line with a parser that knows only one command: the first one whose name is among the words.
///
/// If that is not the command that is meant, but the value of an option, this fails.
fn parse_one(words: &[OsString], settings: &Settings) -> Result<Cli, clap::Error> {
    let named = |word: &OsString| PARSERS.iter().find(|(name, _)| word == name);
    let mut program = clap::Command::new("ccsurgery").version(env!("CARGO_PKG_VERSION"));
    if let Some((name, add_args)) = words.iter().skip(1).find_map(named) {
        program = program.subcommand(add_args(clap::Command::new(*name)));
    }
    let program = settings.apply(Global::augment_args(program));
    Cli::from_arg_matches(&program.try_get_matches_from(words)?)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Words of command lines: right ones, mistakes, names as values, and options before and after the command.
    const LINES: [&str; 24] = [
        "clone",
        "clone @2 --at 7 --title clone",
        "--json clone",
        "--project ls clone --json",
        "--project clone",
        "-q --project grep grep undo",
        "grep clone",
        "fork @",
        "list",
        "ls --all list",
        "--version",
        "--json --version",
        "clone --version",
        "clone -V",
        "--help",
        "clone --help",
        "help clone",
        "clone --no-such-option",
        "no-such-command clone",
        "-q -v clone",
        "history gc --older-than 3d",
        "history gc --json",
        "drop-tools --keep-last 3 -- ls",
        "",
    ];

    fn words(line: &str) -> Vec<OsString> {
        let words = std::iter::once("ccsurgery").chain(line.split_whitespace());
        words.map(OsString::from).collect()
    }

    fn outcome(parsed: Result<Cli, clap::Error>) -> String {
        match parsed {
            Ok(cli) => format!("{cli:?}"),
            Err(error) => format!("{:?} {error}", error.kind()),
        }
    }

    #[test]
    fn parser_of_one_command_changes_nothing() {
        let settings = Settings::default();
        let examples = Cli::command();
        let examples = examples.get_subcommands().map(|command| {
            let text = command.get_after_help().map(ToString::to_string);
            text.unwrap_or_default()
        });
        let examples: Vec<String> = examples.collect();
        let examples = examples
            .iter()
            .flat_map(|text| text.lines())
            .filter_map(|line| line.split_once("ccsurgery ").map(|(_, words)| words));
        for line in LINES.into_iter().chain(examples) {
            let one = outcome(parse(words(line), &settings));
            assert_eq!(one, outcome(parse_any(words(line), &settings)), "{line}");
        }
    }

    #[test]
    fn every_command_has_a_parser_of_its_own() {
        let program = Cli::command();
        let all: Vec<&str> = program
            .get_subcommands()
            .map(clap::Command::get_name)
            .collect();
        let own: Vec<&str> = PARSERS.iter().map(|(name, _)| *name).collect();
        assert_eq!(own, all);
    }

    #[test]
    fn parser_of_one_command_is_used_for_examples() {
        let settings = Settings::default();
        for line in ["clone @", "--project ls ls", "undo -n", "history gc"] {
            assert!(parse_one(&words(line), &settings).is_ok(), "{line}");
        }
    }
}
