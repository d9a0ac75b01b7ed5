use std::io::Write as _;
use std::path::PathBuf;
use std::process::ExitCode;

use clap::Args;
use serde::Serialize;

use crate::ops::{Compact, CompactWith, TokenCount};
use crate::session::TurnSpec;
use crate::view::{SCHEMA, SessionText};

use super::super::args::{InPlaceArgs, SessionArg, WriteArgs};
use super::super::commit_flow::{self, Job};
use super::super::context::Context;
use super::super::error::CliError;
use super::super::names;
use super::super::plan_file::{PlanStep, StepOptions};
use super::super::summary::SummarySource;

/// Replace old turns in the context window with a summary
///
/// Whole turns are summarised, or with --keep-tokens everything but the newest messages: then a long turn is cut between
/// two of its steps, where Claude Code itself compacts when the context window is full.
///
/// The summary is your own text, the output of a command, or a digest of the transcript: what you said, what was
/// found and decided, errors, files, commands, tasks, and where the work stands. The summarised turns stay in the file, but the
/// model no longer sees them; --drop-history removes them from the file too.
#[derive(Debug, Args)]
#[command(
    after_help = "Examples:\n  ccsurgery compact --keep-last 3\n  ccsurgery compact --keep-tokens 20k\n  ccsurgery compact --at 12 --summary-file notes.md\n  ccsurgery compact --keep-last 2 --summarizer 'my-llm --prompt \"Summarise this\"'"
)]
pub(crate) struct CompactArgs {
    #[command(flatten)]
    session: SessionArg,
    #[command(flatten)]
    options: CompactOptions,
    /// Print the whole summary and write nothing
    #[arg(long)]
    print_summary: bool,
    #[command(flatten)]
    write: WriteArgs,
    #[command(flatten)]
    in_place: InPlaceArgs,
}

/// The options of the operation, on the command line and in plan files.
#[derive(Debug, Args)]
#[group(skip)]
#[command(group = clap::ArgGroup::new("kept").args(["at", "keep_last", "keep_tokens", "before"]).required(true))]
pub(crate) struct CompactOptions {
    /// The last turn to summarise; the turns after it are kept
    #[arg(long, value_name = "TURN", allow_hyphen_values = true)]
    at: Option<TurnSpec>,
    /// How many turns to keep as they are
    #[arg(long, value_name = "N")]
    keep_last: Option<u32>,
    /// Keep the newest messages that take no more than this; the last turn may be cut between two steps
    #[arg(long, value_name = "TOKENS", value_parser = super::trim::kept_tokens)]
    keep_tokens: Option<TokenCount>,
    /// The first message to keep, by its id: a prompt, or an answer that follows results
    #[arg(long, value_name = "MESSAGE")]
    before: Option<String>,
    /// Use this text as the summary
    #[arg(long, value_name = "TEXT", group = "source")]
    summary: Option<String>,
    /// Read the summary from a file; `-` is standard input
    #[arg(long, value_name = "FILE", group = "source")]
    summary_file: Option<PathBuf>,
    /// Run a command that reads the turns as text and prints the summary
    #[arg(long, value_name = "CMD", group = "source")]
    summarizer: Option<String>,
    /// The size of the digest in tokens [default: 2800]
    #[arg(long, value_name = "N", conflicts_with = "source")]
    max_tokens: Option<usize>,
    /// Quote everything you wrote in full in the digest; --max-tokens then limits the rest of it
    #[arg(long, conflicts_with = "source")]
    whole_words: bool,
    /// Remove the summarised turns from the file too
    #[arg(long)]
    drop_history: bool,
}

impl CompactOptions {
    /// The operation, and where its summary comes from if that is a file or a command.
    fn parts(self) -> (Compact, Option<SummarySource>) {
        let file = self.summary_file.map(SummarySource::File);
        let source = file.or_else(|| self.summarizer.map(SummarySource::Command));
        let options = Compact {
            at: self.at,
            keep_last: self.keep_last,
            keep_tokens: self.keep_tokens,
            before: self.before,
            summary: self.summary,
            max_tokens: self.max_tokens,
            whole_words: self.whole_words,
            drop_history: self.drop_history,
            window: None,
        };
        (options, source)
    }
}

impl StepOptions for CompactOptions {
    fn step(self) -> PlanStep {
        match self.parts() {
            (options, Some(summarizer)) => PlanStep::of(CompactWith {
                options,
                summarizer,
            }),
            (options, None) => PlanStep::of(options),
        }
    }
}

pub(crate) fn run(args: CompactArgs, context: &mut Context) -> Result<ExitCode, CliError> {
    if args.print_summary {
        return print_summary(args, context);
    }
    let mut job = Job::new(context, &args.session, "compact", args.write, args.in_place)?;
    args.options.step().add_to(context, &mut job)?;
    commit_flow::run(context, job)
}

/// A summary as `--json` prints it.
#[derive(Serialize)]
struct PrintedSummary {
    schema: u32,
    summary: SessionText,
}

/// Prints the summary that a compaction would have.
fn print_summary(args: CompactArgs, context: &mut Context) -> Result<ExitCode, CliError> {
    let found = names::find(context, &args.session)?;
    let session = names::open_to_read(context, &found)?;
    let options = match args.options.parts() {
        (options, Some(summarizer)) => CompactWith {
            options,
            summarizer,
        }
        .summarised(&session)?,
        (options, None) => options,
    };
    let Some(cut) = options.cut(&session)? else {
        context.tell("There is nothing to summarise.");
        return Ok(ExitCode::SUCCESS);
    };
    let summary = SessionText::from(options.summary_of(&session, cut)?);
    if context.json {
        let schema = SCHEMA;
        context.print_json(&PrintedSummary { schema, summary })?;
        return Ok(ExitCode::SUCCESS);
    }
    let text = context.presenter().lines(&summary);
    writeln!(context.out, "{text}")?;
    Ok(ExitCode::SUCCESS)
}
