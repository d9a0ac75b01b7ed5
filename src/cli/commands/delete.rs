use std::process::ExitCode;

use clap::Args;

use crate::ops::{Delete, Selector, SizeSpec, TokenCount};
use crate::session::TurnRange;

use super::super::args::{InPlaceArgs, SessionArg, WriteArgs};
use super::super::commit_flow::{self, Job};
use super::super::context::Context;
use super::super::error::CliError;
use super::super::plan_file::{PlanStep, StepOptions};

/// Delete turns, messages, or the text and calls that match
///
/// If you give several selectors, all of them must match. With only --turns, --keep-last or --keep-tokens, whole turns are
/// deleted, also from the middle. A call and its result are deleted together, and a message that changes loses its
/// thinking. If a prompt is deleted and its answer stays, a short note replaces the prompt, because the API requires one.
/// Files that only the deleted part needed are removed too: large outputs, transcripts of subagents, and rewind data.
#[derive(Debug, Args)]
#[command(
    after_help = "Examples:\n  ccsurgery delete --turns 3..5 -n            preview without turns 3 to 5\n  ccsurgery delete --message 1f2e3d4c         one prompt or answer\n  ccsurgery delete --match 'BEGIN LOG'        every block whose text matches\n  ccsurgery delete --tool Read --path '*.sql' --turns ..10"
)]
pub(crate) struct DeleteArgs {
    #[command(flatten)]
    session: SessionArg,
    #[command(flatten)]
    options: DeleteOptions,
    #[command(flatten)]
    write: WriteArgs,
    #[command(flatten)]
    in_place: InPlaceArgs,
}

/// The options of the operation, on the command line and in plan files.
#[derive(Debug, Args)]
#[group(id = "selectors", required = true, multiple = true)]
pub(crate) struct DeleteOptions {
    /// These turns: 7, 3..7, ..7, -3..
    #[arg(long, value_name = "TURNS", allow_hyphen_values = true)]
    turns: Option<TurnRange>,
    /// A prompt or an answer, by its id or the beginning of it [repeatable]
    #[arg(long, value_name = "ID")]
    message: Vec<String>,
    /// Blocks whose text matches this regular expression
    #[arg(long = "match", value_name = "REGEX")]
    matching: Option<String>,
    /// Calls of this tool with their results, e.g. Bash or 'mcp__*' [repeatable]
    #[arg(long, value_name = "GLOB")]
    tool: Vec<String>,
    /// Calls on this file with their results, e.g. 'src/*.rs' [repeatable]
    #[arg(long, value_name = "GLOB")]
    path: Vec<String>,
    /// One call with its result, by its id or the end of it [repeatable]
    #[arg(long, value_name = "CALL")]
    id: Vec<String>,
    /// Calls that failed, with their results
    #[arg(long)]
    errors: bool,
    /// Calls larger than this, input and output together, and other blocks larger than this
    #[arg(long, value_name = "SIZE")]
    larger_than: Option<SizeSpec>,
    /// Delete nothing from the last N turns
    #[arg(long, value_name = "N")]
    keep_last: Option<u32>,
    /// Delete nothing from the newest tokens, so many of them
    #[arg(long, value_name = "TOKENS")]
    keep_tokens: Option<TokenCount>,
}

impl StepOptions for DeleteOptions {
    fn step(self) -> PlanStep {
        PlanStep::of(Delete {
            selector: Selector {
                turns: self.turns,
                message: self.message,
                matching: self.matching,
                tool: self.tool,
                path: self.path,
                id: self.id,
                errors: self.errors,
                larger_than: self.larger_than,
                keep_last: self.keep_last,
                keep_tokens: self.keep_tokens,
            },
        })
    }
}

pub(crate) fn run(args: DeleteArgs, context: &mut Context) -> Result<ExitCode, CliError> {
    let mut job = Job::new(context, &args.session, "delete", args.write, args.in_place)?;
    args.options.step().add_to(context, &mut job)?;
    commit_flow::run(context, job)
}
