use std::process::ExitCode;

use clap::Args;

use crate::ops::DropHidden;

use super::super::args::{InPlaceArgs, SessionArg, WriteArgs};
use super::super::commit_flow::{self, Job};
use super::super::context::Context;
use super::super::error::CliError;

/// Remove what the model is not shown anyway, for a smaller file
///
/// Turns before the last compaction, paths that were left by going back, progress, and the client's
/// second copies of results. The window stays as it is.
#[derive(Debug, Args)]
#[command(after_help = "Example:\n  ccsurgery drop-hidden --keep-last 3 -n")]
pub(crate) struct DropHiddenArgs {
    #[command(flatten)]
    session: SessionArg,
    /// Leave the last N turns alone
    #[arg(long, value_name = "N")]
    keep_last: Option<u32>,
    #[command(flatten)]
    write: WriteArgs,
    #[command(flatten)]
    in_place: InPlaceArgs,
}

pub(crate) fn run(args: DropHiddenArgs, context: &mut Context) -> Result<ExitCode, CliError> {
    let transform = DropHidden {
        keep_last: args.keep_last,
    };
    let job = Job::new(
        context,
        &args.session,
        "drop-hidden",
        args.write,
        args.in_place,
    )?;
    commit_flow::run(context, job.with(transform))
}
