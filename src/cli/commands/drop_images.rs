use std::process::ExitCode;

use clap::Args;

use crate::ops::DropImages;
use crate::session::TurnRange;

use super::super::args::{InPlaceArgs, SessionArg, WriteArgs};
use super::super::commit_flow::{self, Job};
use super::super::context::Context;
use super::super::error::CliError;

/// Replace images and documents by notes
///
/// In prompts and in what calls brought; the text beside them stays.
#[derive(Debug, Args)]
#[command(after_help = "Example:\n  ccsurgery drop-images --keep-last 3")]
pub(crate) struct DropImagesArgs {
    #[command(flatten)]
    session: SessionArg,
    /// Only in these turns: 7, 3..7, ..7, 7.., -3..
    #[arg(long, value_name = "RANGE", allow_hyphen_values = true)]
    turns: Option<TurnRange>,
    /// Leave the last N turns alone
    #[arg(long, value_name = "N")]
    keep_last: Option<u32>,
    #[command(flatten)]
    write: WriteArgs,
    #[command(flatten)]
    in_place: InPlaceArgs,
}

pub(crate) fn run(args: DropImagesArgs, context: &mut Context) -> Result<ExitCode, CliError> {
    let transform = DropImages {
        turns: args.turns,
        keep_last: args.keep_last,
    };
    let job = Job::new(
        context,
        &args.session,
        "drop-images",
        args.write,
        args.in_place,
    )?;
    commit_flow::run(context, job.with(transform))
}
