use std::process::ExitCode;

use clap::Args;

use crate::ops::Uncompact;

use super::super::args::{InPlaceArgs, SessionArg, WriteArgs};
use super::super::commit_flow::{self, Job};
use super::super::context::Context;
use super::super::error::CliError;
use super::super::plan_file::{PlanStep, StepOptions};

/// Take a compaction back: show the model the turns before it again
///
/// The compaction's boundary and summary are removed, and the turns before and after it are one conversation again.
/// This works as long as the file still holds these turns.
#[derive(Debug, Args)]
#[command(
    after_help = "Examples:\n  ccsurgery uncompact -n              what the model would be shown again\n  ccsurgery uncompact --boundary 1    the first compaction and all after it"
)]
pub(crate) struct UncompactArgs {
    #[command(flatten)]
    session: SessionArg,
    #[command(flatten)]
    options: UncompactOptions,
    #[command(flatten)]
    write: WriteArgs,
    #[command(flatten)]
    in_place: InPlaceArgs,
}

/// The options of the operation, on the command line and in plan files.
#[derive(Debug, Args)]
pub(crate) struct UncompactOptions {
    /// The compaction, counted from 1, or from the end if negative; later ones are taken back too [default: -1]
    #[arg(long, value_name = "N", allow_hyphen_values = true)]
    boundary: Option<i64>,
    /// Keep the summary in the file, where the model is not shown it
    #[arg(long)]
    keep_summary: bool,
}

impl StepOptions for UncompactOptions {
    fn step(self) -> PlanStep {
        PlanStep::of(Uncompact {
            boundary: self.boundary,
            keep_summary: self.keep_summary,
        })
    }
}

pub(crate) fn run(args: UncompactArgs, context: &mut Context) -> Result<ExitCode, CliError> {
    let name = "uncompact";
    let mut job = Job::new(context, &args.session, name, args.write, args.in_place)?;
    args.options.step().add_to(context, &mut job)?;
    commit_flow::run(context, job)
}
