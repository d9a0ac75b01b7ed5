use std::process::ExitCode;

use clap::{Args, ValueEnum};
use serde::Serialize;

use crate::render::{Reading, branch_table, turn_table};
use crate::session::TurnRange;
use crate::view::{Branches, Conversation, ItemContent, Overview, TurnItem, TurnList};

use super::super::args::SessionArg;
use super::super::context::Context;
use super::super::error::CliError;
use super::super::{names, pager};

/// List a session's turns, or show what is in some of them
///
/// Without --turns or --only, a table: number, age, size, tokens, calls by tool, and the beginning of the
/// prompt. Turns before the last compaction are dim: the model no longer sees them.
#[derive(Debug, Args)]
#[command(
    after_help = "Examples:\n  ccsurgery show                         the turns of the newest session\n  ccsurgery show --turns -1              the last turn, to read\n  ccsurgery show @2 --turns 3..5 --full  with results in full\n  ccsurgery show --only prompts          what was asked, as plain text"
)]
pub(crate) struct ShowArgs {
    #[command(flatten)]
    session: SessionArg,
    /// Show the content of these turns: 7, 3..7, -1, -3..
    #[arg(long, value_name = "TURNS", allow_hyphen_values = true)]
    turns: Option<TurnRange>,
    /// List abandoned branches, which the model does not see
    #[arg(long, conflicts_with_all = ["turns", "only"])]
    branches: bool,
    /// Show results, inputs and thinking in full
    #[arg(long)]
    full: bool,
    /// Show only the prompts, answers or calls, as plain text
    #[arg(long, value_name = "WHAT")]
    only: Option<Only>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum Only {
    /// What you asked
    Prompts,
    /// What the model answered
    Answers,
    /// The tools it called
    Calls,
}

pub(crate) fn run(args: &ShowArgs, context: &mut Context) -> Result<ExitCode, CliError> {
    let found = names::find(context, &args.session)?;
    let session = names::open_to_read(&found)?;
    if args.branches {
        let branches = Branches::of(&session, &found.id);
        if context.json {
            return print(context, &branches);
        }
        if branches.branches.is_empty() {
            context.tell("There are no abandoned branches.");
            return Ok(ExitCode::SUCCESS);
        }
        let text = branch_table(&context.screen(), &branches);
        return page(context, &text);
    }
    if args.turns.is_none() && args.only.is_none() {
        let list = TurnList::of(&session, &found.id, found.path.clone());
        if context.json {
            return print(context, &list);
        }
        let title = Overview::of(&session).name();
        let text = turn_table(&context.screen(), &title, &list, found.len);
        return page(context, &text);
    }
    names::say_which(context, &args.session, &found, &session);
    let (from, to) = match &args.turns {
        Some(range) => range.resolve(&session)?,
        None => (0, session.turns().len() as u32),
    };
    let mut conversation = Conversation::of(&session, &found.id, from, to);
    if let Some(only) = args.only {
        for content in &mut conversation.turn_contents {
            content.items.retain(|item| is_wanted(item, only));
        }
    }
    if context.json {
        return print(context, &conversation);
    }
    let contents = conversation.turn_contents;
    let reading = Reading {
        screen: context.screen(),
        full: args.full,
    };
    let text = match args.only {
        Some(_) => reading.plain(contents.iter().flat_map(|c| &c.items)),
        None => {
            let turns: Vec<String> = contents.iter().map(|c| reading.turn(c)).collect();
            turns.join("\n")
        }
    };
    page(context, &text)
}

fn print(context: &mut Context, view: &impl Serialize) -> Result<ExitCode, CliError> {
    let document = context.presenter().json(view);
    context.print_json(&document)?;
    Ok(ExitCode::SUCCESS)
}

fn page(context: &mut Context, text: &str) -> Result<ExitCode, CliError> {
    pager::show(context, text)?;
    Ok(ExitCode::SUCCESS)
}

fn is_wanted(item: &TurnItem, only: Only) -> bool {
    match only {
        Only::Prompts => matches!(item.content, ItemContent::Prompt { .. }),
        Only::Answers => matches!(item.content, ItemContent::Answer { .. }),
        Only::Calls => matches!(item.content, ItemContent::Call(_)),
    }
}
