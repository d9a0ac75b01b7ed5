//! The shape of the command line: global options, and what commands that write share.

#![allow(
    clippy::doc_markdown,
    reason = "these comments are the help text, which is not Markdown"
)]

use std::path::PathBuf;

use clap::{Args, Parser, Subcommand, ValueEnum};
use serde::Deserialize;

use super::commands;

/// Lossless surgery on Claude Code sessions: look into them, copy, shrink and repair them
///
/// A session is never changed in place unless you ask for it, and `ccsurgery undo` takes a change back.
#[derive(Debug, Parser)]
#[command(
    name = "ccsurgery",
    // Not what it was called by, which on Windows ends with `.exe`.
    bin_name = "ccsurgery",
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
    /// Claude Code's config folder [default: $CLAUDE_CONFIG_DIR, else ~/.claude]
    #[arg(
        long,
        global = true,
        value_name = "DIR",
        hide_short_help = true,
        hide_long_help = true
    )]
    pub(super) config_dir: Option<PathBuf>,
    /// The project's folder [default: the working folder, or the nearest one above with sessions]
    #[arg(
        long,
        global = true,
        value_name = "DIR",
        hide_short_help = true,
        hide_long_help = true
    )]
    pub(super) project: Option<PathBuf>,
    /// Print one JSON document instead of text
    #[arg(long, global = true, hide_short_help = true, hide_long_help = true)]
    pub(super) json: bool,
    /// When to use colour: auto, always or never
    #[arg(
        long,
        global = true,
        value_name = "WHEN",
        default_value = "auto",
        hide_short_help = true,
        hide_long_help = true
    )]
    pub(super) color: Color,
    /// Never show long output through a pager
    #[arg(long, global = true, hide_short_help = true, hide_long_help = true)]
    pub(super) no_pager: bool,
    /// Show passwords and keys in a session's text instead of masking them
    #[arg(long, global = true, hide_short_help = true, hide_long_help = true)]
    pub(super) show_secrets: bool,
    /// Print only the result
    #[arg(
        short,
        long,
        global = true,
        hide_short_help = true,
        hide_long_help = true
    )]
    pub(super) quiet: bool,
    /// List every removed or changed item in the preview on a line of its own
    #[arg(
        short,
        long,
        global = true,
        conflicts_with = "quiet",
        hide_short_help = true,
        hide_long_help = true
    )]
    pub(super) verbose: bool,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum, Deserialize)]
#[serde(rename_all = "lowercase")]
pub(super) enum Color {
    Auto,
    Always,
    Never,
}

impl Color {
    /// Returns its name on the command line.
    pub(super) fn word(self) -> &'static str {
        match self {
            Color::Auto => "auto",
            Color::Always => "always",
            Color::Never => "never",
        }
    }
}

#[derive(Debug, Subcommand)]
pub(super) enum Command {
    Ui(commands::ui::UiArgs),
    #[command(visible_alias = "list")]
    Ls(commands::ls::LsArgs),
    Show(commands::show::ShowArgs),
    #[command(visible_alias = "search")]
    Grep(commands::grep::GrepArgs),
    Inspect(commands::inspect::InspectArgs),
    Payload(commands::payload::PayloadArgs),
    Diff(commands::diff::DiffArgs),
    Export(commands::export::ExportArgs),
    #[command(visible_alias = "fork")]
    Clone(commands::clone::CloneArgs),
    StripThinking(commands::strip_thinking::StripThinkingArgs),
    DropTools(commands::drop_tools::DropToolsArgs),
    DropImages(commands::drop_images::DropImagesArgs),
    DropHidden(commands::drop_hidden::DropHiddenArgs),
    Truncate(commands::truncate::TruncateArgs),
    Compact(commands::compact::CompactArgs),
    Trim(commands::trim::TrimArgs),
    Delete(commands::delete::DeleteArgs),
    Edit(commands::edit::EditArgs),
    Extract(commands::extract::ExtractArgs),
    Graft(commands::graft::GraftArgs),
    Redact(commands::redact::RedactArgs),
    Uncompact(commands::uncompact::UncompactArgs),
    RestoreBranch(commands::restore_branch::RestoreBranchArgs),
    Title(commands::title::TitleArgs),
    Run(commands::run::RunArgs),
    Du(commands::du::DuArgs),
    Move(commands::move_project::MoveArgs),
    Bundle(commands::bundle::BundleArgs),
    Import(commands::import::ImportArgs),
    Archive(commands::archive::ArchiveArgs),
    Restore(commands::restore::RestoreArgs),
    Keep(commands::keep::KeepArgs),
    Rm(commands::rm::RmArgs),
    Doctor(commands::doctor::DoctorArgs),
    Repair(commands::repair::RepairArgs),
    #[command(
        visible_alias = "log",
        after_help = "Examples:\n  ccsurgery history                        past operations, newest first\n  ccsurgery history gc --older-than 30d    delete the saved bytes of old operations"
    )]
    History(commands::history::HistoryArgs),
    #[command(
        after_help = "Examples:\n  ccsurgery undo -n    what would be undone\n  ccsurgery undo       undo the last operation"
    )]
    Undo(commands::undo::UndoArgs),
    #[command(after_help = "Example:\n  ccsurgery redo       redo what was undone last")]
    Redo(commands::redo::RedoArgs),
    Demo(commands::demo::DemoArgs),
    Completions(commands::completions::CompletionsArgs),
    Man(commands::man::ManArgs),
}

/// Which session a command is about.
#[derive(Debug, Clone, Args)]
pub(super) struct SessionArg {
    /// An id or its first 4 characters or more, a title or part of one, a path to a .jsonl file, `-` for
    /// standard input, or `@` for the newest session of this project (`@2` the one before it)
    /// [default: @]
    #[arg(value_name = "SESSION")]
    pub(super) session: Option<String>,
}

/// How a result is shown and where it is written.
#[derive(Debug, Clone, Default, Args)]
pub(super) struct WriteArgs {
    /// Show the full preview, and write nothing
    #[arg(short = 'n', long)]
    pub(super) dry_run: bool,
    /// Show removed and added text; `--diff=raw` shows a unified diff of the JSON
    #[arg(long, value_name = "FORM", num_args = 0..=1, require_equals = true, default_missing_value = "words")]
    pub(super) diff: Option<DiffForm>,
    /// The new session's title [default: the old title plus "(operation)"]
    #[arg(long, value_name = "TEXT", value_parser = title)]
    pub(super) title: Option<String>,
    /// Write only the transcript, to this file (`-` for standard output)
    #[arg(short, long, value_name = "FILE")]
    pub(super) output: Option<PathBuf>,
    /// Also write a page (HTML) that shows what was done: before and after, changes and differences
    #[arg(long, value_name = "FILE")]
    pub(super) report: Option<PathBuf>,
}

/// Options of commands that can rewrite a session.
#[derive(Debug, Clone, Default, Args)]
pub(super) struct InPlaceArgs {
    /// Rewrite the session itself; `ccsurgery undo` restores it exactly
    #[arg(long, conflicts_with = "output")]
    pub(super) in_place: bool,
    /// Do not ask before rewriting in place
    #[arg(short, long)]
    pub(super) yes: bool,
    /// Rewrite in place although Claude Code has the session open
    #[arg(long, requires = "in_place")]
    pub(super) allow_live: bool,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(super) enum DiffForm {
    /// Removed and added text
    Words,
    /// A unified diff of the JSON
    Raw,
}

/// Parses a title, which must have some text.
pub(super) fn title(text: &str) -> Result<String, String> {
    if text.trim().is_empty() {
        return Err("a title needs some text".to_owned());
    }
    Ok(text.to_owned())
}
