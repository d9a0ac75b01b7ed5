use std::path::PathBuf;
use std::process::ExitCode;

use clap::Args;

use crate::ops;
use crate::session::TurnSpec;

use super::super::args::{InPlaceArgs, SessionArg, WriteArgs};
use super::super::commit_flow::{self, Job};
use super::super::context::Context;
use super::super::error::CliError;

/// Make a complete, independent copy of a session
///
/// The copy has a session id, entry ids and sidecar files of its own; neither session can spoil the
/// other's. Prints the command that resumes it.
#[derive(Debug, Args)]
#[command(
    after_help = "Examples:\n  ccsurgery clone                     the newest session of this project\n  ccsurgery clone 3d731db0 --at 7     only up to the end of turn 7\n  ccsurgery clone @ --to-project ../other"
)]
pub(crate) struct CloneArgs {
    #[command(flatten)]
    session: SessionArg,
    /// End the copy after this turn
    #[arg(long, value_name = "TURN", allow_hyphen_values = true)]
    at: Option<TurnSpec>,
    /// Put the copy under another project's folder, with `cwd` rewritten
    #[arg(long, value_name = "DIR", conflicts_with = "output")]
    to_project: Option<PathBuf>,
    #[command(flatten)]
    write: WriteArgs,
}

pub(crate) fn run(args: CloneArgs, context: &mut Context) -> Result<ExitCode, CliError> {
    let to_project = args.to_project.map(|dir| {
        fs_err::canonicalize(&dir).map_err(|_| {
            CliError::failed(
                "no-such-project",
                format!("there is no folder `{}`", dir.display()),
                "create it first: a session is resumed in its project's folder",
            )
        })
    });
    let mut job = Job::new(
        context,
        &args.session,
        "clone",
        args.write,
        InPlaceArgs::default(),
    )?;
    job.to_project = to_project.transpose()?;
    commit_flow::run(context, job.with(ops::Clone { at: args.at }))
}
