use std::process::ExitCode;

use clap::Args;

use crate::ops::{SizeSpec, StripThinking, TokenCount};
use crate::session::TurnRange;

use super::super::args::{InPlaceArgs, SessionArg, WriteArgs};

use super::super::commit_flow::{self, Job};
use super::super::context::Context;
use super::super::error::CliError;
use super::super::plan_file::{PlanStep, StepOptions};

/// Remove the model's thinking, readable and redacted
///
/// Removes thinking blocks and the second copies that Claude Code keeps of them. The thinking of an
/// unfinished last turn stays, because the API needs it to continue that turn.
#[derive(Debug, Args)]
#[command(
    after_help = "Examples:\n  ccsurgery strip-thinking -n                 preview on the newest session of this project\n  ccsurgery strip-thinking 3d73 --keep-last 3\n  ccsurgery strip-thinking --message 1f2e3d4c    one message or one block\n  ccsurgery strip-thinking --subagents --in-place"
)]
pub(crate) struct StripThinkingArgs {
    #[command(flatten)]
    session: SessionArg,
    #[command(flatten)]
    options: StripThinkingOptions,
    #[command(flatten)]
    write: WriteArgs,
    #[command(flatten)]
    in_place: InPlaceArgs,
}

/// The options of the operation, on the command line and in plan files.
#[derive(Debug, Args)]
pub(crate) struct StripThinkingOptions {
    /// Only in these turns: 7, 3..7, ..7, 7.., -3..
    #[arg(long, value_name = "RANGE", allow_hyphen_values = true)]
    turns: Option<TurnRange>,
    /// Only in this message, by its id or the beginning of it; the id of a thinking block names it alone
    /// [repeatable]
    #[arg(long, value_name = "ID")]
    message: Vec<String>,
    /// Only thinking whose text matches this regular expression
    #[arg(long = "match", value_name = "REGEX")]
    matching: Option<String>,
    /// Only thinking larger than this, with its signature
    #[arg(long, value_name = "SIZE")]
    larger_than: Option<SizeSpec>,
    /// Leave the last N turns alone
    #[arg(long, value_name = "N")]
    keep_last: Option<u32>,
    /// Leave the newest content with this many tokens alone
    #[arg(long, value_name = "TOKENS")]
    keep_tokens: Option<TokenCount>,
    /// Also remove thinking from the transcripts of subagents
    #[arg(long)]
    subagents: bool,
}

impl StepOptions for StripThinkingOptions {
    fn step(self) -> PlanStep {
        let transform = StripThinking {
            turns: self.turns,
            message: self.message,
            matching: self.matching,
            larger_than: self.larger_than,
            keep_last: self.keep_last,
            keep_tokens: self.keep_tokens,
        };
        PlanStep::Change {
            subagents: self.subagents.then(|| transform.clone()),
            transform: Box::new(transform),
        }
    }
}

pub(crate) fn run(args: StripThinkingArgs, context: &mut Context) -> Result<ExitCode, CliError> {
    let name = "strip-thinking";
    let mut job = Job::new(context, &args.session, name, args.write, args.in_place)?;
    args.options.step().add_to(context, &mut job)?;
    commit_flow::run(context, job)
}
