use std::path::{Path, PathBuf};
use std::process::ExitCode;

use clap::Args;

use crate::ops;
use crate::session::TurnSpec;
use crate::store::real_path;

use super::super::args::{InPlaceArgs, SessionArg, WriteArgs};
use super::super::commit_flow::{self, Job};
use super::super::context::Context;
use super::super::error::{CliError, ErrorKind};

/// Make a complete, independent copy of a session
///
/// The copy has its own session id, message ids and files; the two sessions share nothing. The last line
/// printed is the command that resumes the copy.
#[derive(Debug, Args)]
#[command(
    after_help = "Examples:\n  ccsurgery clone                     the newest session of this project\n  ccsurgery clone 3d731db0 --at 7     only up to the end of turn 7\n  ccsurgery clone @ --to-project ../other\n  ccsurgery clone ./shared.jsonl      a transcript from elsewhere becomes a session of this project"
)]
pub(crate) struct CloneArgs {
    #[command(flatten)]
    session: SessionArg,
    /// End the copy after this turn
    #[arg(long, value_name = "TURN", allow_hyphen_values = true)]
    at: Option<TurnSpec>,
    /// Make the copy a session of another project, with its paths (`cwd`) changed to that folder
    #[arg(long, value_name = "DIR", conflicts_with = "output")]
    to_project: Option<PathBuf>,
    #[command(flatten)]
    write: WriteArgs,
}

pub(crate) fn run(args: CloneArgs, context: &mut Context) -> Result<ExitCode, CliError> {
    let to_project = args.to_project.as_deref().map(project).transpose()?;
    let mut job = Job::new(
        context,
        &args.session,
        "clone",
        args.write,
        InPlaceArgs::default(),
    )?;
    job.to_project = to_project;
    commit_flow::run(context, job.with(ops::Clone { at: args.at }))
}

/// Returns the real path of the folder that the copy is moved to.
fn project(dir: &Path) -> Result<PathBuf, CliError> {
    let hint = "a session is resumed in its project's folder: create it first";
    let problem = match real_path(dir) {
        Ok(real) if real.is_dir() => return Ok(real),
        Ok(_) => format!("`{}` is not a folder", dir.display()),
        Err(_) => format!("there is no folder `{}`", dir.display()),
    };
    Err(CliError::failed(ErrorKind::NoSuchProject, problem, hint))
}
