use std::process::ExitCode;

use clap::Args;

use crate::ops::Delete;

use super::super::args::{InPlaceArgs, SessionArg, WriteArgs};
use super::super::commit_flow::{self, Job};
use super::super::context::Context;
use super::super::error::CliError;
use super::super::plan_file::{PlanStep, StepOptions};
use super::super::selector_args::SelectorArgs;

/// Delete turns, messages, or the text and calls that match
///
/// If you give several selectors, all of them must match. With only --turns, --keep-last or --keep-tokens, whole turns are
/// deleted, also from the middle. A call and its result are deleted together, and a message that changes loses its
/// thinking. If a prompt is deleted and its answer stays, a short note replaces the prompt, because the API requires one.
/// Files that only the deleted part needed are removed too: large outputs, transcripts of subagents, and rewind data.
#[derive(Debug, Args)]
#[command(
    after_help = "Examples:\n  ccsurgery delete --turns 3..5 -n            preview without turns 3 to 5\n  ccsurgery delete --message 1f2e3d4c         one prompt or answer\n  ccsurgery delete --match 'BEGIN LOG'        every block whose text matches\n  ccsurgery delete --tool Read --path '*.sql' --turns ..10"
)]
pub(crate) struct DeleteArgs {
    #[command(flatten)]
    session: SessionArg,
    #[command(flatten)]
    options: DeleteOptions,
    #[command(flatten)]
    write: WriteArgs,
    #[command(flatten)]
    in_place: InPlaceArgs,
}

/// The options of the operation, on the command line and in plan files.
#[derive(Debug, Args)]
#[command(mut_group("selectors", |group| group.required(true)))]
pub(crate) struct DeleteOptions {
    #[command(flatten)]
    selector: SelectorArgs,
}

impl StepOptions for DeleteOptions {
    fn step(self) -> PlanStep {
        PlanStep::of(Delete {
            selector: self.selector.selector(),
        })
    }
}

pub(crate) fn run(args: DeleteArgs, context: &mut Context) -> Result<ExitCode, CliError> {
    let mut job = Job::new(context, &args.session, "delete", args.write, args.in_place)?;
    args.options.step().add_to(context, &mut job)?;
    commit_flow::run(context, job)
}
