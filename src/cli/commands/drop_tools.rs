use std::process::ExitCode;

use clap::Args;

use crate::ops::{DropTools, SizeSpec};
use crate::session::TurnRange;

use super::super::args::{InPlaceArgs, SessionArg, WriteArgs};
use super::super::commit_flow::{self, Job};
use super::super::context::Context;
use super::super::error::CliError;

/// Remove calls of tools together with their results
///
/// All criteria that are given must match; with none, every call goes. Text beside them stays. With
/// --stub the pair stays, and the output becomes a short note.
#[derive(Debug, Args)]
#[command(
    after_help = "Examples:\n  ccsurgery drop-tools --tool Bash --larger-than 10k --stub --head 5 --tail 5\n  ccsurgery drop-tools --tool 'mcp__*' --keep-last 3\n  ccsurgery drop-tools --errors -n"
)]
pub(crate) struct DropToolsArgs {
    #[command(flatten)]
    session: SessionArg,
    /// Only tools of this name, or matching this pattern; may be given several times
    #[arg(long, value_name = "GLOB")]
    tool: Vec<String>,
    /// Only the call with this id; may be given several times
    #[arg(long, value_name = "ID")]
    id: Vec<String>,
    /// Only in these turns: 7, 3..7, ..7, 7.., -3..
    #[arg(long, value_name = "RANGE", allow_hyphen_values = true)]
    turns: Option<TurnRange>,
    /// Only calls larger than this, input and output together; with --stub, the output alone
    #[arg(long, value_name = "SIZE")]
    larger_than: Option<SizeSpec>,
    /// Only calls that failed
    #[arg(long)]
    errors: bool,
    /// Only calls that brought no images or documents
    #[arg(long)]
    without_images: bool,
    /// Leave the last N turns alone, and calls of which something is there
    #[arg(long, value_name = "N")]
    keep_last: Option<u32>,
    /// Keep the pair, and replace the output by a note
    #[arg(long)]
    stub: bool,
    /// Lines of the output to keep before the note
    #[arg(
        long,
        value_name = "N",
        requires = "stub",
        default_value_t = 0,
        hide_default_value = true
    )]
    head: usize,
    /// Lines of the output to keep behind the note
    #[arg(
        long,
        value_name = "N",
        requires = "stub",
        default_value_t = 0,
        hide_default_value = true
    )]
    tail: usize,
    #[command(flatten)]
    write: WriteArgs,
    #[command(flatten)]
    in_place: InPlaceArgs,
}

pub(crate) fn run(args: DropToolsArgs, context: &mut Context) -> Result<ExitCode, CliError> {
    let transform = DropTools {
        tool: args.tool,
        id: args.id,
        turns: args.turns,
        larger_than: args.larger_than,
        errors: args.errors,
        without_images: args.without_images,
        keep_last: args.keep_last,
        stub: args.stub,
        head: args.head,
        tail: args.tail,
    };
    let job = Job::new(
        context,
        &args.session,
        "drop-tools",
        args.write,
        args.in_place,
    )?;
    commit_flow::run(context, job.with(transform))
}
