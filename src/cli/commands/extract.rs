use std::process::ExitCode;

use clap::Args;

use crate::ops::{Extract, ExtractWithSummary};
use crate::session::TurnRange;

use super::super::args::{InPlaceArgs, SessionArg, WriteArgs};
use super::super::commit_flow::{self, Job};
use super::super::context::Context;
use super::super::error::CliError;
use super::super::plan_file::{PlanStep, StepOptions};

/// Copy some turns into a new session
///
/// The new session has just these turns, and the files that belong to them; the original is not touched.
#[derive(Debug, Args)]
#[command(
    after_help = "Examples:\n  ccsurgery extract --turns 5..9     turns 5 to 9 as a session of their own\n  ccsurgery extract --turns -1 -n    preview with the last turn alone\n  ccsurgery extract --turns 5..9 --with-summary    and a summary of turns 1 to 4"
)]
pub(crate) struct ExtractArgs {
    #[command(flatten)]
    session: SessionArg,
    #[command(flatten)]
    options: ExtractOptions,
    #[command(flatten)]
    write: WriteArgs,
}

/// The options of the operation, on the command line and in plan files.
#[derive(Debug, Args)]
pub(crate) struct ExtractOptions {
    /// The turns to copy: 7, 3..7, ..7, -3..
    #[arg(long, value_name = "TURNS", allow_hyphen_values = true)]
    turns: TurnRange,
    /// Begin with a digest of the turns before them
    #[arg(long)]
    with_summary: bool,
}

impl StepOptions for ExtractOptions {
    fn step(self) -> PlanStep {
        let turns = self.turns;
        if self.with_summary {
            PlanStep::of(ExtractWithSummary { turns })
        } else {
            PlanStep::of(Extract { turns })
        }
    }
}

pub(crate) fn run(args: ExtractArgs, context: &mut Context) -> Result<ExitCode, CliError> {
    let in_place = InPlaceArgs::default();
    let mut job = Job::new(context, &args.session, "extract", args.write, in_place)?;
    args.options.step().add_to(context, &mut job)?;
    commit_flow::run(context, job)
}
