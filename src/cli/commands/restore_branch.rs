use std::process::ExitCode;

use clap::Args;

use crate::ops::RestoreBranch;

use super::super::args::{InPlaceArgs, SessionArg, WriteArgs};
use super::super::commit_flow::{self, Job};
use super::super::context::Context;
use super::super::error::CliError;
use super::super::plan_file::{PlanStep, StepOptions};

/// Continue from an abandoned branch
///
/// A branch is what you left by rewinding or by editing a prompt; `ccsurgery show --branches` lists them. The present
/// conversation stays in the file as a branch, so you can return to it in the same way.
#[derive(Debug, Args)]
#[command(
    after_help = "Examples:\n  ccsurgery show --branches               list the branches with their ids\n  ccsurgery restore-branch 1f2e3d4c -n    what the model would be shown"
)]
pub(crate) struct RestoreBranchArgs {
    /// The id of a message of the branch, or the beginning of it
    #[arg(value_name = "UUID")]
    entry: String,
    #[command(flatten)]
    session: SessionArg,
    #[command(flatten)]
    write: WriteArgs,
    #[command(flatten)]
    in_place: InPlaceArgs,
}

/// The options of the operation in plan files.
#[derive(Debug, Args)]
pub(crate) struct RestoreBranchOptions {
    /// The id of a message of the branch, or the beginning of it
    #[arg(long, value_name = "UUID")]
    entry: String,
}

impl StepOptions for RestoreBranchOptions {
    fn step(self) -> PlanStep {
        PlanStep::of(RestoreBranch { entry: self.entry })
    }
}

pub(crate) fn run(args: RestoreBranchArgs, context: &mut Context) -> Result<ExitCode, CliError> {
    let name = "restore-branch";
    let mut job = Job::new(context, &args.session, name, args.write, args.in_place)?;
    job.idle = Some("this message is part of the conversation already".to_owned());
    let options = RestoreBranchOptions { entry: args.entry };
    options.step().add_to(context, &mut job)?;
    commit_flow::run(context, job)
}
