use std::process::ExitCode;

use clap::Args;

use crate::ops::Truncate;
use crate::session::TurnSpec;

use super::super::args::{InPlaceArgs, SessionArg, WriteArgs};
use super::super::commit_flow::{self, Job};
use super::super::context::Context;
use super::super::error::CliError;

/// Remove everything after a turn
///
/// A turn before a compaction may be named: the boundary goes with what follows, and the full
/// history before it is live again.
#[derive(Debug, Args)]
pub(crate) struct TruncateArgs {
    #[command(flatten)]
    session: SessionArg,
    /// The last turn to keep: 7, -2, or the uuid of an entry in it
    #[arg(long, value_name = "TURN", allow_hyphen_values = true)]
    at: TurnSpec,
    #[command(flatten)]
    write: WriteArgs,
    #[command(flatten)]
    in_place: InPlaceArgs,
}

pub(crate) fn run(args: TruncateArgs, context: &mut Context) -> Result<ExitCode, CliError> {
    let job = Job::new(
        context,
        &args.session,
        "truncate",
        args.write,
        args.in_place,
    )?;
    commit_flow::run(context, job.with(Truncate { at: args.at }))
}
