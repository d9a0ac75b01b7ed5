use std::path::PathBuf;
use std::process::ExitCode;

use clap::Args;

use super::super::args::{InPlaceArgs, SessionArg, WriteArgs};
use super::super::commit_flow;
use super::super::context::Context;
use super::super::error::CliError;
use super::super::plan_file;

/// Run several operations as one change: one preview, one write, one undo
///
/// A plan is a TOML file with one `[[step]]` for each operation: `op` is the operation's name, and its
/// options have the names and the rules that they have on the command line.
#[derive(Debug, Args)]
#[command(
    after_help = "A plan:\n  [[step]]\n  op = \"strip-thinking\"\n  keep-last = 3\n  subagents = true\n\n  [[step]]\n  op = \"drop-tools\"\n  tool = [\"Bash\", \"mcp__*\"]\n  larger-than = \"10k\"\n  stub = true\n  head = 5\n\nExamples:\n  ccsurgery run spring-cleaning.toml -n\n  ccsurgery run tidy @2                     the plan [[plan.tidy]] of your config file\n  ccsurgery trim --to 100k --explain | ccsurgery run - 3d73"
)]
pub(crate) struct RunArgs {
    /// The file with the plan, or the name of a plan in your config file; `-` is standard input
    #[arg(value_name = "PLAN")]
    plan: PathBuf,
    #[command(flatten)]
    session: SessionArg,
    #[command(flatten)]
    write: WriteArgs,
    #[command(flatten)]
    in_place: InPlaceArgs,
}

pub(crate) fn run(args: RunArgs, context: &mut Context) -> Result<ExitCode, CliError> {
    let steps = plan_file::find(&context.settings, &args.plan)?;
    let places = (args.write, args.in_place);
    plan_file::with_job(
        context,
        args.session,
        "run",
        places,
        steps,
        commit_flow::run,
    )
}
