use std::path::PathBuf;
use std::process::ExitCode;

use clap::Args;

use crate::ops::Compact;
use crate::session::TurnSpec;

use super::super::args::{InPlaceArgs, SessionArg, WriteArgs};
use super::super::commit_flow::{self, Job};
use super::super::context::Context;
use super::super::error::CliError;
use super::super::summary::{CompactWith, SummarySource};

/// Put a compaction boundary and a summary in front of the turns that are kept
///
/// The summary is yours, a command's, or a digest of the transcript: prompts, what each turn came
/// to, files, commands, open todos. What is summarised stays in the file but is no longer shown to
/// the model, unless --drop-history removes it.
#[derive(Debug, Args)]
#[command(
    after_help = "Examples:\n  ccsurgery compact --keep-last 3\n  ccsurgery compact --at 12 --summary-file notes.md\n  ccsurgery compact --keep-last 2 --summarizer 'my-llm --prompt \"Summarise this\"'"
)]
pub(crate) struct CompactArgs {
    #[command(flatten)]
    session: SessionArg,
    /// The last turn to summarise; what follows is kept
    #[arg(
        long,
        value_name = "TURN",
        allow_hyphen_values = true,
        required_unless_present = "keep_last",
        conflicts_with = "keep_last"
    )]
    at: Option<TurnSpec>,
    /// How many turns to keep as they are
    #[arg(long, value_name = "N")]
    keep_last: Option<u32>,
    /// The summary
    #[arg(long, value_name = "TEXT", group = "source")]
    summary: Option<String>,
    /// A file with the summary; `-` is standard input
    #[arg(long, value_name = "FILE", group = "source")]
    summary_file: Option<PathBuf>,
    /// A command that reads the turns' text and prints the summary
    #[arg(long, value_name = "CMD", group = "source")]
    summarizer: Option<String>,
    /// The size of the digest [default: 4000]
    #[arg(long, value_name = "N", conflicts_with = "source")]
    max_tokens: Option<usize>,
    /// Remove what is summarised from the file too
    #[arg(long)]
    drop_history: bool,
    #[command(flatten)]
    write: WriteArgs,
    #[command(flatten)]
    in_place: InPlaceArgs,
}

pub(crate) fn run(args: CompactArgs, context: &mut Context) -> Result<ExitCode, CliError> {
    let options = Compact {
        at: args.at,
        keep_last: args.keep_last,
        summary: args.summary,
        max_tokens: args.max_tokens,
        drop_history: args.drop_history,
        window: None,
    };
    let source = SummarySource::new(args.summary_file, args.summarizer);
    let job = Job::new(context, &args.session, "compact", args.write, args.in_place)?;
    commit_flow::run(context, job.with(CompactWith { options, source }))
}
