use std::process::ExitCode;

use clap::Args;

use crate::ops::Title;
use crate::store;

use super::super::args::{DiffForm, InPlaceArgs, SessionArg, WriteArgs, title};
use super::super::commit_flow::{self, Job};
use super::super::context::Context;
use super::super::error::CliError;
use super::super::plan_file::{PlanStep, StepOptions};

/// Rename a session
///
/// The session itself gets the new title: one line is added at the end of its file, as Claude Code does it.
/// Nothing else changes, and `ccsurgery undo` takes it back.
#[derive(Debug, Args)]
#[command(
    after_help = "Examples:\n  ccsurgery title \"Parser rewrite\"             rename the newest session of this project\n  ccsurgery title \"Parser rewrite\" 3d731db0    rename this one"
)]
pub(crate) struct TitleArgs {
    /// The new title
    #[arg(value_name = "TEXT", value_parser = title)]
    text: String,
    #[command(flatten)]
    session: SessionArg,
    /// Show the full preview, and write nothing
    #[arg(short = 'n', long)]
    dry_run: bool,
    /// Show removed and added text; `--diff=raw` shows a unified diff of the JSON
    #[arg(long, value_name = "FORM", num_args = 0..=1, require_equals = true, default_missing_value = "words")]
    diff: Option<DiffForm>,
    /// Also write a page (HTML) that shows what was done
    #[arg(long, value_name = "FILE")]
    report: Option<std::path::PathBuf>,
    /// Rename although Claude Code has the session open
    #[arg(long)]
    allow_live: bool,
}

/// The options of the operation in plan files.
#[derive(Debug, Args)]
pub(crate) struct TitleOptions {
    /// The new title
    #[arg(long, value_name = "TEXT", value_parser = title)]
    text: String,
}

impl StepOptions for TitleOptions {
    fn step(self) -> PlanStep {
        PlanStep::of(Title { text: self.text })
    }
}

pub(crate) fn run(args: TitleArgs, context: &mut Context) -> Result<ExitCode, CliError> {
    let write = WriteArgs {
        dry_run: args.dry_run,
        diff: args.diff,
        report: args.report,
        ..WriteArgs::default()
    };
    let in_place = InPlaceArgs {
        in_place: true,
        // Whoever gives a title has asked for it, and nothing else changes.
        yes: true,
        allow_live: true,
    };
    let job = Job::new(context, &args.session, "title", write, in_place)?;
    if !args.allow_live && !args.dry_run {
        refuse_live(context, &job)?;
    }
    commit_flow::run(context, job.with(Title { text: args.text }))
}

/// Refuses to rename a session that Claude Code has open: it would write its own title again.
fn refuse_live(context: &Context, job: &Job<'_>) -> Result<(), CliError> {
    match store::live(&context.config, &job.found.id) {
        Some(live) => Err(CliError::refused(
            "live",
            format!(
                "session {} is open in Claude Code (process {})",
                job.found.id, live.pid
            ),
            "rename it there with /rename, or leave Claude Code first; --allow-live overrides",
        )),
        None => Ok(()),
    }
}
