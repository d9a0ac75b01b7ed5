use std::io::Write as _;
use std::process::ExitCode;

use clap::Args;
use serde_json::json;

use crate::ops::{TokenCount, Trim};
use crate::render::tokens;

use super::super::args::{InPlaceArgs, SessionArg, WriteArgs};
use super::super::commit_flow::{self, Job};
use super::super::context::Context;
use super::super::error::CliError;
use super::super::progress::Progress;
use super::super::report::step_document;

/// Bring a session under a token budget with the least harmful operations
///
/// Removes or shortens, in this order, oldest turns first, and only as far as needed: thinking; output
/// of files that were read again later; large outputs, which keep their first and last lines; images
/// and documents; other outputs; whole calls; and last, the oldest turns, which become a digest. The
/// last turns stay as they are.
#[derive(Debug, Args)]
#[command(
    after_help = "Examples:\n  ccsurgery trim --to 100k -n            show which steps are needed, and what each saves\n  ccsurgery trim 3d73 --to 0.1M\n  ccsurgery trim --to 80k --keep-last 1\n  ccsurgery trim --to 100k --explain > plan.toml && ccsurgery run plan.toml"
)]
pub(crate) struct TrimArgs {
    #[command(flatten)]
    session: SessionArg,
    /// The largest context window, in tokens: 100k, 100000, 0.5M
    #[arg(long, value_name = "TOKENS")]
    to: TokenCount,
    /// Leave the last N turns alone
    #[arg(long, value_name = "N", default_value_t = 3)]
    keep_last: u32,
    /// Also shrink the file: remove data that the model never sees
    #[arg(long)]
    disk: bool,
    /// Print the steps as a plan for `ccsurgery run`, and write nothing
    #[arg(long, conflicts_with_all = ["in_place", "output", "diff"])]
    explain: bool,
    #[command(flatten)]
    write: WriteArgs,
    #[command(flatten)]
    in_place: InPlaceArgs,
}

pub(crate) fn run(args: TrimArgs, context: &mut Context) -> Result<ExitCode, CliError> {
    let mut job = Job::new(context, &args.session, "trim", args.write, args.in_place)?;
    let trim = Trim {
        to: args.to,
        keep_last: args.keep_last,
        disk: args.disk,
    };
    let progress = Progress::start(context.progress, "looking for the least harmful steps");
    let found = trim.find(&job.session);
    progress.done();
    let found = found?;
    if args.explain && !found.steps.is_empty() {
        let plan = found.plan_file();
        if context.json {
            let steps: Vec<_> = found.steps.iter().map(step_document).collect();
            let document = json!({"schema": 1, "operation": "trim", "before": found.before, "after": found.after, "steps": steps, "plan": plan});
            context.print_json(&document)?;
        } else {
            context.out.write_all(plan.as_bytes())?;
        }
        return Ok(ExitCode::SUCCESS);
    }
    if found.steps.is_empty() {
        job.idle = Some(format!(
            "the context window takes about {} tokens, which is within {}",
            tokens(found.before),
            tokens(args.to.0)
        ));
    }
    let transforms = found.steps.iter().map(|taken| taken.step.transform());
    job.transforms.extend(transforms);
    job.steps = found.steps;
    commit_flow::run(context, job)
}
