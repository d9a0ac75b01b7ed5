use std::process::ExitCode;

use clap::Args;

use crate::ops::StripThinking;
use crate::session::TurnRange;

use super::super::args::{InPlaceArgs, SessionArg, WriteArgs};
use crate::store::SubagentWork;

use super::super::commit_flow::{self, Job};
use super::super::context::Context;
use super::super::error::CliError;

/// Remove thinking, readable and redacted
///
/// Also the second copies that the client keeps of it. Where the last turn is unfinished its
/// thinking stays: the API wants it when the turn goes on.
#[derive(Debug, Args)]
pub(crate) struct StripThinkingArgs {
    #[command(flatten)]
    session: SessionArg,
    /// Only in these turns: 7, 3..7, ..7, 7.., -3..
    #[arg(long, value_name = "RANGE", allow_hyphen_values = true)]
    turns: Option<TurnRange>,
    /// Leave the last N turns alone
    #[arg(long, value_name = "N")]
    keep_last: Option<u32>,
    /// Also in the transcripts of subagents
    #[arg(long)]
    subagents: bool,
    #[command(flatten)]
    write: WriteArgs,
    #[command(flatten)]
    in_place: InPlaceArgs,
}

pub(crate) fn run(args: StripThinkingArgs, context: &mut Context) -> Result<ExitCode, CliError> {
    let transform = StripThinking {
        turns: args.turns,
        keep_last: args.keep_last,
    };
    let mut job = Job::new(
        context,
        &args.session,
        "strip-thinking",
        args.write,
        args.in_place,
    )?;
    if args.subagents {
        job.for_subagents = Some(SubagentWork {
            transform: Box::new(StripThinking::default()),
            only: transform.agents(&job.session)?,
        });
    }
    commit_flow::run(context, job.with(transform))
}
