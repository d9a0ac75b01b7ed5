//! The shape of the command line: global options, and what commands that write share.

#![allow(
    clippy::doc_markdown,
    reason = "these comments are the help, which is no Markdown"
)]

use std::path::PathBuf;

use clap::{Args, Parser, Subcommand, ValueEnum};

use super::commands;

/// Lossless surgery on Claude Code sessions: fork, trim, rescue, and see what is in them.
///
/// Nothing is ever edited in place unless you ask for it, and everything can be undone.
#[derive(Debug, Parser)]
#[command(
    name = "ccsurgery",
    version,
    max_term_width = 100,
    propagate_version = false
)]
pub(super) struct Cli {
    #[command(flatten)]
    pub(super) global: Global,
    #[command(subcommand)]
    pub(super) command: Command,
}

/// Options that every command takes.
#[derive(Debug, Clone, Args)]
#[allow(clippy::struct_excessive_bools)]
pub(super) struct Global {
    /// The client's config folder [default: $CLAUDE_CONFIG_DIR, else ~/.claude]
    #[arg(
        long,
        global = true,
        value_name = "DIR",
        help_heading = "Global options"
    )]
    pub(super) config_dir: Option<PathBuf>,
    /// The project's folder [default: the working folder]
    #[arg(
        long,
        global = true,
        value_name = "DIR",
        help_heading = "Global options"
    )]
    pub(super) project: Option<PathBuf>,
    /// Print one JSON document instead of text
    #[arg(long, global = true, help_heading = "Global options")]
    pub(super) json: bool,
    /// When to use colour
    #[arg(
        long,
        global = true,
        value_name = "WHEN",
        default_value = "auto",
        help_heading = "Global options"
    )]
    pub(super) color: Color,
    /// Show keys and tokens in a session's text as they are, instead of masking them
    #[arg(long, global = true, help_heading = "Global options")]
    pub(super) show_secrets: bool,
    /// Print no more than the result
    #[arg(short, long, global = true, help_heading = "Global options")]
    pub(super) quiet: bool,
    /// Give every change a row in the preview
    #[arg(
        short,
        long,
        global = true,
        conflicts_with = "quiet",
        help_heading = "Global options"
    )]
    pub(super) verbose: bool,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(super) enum Color {
    Auto,
    Always,
    Never,
}

#[derive(Debug, Subcommand)]
pub(super) enum Command {
    Ls(commands::ls::LsArgs),
    Show(commands::show::ShowArgs),
    Inspect(commands::inspect::InspectArgs),
    Payload(commands::payload::PayloadArgs),
    Diff(commands::diff::DiffArgs),
    Clone(commands::clone::CloneArgs),
    StripThinking(commands::strip_thinking::StripThinkingArgs),
    DropTools(commands::drop_tools::DropToolsArgs),
    Truncate(commands::truncate::TruncateArgs),
    Compact(commands::compact::CompactArgs),
    Run(commands::run::RunArgs),
    Doctor(commands::doctor::DoctorArgs),
    Repair(commands::repair::RepairArgs),
    History(commands::history::HistoryArgs),
    Undo(commands::undo::UndoArgs),
    Redo(commands::redo::RedoArgs),
    Demo(commands::demo::DemoArgs),
    Completions(commands::completions::CompletionsArgs),
    Man(commands::man::ManArgs),
}

/// Which session a command is about.
#[derive(Debug, Clone, Args)]
pub(super) struct SessionArg {
    /// An id, a unique prefix of one (4 characters or more), a path to a .jsonl, a title, or `@` for
    /// the newest session of this project (`@2` the one before it) [default: @]
    #[arg(value_name = "SESSION")]
    pub(super) session: Option<String>,
}

/// How a result is shown and where it goes.
#[derive(Debug, Clone, Default, Args)]
pub(super) struct WriteArgs {
    /// Show what would happen, and write nothing
    #[arg(short = 'n', long)]
    pub(super) dry_run: bool,
    /// Add the entries' before and after; `--diff=raw` as a unified diff of the JSON
    #[arg(long, value_name = "FORM", num_args = 0..=1, require_equals = true, default_missing_value = "words")]
    pub(super) diff: Option<DiffForm>,
    /// The new session's title [default: the old one with the operation's name behind it]
    #[arg(long, value_name = "TEXT")]
    pub(super) title: Option<String>,
    /// Write the transcript alone to a file (`-` for standard output), not into the config folder
    #[arg(short, long, value_name = "FILE")]
    pub(super) output: Option<PathBuf>,
}

/// What commands that can rewrite a session take besides.
#[derive(Debug, Clone, Default, Args)]
pub(super) struct InPlaceArgs {
    /// Rewrite the session under its own id; `ccsurgery undo` brings the old bytes back
    #[arg(long, conflicts_with = "output")]
    pub(super) in_place: bool,
    /// Answer yes to the question that --in-place asks
    #[arg(short, long)]
    pub(super) yes: bool,
    /// Rewrite in place although a running client has the session open
    #[arg(long, requires = "in_place")]
    pub(super) allow_live: bool,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(super) enum DiffForm {
    /// The words that go and come
    Words,
    /// A unified diff of the JSON
    Raw,
}
