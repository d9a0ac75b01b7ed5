use std::process::ExitCode;

use clap::Args;

use crate::ops::DropHidden;

use super::super::args::{InPlaceArgs, SessionArg, WriteArgs};
use super::super::commit_flow::{self, Job};
use super::super::context::Context;
use super::super::error::CliError;
use super::super::plan_file::{PlanStep, StepOptions};

/// Shrink the file: remove data that the model never sees
///
/// Removes turns before the last compaction, branches that were abandoned by going back, progress
/// messages, and second copies of tool output. The context window stays as it is.
#[derive(Debug, Args)]
#[command(
    after_help = "Examples:\n  ccsurgery drop-hidden -n\n  ccsurgery drop-hidden --keep-last 3 --in-place"
)]
pub(crate) struct DropHiddenArgs {
    #[command(flatten)]
    session: SessionArg,
    #[command(flatten)]
    options: DropHiddenOptions,
    #[command(flatten)]
    write: WriteArgs,
    #[command(flatten)]
    in_place: InPlaceArgs,
}

/// The options of the operation, on the command line and in plan files.
#[derive(Debug, Args)]
pub(crate) struct DropHiddenOptions {
    /// Leave the last N turns alone
    #[arg(long, value_name = "N")]
    keep_last: Option<u32>,
}

impl StepOptions for DropHiddenOptions {
    fn step(self) -> PlanStep {
        PlanStep::of(DropHidden {
            keep_last: self.keep_last,
        })
    }
}

pub(crate) fn run(args: DropHiddenArgs, context: &mut Context) -> Result<ExitCode, CliError> {
    let name = "drop-hidden";
    let mut job = Job::new(context, &args.session, name, args.write, args.in_place)?;
    args.options.step().add_to(context, &mut job)?;
    commit_flow::run(context, job)
}
