use std::path::PathBuf;
use std::process::ExitCode;

use clap::Args;

use crate::ops::{Compact, CompactWith};
use crate::session::TurnSpec;

use super::super::args::{InPlaceArgs, SessionArg, WriteArgs};
use super::super::commit_flow::{self, Job};
use super::super::context::Context;
use super::super::error::CliError;
use super::super::plan_file::{PlanStep, StepOptions};
use super::super::summary::SummarySource;

/// Replace old turns by a summary in the context window
///
/// The summary is your own text, the output of a command, or a digest of the transcript: prompts, the
/// result of each turn, files, commands, open todos. The summarised turns stay in the file, but the
/// model no longer sees them; --drop-history removes them from the file too.
#[derive(Debug, Args)]
#[command(
    after_help = "Examples:\n  ccsurgery compact --keep-last 3\n  ccsurgery compact --at 12 --summary-file notes.md\n  ccsurgery compact --keep-last 2 --summarizer 'my-llm --prompt \"Summarise this\"'"
)]
pub(crate) struct CompactArgs {
    #[command(flatten)]
    session: SessionArg,
    #[command(flatten)]
    options: CompactOptions,
    #[command(flatten)]
    write: WriteArgs,
    #[command(flatten)]
    in_place: InPlaceArgs,
}

/// The options of the operation, on the command line and in plan files.
#[derive(Debug, Args)]
#[group(skip)]
#[command(group = clap::ArgGroup::new("kept").args(["at", "keep_last"]).required(true))]
pub(crate) struct CompactOptions {
    /// The last turn to summarise; the turns after it are kept
    #[arg(long, value_name = "TURN", allow_hyphen_values = true)]
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
    /// A command that reads the text of the turns and prints the summary
    #[arg(long, value_name = "CMD", group = "source")]
    summarizer: Option<String>,
    /// The size of the digest in tokens [default: 2800]
    #[arg(long, value_name = "N", conflicts_with = "source")]
    max_tokens: Option<usize>,
    /// Remove the summarised turns from the file too
    #[arg(long)]
    drop_history: bool,
}

impl StepOptions for CompactOptions {
    fn step(self) -> PlanStep {
        let file = self.summary_file.map(SummarySource::File);
        let source = file.or_else(|| self.summarizer.map(SummarySource::Command));
        let options = Compact {
            at: self.at,
            keep_last: self.keep_last,
            summary: self.summary,
            max_tokens: self.max_tokens,
            drop_history: self.drop_history,
            window: None,
        };
        match source {
            Some(summarizer) => PlanStep::of(CompactWith {
                options,
                summarizer,
            }),
            None => PlanStep::of(options),
        }
    }
}

pub(crate) fn run(args: CompactArgs, context: &mut Context) -> Result<ExitCode, CliError> {
    let mut job = Job::new(context, &args.session, "compact", args.write, args.in_place)?;
    args.options.step().add_to(&mut job)?;
    commit_flow::run(context, job)
}
