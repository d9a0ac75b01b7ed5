use std::path::PathBuf;
use std::process::ExitCode;

use clap::Args;
use uuid::Uuid;

use crate::ops::{DonorTurns, Excised, Graft};
use crate::session::{Session, TurnRange, TurnSpec};
use crate::store::{GraftPair, GraftSource, Located};

use super::super::args::{InPlaceArgs, SessionArg, WriteArgs};
use super::super::commit_flow::{self, Job};
use super::super::context::Context;
use super::super::error::{CliError, ErrorKind};
use super::super::names;
use super::super::plan_file::{PlanStep, StepOptions};

/// Insert turns of another session, or of an abandoned branch
///
/// The turns are copied: the session that they come from is not touched. They get new ids, and their
/// subagents, large outputs and file versions for rewinding come with them. If they are older than the turns around
/// them, their times are moved, because some versions of Claude Code go by time.
#[derive(Debug, Args)]
#[command(
    after_help = "Examples:\n  ccsurgery graft --from 1f2e3d4c --turns 3..5    at the end of the newest session\n  ccsurgery graft --from @2 --at 4 -n             all turns of the session before it, after turn 4\n  ccsurgery graft --branch 9a8b7c6d               the turns that you left by rewinding"
)]
pub(crate) struct GraftArgs {
    #[command(flatten)]
    session: SessionArg,
    #[command(flatten)]
    options: GraftOptions,
    #[command(flatten)]
    write: WriteArgs,
    #[command(flatten)]
    in_place: InPlaceArgs,
}

/// The options of the operation, on the command line and in plan files.
#[derive(Debug, Args)]
pub(crate) struct GraftOptions {
    /// The session that the turns come from [default with --branch: the session itself]
    #[arg(long, value_name = "SESSION", required_unless_present = "branch")]
    from: Option<String>,
    /// The turns to insert: 7, 3..7, ..7, -3.. [default: all of them]
    #[arg(long, value_name = "TURNS", allow_hyphen_values = true)]
    turns: Option<TurnRange>,
    /// Take the turns of an abandoned branch, by the id of one of its messages [default turns: those that only the
    /// branch has]
    #[arg(long, value_name = "UUID")]
    branch: Option<String>,
    /// Insert them after this turn: a number, or -1 for the last [default: at the end]
    #[arg(long, value_name = "TURN", allow_hyphen_values = true)]
    at: Option<TurnSpec>,
}

impl StepOptions for GraftOptions {
    fn step(self) -> PlanStep {
        PlanStep::Graft(self)
    }
}

pub(crate) fn run(args: GraftArgs, context: &mut Context) -> Result<ExitCode, CliError> {
    let mut job = Job::new(context, &args.session, "graft", args.write, args.in_place)?;
    args.options.step().add_to(context, &mut job)?;
    commit_flow::run(context, job)
}

/// Adds the insertion of turns to a job, with the files that come along.
pub(crate) fn add_to(
    options: GraftOptions,
    context: &mut Context,
    job: &mut Job<'_>,
) -> Result<(), CliError> {
    let from = match options.from {
        Some(name) => find_donor(context, name)?,
        None => job.found.clone(),
    };
    let session = names::open(context, &from)?;
    let chosen = DonorTurns {
        turns: options.turns,
        branch: options.branch,
    };
    let project = moved_project(&session, &from, job);
    let pair = GraftPair {
        config: &context.config,
        donor: &from,
        target: &job.found,
    };
    // Steps before this one can change how many turns there are.
    let in_middle = match &options.at {
        Some(at) if job.transforms.is_empty() => {
            at.resolve(&job.session)? < job.session.turns().len() as u32
        }
        at => at.is_some(),
    };
    let source = GraftSource::gather(pair, &session, project, in_middle, Uuid::new_v4)?;
    let excised = Excised::new(session, &chosen, source.names().clone())?;
    let agents = source.open_agents(&excised.agents())?;
    let own_id = job.session.session_id_text();
    let id = own_id.unwrap_or_else(|| job.found.id.clone());
    let donor = excised.named_for(&job.session, &id, agents, source.backups())?;
    job.bring(source.brought(&donor)?);
    let at = options.at;
    job.transforms.push(Box::new(Graft { donor, at }));
    Ok(())
}

/// Finds the session that the turns come from.
fn find_donor(context: &mut Context, name: String) -> Result<Located, CliError> {
    if name == "-" {
        return Err(CliError::usage(
            ErrorKind::Usage,
            "--from needs a session, not standard input",
            "save the transcript to a file first, and name the file",
        ));
    }
    let session = Some(name);
    names::find(context, &SessionArg { session })
}

/// Returns the folder that each session was held in, if they differ.
fn moved_project(donor: &Session, from: &Located, job: &Job<'_>) -> Option<(PathBuf, PathBuf)> {
    let old = names::project_of(donor, from.folder())?;
    let new = names::project_of(&job.session, job.found.folder())?;
    (old != new).then_some((old, new))
}
