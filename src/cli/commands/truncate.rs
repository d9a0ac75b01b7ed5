use std::process::ExitCode;

use clap::Args;

use crate::ops::Truncate;
use crate::session::TurnSpec;

use super::super::args::{InPlaceArgs, SessionArg, WriteArgs};
use super::super::commit_flow::{self, Job};
use super::super::context::Context;
use super::super::error::CliError;
use super::super::plan_file::{PlanStep, StepOptions};

/// Remove everything after a turn
///
/// The turn may be one before a compaction: the compaction is then removed too, and the model sees
/// the full history before it again.
#[derive(Debug, Args)]
#[command(
    after_help = "Examples:\n  ccsurgery truncate --at 7        keep turns 1 to 7\n  ccsurgery truncate --at -2 -n    preview without the last turn"
)]
pub(crate) struct TruncateArgs {
    #[command(flatten)]
    session: SessionArg,
    #[command(flatten)]
    options: TruncateOptions,
    #[command(flatten)]
    write: WriteArgs,
    #[command(flatten)]
    in_place: InPlaceArgs,
}

/// The options of the operation, on the command line and in plan files.
#[derive(Debug, Args)]
pub(crate) struct TruncateOptions {
    /// The last turn to keep: 7, -2, or the uuid of an entry in it
    #[arg(long, value_name = "TURN", allow_hyphen_values = true)]
    at: TurnSpec,
}

impl StepOptions for TruncateOptions {
    fn step(self) -> PlanStep {
        PlanStep::of(Truncate { at: self.at })
    }
}

pub(crate) fn run(args: TruncateArgs, context: &mut Context) -> Result<ExitCode, CliError> {
    let name = "truncate";
    let mut job = Job::new(context, &args.session, name, args.write, args.in_place)?;
    args.options.step().add_to(context, &mut job)?;
    commit_flow::run(context, job)
}
