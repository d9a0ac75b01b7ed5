use std::collections::BTreeSet;
use std::process::ExitCode;

use clap::Args;
use globset::Glob;

use crate::ops::{DropTools, SizeSpec, TokenCount};
use crate::render::{YELLOW, paint};
use crate::session::{Session, TurnRange};

use super::super::args::{InPlaceArgs, SessionArg, WriteArgs};
use super::super::commit_flow::{self, Job};
use super::super::context::Context;
use super::super::error::CliError;
use super::super::plan_file::{PlanStep, StepOptions};

/// Remove tool calls together with their results
///
/// A call is removed if it fits all criteria that are given; without criteria, every call is removed.
/// Text beside the calls stays. With --stub, calls stay and their output is replaced by a short note.
#[derive(Debug, Args)]
#[command(
    after_help = "Examples:\n  ccsurgery drop-tools --tool Bash --larger-than 10k --stub --head 5 --tail 5\n  ccsurgery drop-tools --tool 'mcp__*' --keep-last 3\n  ccsurgery drop-tools --errors -n"
)]
pub(crate) struct DropToolsArgs {
    #[command(flatten)]
    session: SessionArg,
    #[command(flatten)]
    options: DropToolsOptions,
    #[command(flatten)]
    write: WriteArgs,
    #[command(flatten)]
    in_place: InPlaceArgs,
}

/// The options of the operation, on the command line and in plan files.
#[derive(Debug, Args)]
pub(crate) struct DropToolsOptions {
    /// Only tools with this name or pattern, such as `mcp__*` [repeatable]
    #[arg(long, value_name = "GLOB")]
    tool: Vec<String>,
    /// Only the call with this id, or with this end of one [repeatable]
    #[arg(long, value_name = "CALL")]
    id: Vec<String>,
    /// Only calls on this file, e.g. 'src/*.rs' [repeatable]
    #[arg(long, value_name = "GLOB")]
    path: Vec<String>,
    /// Only calls whose input or output matches this regular expression
    #[arg(long = "match", value_name = "REGEX")]
    matching: Option<String>,
    /// Only calls in this message, by its id or the beginning of it [repeatable]
    #[arg(long, value_name = "ID")]
    message: Vec<String>,
    /// Only in these turns: 7, 3..7, ..7, 7.., -3..
    #[arg(long, value_name = "RANGE", allow_hyphen_values = true)]
    turns: Option<TurnRange>,
    /// Only calls larger than this, input and output together; with --stub, the output alone
    #[arg(long, value_name = "SIZE")]
    larger_than: Option<SizeSpec>,
    /// Only calls that failed
    #[arg(long)]
    errors: bool,
    /// Only calls whose output contains no images or documents
    #[arg(long)]
    without_images: bool,
    /// Leave the last N turns alone, including calls that begin or end in them
    #[arg(long, value_name = "N")]
    keep_last: Option<u32>,
    /// Leave the newest content with this many tokens alone
    #[arg(long, value_name = "TOKENS")]
    keep_tokens: Option<TokenCount>,
    /// Keep calls and results, and replace the output with a note
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
    /// Lines of the output to keep after the note
    #[arg(
        long,
        value_name = "N",
        requires = "stub",
        default_value_t = 0,
        hide_default_value = true
    )]
    tail: usize,
    /// Also keep lines that matter: failures, the last line, definitions in files that were read
    #[arg(long, requires = "stub")]
    key_lines: bool,
}

impl StepOptions for DropToolsOptions {
    fn step(self) -> PlanStep {
        PlanStep::of(DropTools {
            tool: self.tool,
            id: self.id,
            path: self.path,
            matching: self.matching,
            message: self.message,
            turns: self.turns,
            larger_than: self.larger_than,
            errors: self.errors,
            without_images: self.without_images,
            keep_last: self.keep_last,
            keep_tokens: self.keep_tokens,
            stub: self.stub,
            head: self.head,
            tail: self.tail,
            key_lines: self.key_lines,
        })
    }
}

pub(crate) fn run(args: DropToolsArgs, context: &mut Context) -> Result<ExitCode, CliError> {
    let name = "drop-tools";
    let mut job = Job::new(context, &args.session, name, args.write, args.in_place)?;
    let unknown = unknown_tools(&job.session, &args.options.tool);
    if !unknown.is_empty() {
        let message = unknown_message(context, &job.session, &unknown);
        if unknown.len() == args.options.tool.len() {
            job.idle = Some(message);
        } else {
            context.tell(&format!("{} {message}", paint(YELLOW, "note:")));
        }
    }
    args.options.step().add_to(context, &mut job)?;
    commit_flow::run(context, job)
}

/// Returns the patterns that fit no tool of the session. A pattern that cannot be read is reported later.
fn unknown_tools<'p>(session: &Session, patterns: &'p [String]) -> Vec<&'p str> {
    if patterns.is_empty() {
        return Vec::new();
    }
    let tools = tools(session);
    let fits_none = |pattern: &&str| match Glob::new(pattern) {
        Ok(glob) => {
            let glob = glob.compile_matcher();
            !tools.iter().any(|tool| glob.is_match(tool))
        }
        Err(_) => false,
    };
    let patterns = patterns.iter().map(String::as_str);
    patterns.filter(fits_none).collect()
}

/// Returns the names of all tools that the session calls, in order.
fn tools(session: &Session) -> BTreeSet<String> {
    let mut tools = BTreeSet::new();
    for call in session.calls().iter() {
        for at in &call.uses {
            let entry = session.entry(at.entry);
            let block = session.block(at.block);
            let name = session.tool_name(entry, block);
            if !tools.contains(&*name) {
                tools.insert(name.into_owned());
            }
        }
    }
    tools
}

/// Reports patterns that fit no tool, with the tools that there are.
fn unknown_message(context: &Context, session: &Session, unknown: &[&str]) -> String {
    let unknown: Vec<String> = unknown.iter().map(|u| format!("`{u}`")).collect();
    let tools: Vec<String> = tools(session).iter().map(|t| context.words(t)).collect();
    let there = match &tools[..] {
        [] => "the session calls no tools".to_owned(),
        tools => format!("the session calls {}", tools.join(", ")),
    };
    format!("no tool fits {}; {there}", unknown.join(" or "))
}
