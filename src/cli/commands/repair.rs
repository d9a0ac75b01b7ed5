use std::process::ExitCode;

use clap::Args;

use crate::doctor::Judgement;
use crate::doctor::checks::calls::unanswered_call;
use crate::doctor::checks::chain::cycle;
use crate::doctor::checks::{CHECKS, find_check};
use crate::json::{decode, lookup};
use crate::ops::{RepairOptions, SubagentAnswer, passes};
use crate::session::Session;
use crate::store::{read_followed, sidecars};
use crate::transcript::LineState;

use super::super::args::{InPlaceArgs, SessionArg, WriteArgs};
use super::super::commit_flow::{self, Job};
use super::super::context::Context;
use super::super::error::CliError;

/// Repair what `doctor` finds
///
/// Makes the smallest change that helps, in a new session unless --in-place is given. Parts of lines
/// that cannot be read are kept in quarantine, next to the journal.
#[derive(Debug, Args)]
#[command(
    after_help = "Examples:\n  ccsurgery repair                        the newest session in this project\n  ccsurgery repair 3d731db0 --dry-run     what would be done\n  ccsurgery repair 3d731db0 --only dangling-parent --accept-guess"
)]
pub(crate) struct RepairArgs {
    #[command(flatten)]
    session: SessionArg,
    /// Repair only what this check finds; `doctor --explain CHECK` describes it [repeatable]
    #[arg(long, value_name = "CHECK")]
    only: Vec<String>,
    /// If a lost parent could be either of two messages, pick the more likely one
    #[arg(long)]
    accept_guess: bool,
    /// Put results of parallel calls in one chain, which every version of Claude Code shows whole
    /// [default: if the version in use loses some of them]
    #[arg(long)]
    linearize: bool,
    #[command(flatten)]
    write: WriteArgs,
    #[command(flatten)]
    in_place: InPlaceArgs,
}

pub(crate) fn run(args: RepairArgs, context: &mut Context) -> Result<ExitCode, CliError> {
    let only = args
        .only
        .iter()
        .map(|name| known(name))
        .collect::<Result<Vec<_>, _>>()?;
    let mut job = Job::new(context, &args.session, "repair", args.write, args.in_place)?;
    let client = Judgement::for_installed(&job.session, context.installed_client()).client;
    let options = RepairOptions {
        linearize: args.linearize,
        accept_guess: args.accept_guess,
        typed: typed(context, &job),
        subagents: subagents(context, &job),
        client,
        only,
    };
    if !job.in_place.in_place && cycle_hangs(&job.session) {
        context.tell("note: Claude Code before 2.1.45 hangs on this session, and a repaired copy leaves it as it is; --in-place repairs the session itself");
    }
    job.transforms = passes(&options);
    commit_flow::run(context, job)
}

/// Returns whether a chain of messages is closed, on which old clients hang.
fn cycle_hangs(session: &Session) -> bool {
    !cycle::heads(session).is_empty()
}

/// Returns the prompts of the session that the client remembers in `history.jsonl`. Prompts with pasted
/// text are left out: the history only has a placeholder for it.
fn typed(context: &Context, job: &Job<'_>) -> Vec<String> {
    let bytes = read_followed(&context.config.join("history.jsonl")).unwrap_or_default();
    let lines = bytes.split(|&b| b == b'\n');
    let own = lines.filter_map(|line| {
        let id = lookup(line, &["sessionId"])?.of(line);
        let words = lookup(line, &["display"])?.of(line);
        (decode(id) == job.found.id.as_str()).then(|| decode(words).into_owned())
    });
    own.filter(|words| !words.contains("[Pasted text"))
        .collect()
}

/// Returns what the session's subagents answered, as far as their transcripts can be read. They are only read if a result
/// may be lost.
fn subagents(context: &Context, job: &Job<'_>) -> Vec<SubagentAnswer> {
    let is_torn = job.session.lines().contains(&LineState::Opaque);
    if !is_torn && unanswered_call::calls(&job.session).is_empty() {
        return Vec::new();
    }
    let (folder, id) = (job.found.folder(), &job.found.id);
    let files = sidecars(&context.config, folder, id, &[]).unwrap_or_default();
    let transcripts = files.iter().filter(|file| file.kind.is_transcript());
    let sessions = transcripts.filter_map(|file| Session::open(&file.path).ok());
    sessions.filter_map(|s| SubagentAnswer::of(&s)).collect()
}

fn known(name: &str) -> Result<&'static str, CliError> {
    let repairable = || CHECKS.iter().filter(|c| c.repair.is_some()).map(|c| c.name);
    repairable().find(|c| *c == name).ok_or_else(|| {
        let names: Vec<&str> = repairable().collect();
        let message = match find_check(name) {
            Some(_) => format!("what `{name}` finds cannot be repaired"),
            None => format!("there is no check `{name}`"),
        };
        CliError::usage(
            "no-such-check",
            message,
            format!("checks that can be repaired: {}", names.join(", ")),
        )
    })
}
