use std::process::ExitCode;

use clap::Args;

use crate::ops::DropImages;
use crate::session::TurnRange;

use super::super::args::{InPlaceArgs, SessionArg, WriteArgs};
use super::super::commit_flow::{self, Job};
use super::super::context::Context;
use super::super::error::CliError;
use super::super::plan_file::{PlanStep, StepOptions};

/// Replace images and documents with notes
///
/// Replaces those in prompts and those in the output of tools; the text beside them stays.
#[derive(Debug, Args)]
#[command(
    after_help = "Examples:\n  ccsurgery drop-images -n\n  ccsurgery drop-images --keep-last 3"
)]
pub(crate) struct DropImagesArgs {
    #[command(flatten)]
    session: SessionArg,
    #[command(flatten)]
    options: DropImagesOptions,
    #[command(flatten)]
    write: WriteArgs,
    #[command(flatten)]
    in_place: InPlaceArgs,
}

/// The options of the operation, on the command line and in plan files.
#[derive(Debug, Args)]
pub(crate) struct DropImagesOptions {
    /// Only in these turns: 7, 3..7, ..7, 7.., -3..
    #[arg(long, value_name = "RANGE", allow_hyphen_values = true)]
    turns: Option<TurnRange>,
    /// Leave the last N turns alone
    #[arg(long, value_name = "N")]
    keep_last: Option<u32>,
}

impl StepOptions for DropImagesOptions {
    fn step(self) -> PlanStep {
        PlanStep::of(DropImages {
            turns: self.turns,
            keep_last: self.keep_last,
        })
    }
}

pub(crate) fn run(args: DropImagesArgs, context: &mut Context) -> Result<ExitCode, CliError> {
    let name = "drop-images";
    let mut job = Job::new(context, &args.session, name, args.write, args.in_place)?;
    args.options.step().add_to(context, &mut job)?;
    commit_flow::run(context, job)
}
