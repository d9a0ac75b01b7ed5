use std::process::ExitCode;

use clap::{Args, ValueEnum};
use serde::Serialize;

use crate::ops::find_entry;
use crate::render::{Reading, agent_table, branch_table, turn_table};
use crate::session::{Session, TurnRange};
use crate::store::{Located, SessionPlaces, SidecarKind};
use crate::view::{
    AgentFile, Branches, Conversation, ItemContent, Overview, Subagents, TurnItem, TurnList,
};

use super::super::args::SessionArg;
use super::super::context::Context;
use super::super::error::{CliError, ErrorKind};
use super::super::{names, pager};

/// List a session's turns, or show what is in some of them
///
/// Without further options, a table: number, age, size, tokens, calls by tool, and the beginning of the prompt. Turns
/// before the last compaction are dim: the model no longer sees them. With --turns, --branch or --agent, the content:
/// prompts, answers with their Markdown laid out, calls with their ids, edits as diffs, and results shortened. In a pipe
/// it is plain text, and nothing is shortened.
#[derive(Debug, Args)]
#[command(
    after_help = "Examples:\n  ccsurgery show                         the turns of the newest session\n  ccsurgery show --turns -1              the last turn, to read\n  ccsurgery show @2 --turns 3..5 --full  with results in full\n  ccsurgery show --only prompts          what was asked, as plain text\n  ccsurgery show --branches              what was abandoned by rewinding\n  ccsurgery show --agents                the subagents that it started"
)]
#[allow(clippy::struct_excessive_bools, reason = "each is an option")]
pub(crate) struct ShowArgs {
    #[command(flatten)]
    session: SessionArg,
    /// Show the content of these turns: 7, 3..7, -1, -3..
    #[arg(long, value_name = "TURNS", allow_hyphen_values = true)]
    turns: Option<TurnRange>,
    /// List abandoned branches, which the model does not see
    #[arg(long, conflicts_with_all = ["turns", "only"])]
    branches: bool,
    /// Show the branch to which this message belongs, by its id or the beginning of it
    #[arg(long, value_name = "UUID", conflicts_with_all = ["turns", "branches", "agents", "agent"])]
    branch: Option<String>,
    /// List the subagents that the session started
    #[arg(long, conflicts_with_all = ["turns", "only", "branches"])]
    agents: bool,
    /// Show the conversation of a subagent, by its id or the beginning of it
    #[arg(long, value_name = "ID", conflicts_with_all = ["turns", "branches"])]
    agent: Option<String>,
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
    let session = names::open_to_read(context, &found)?;
    if args.branches {
        return list_branches(context, &found, &session);
    }
    if args.agents {
        return list_agents(context, &found, &session);
    }
    let is_agent = session.turns().is_empty() && session.flags_of_any().sidechain();
    let content = args.turns.is_some() || args.only.is_some();
    if !content && args.branch.is_none() && args.agent.is_none() && !is_agent {
        let list = TurnList::of(&session, &found.id, found.path.clone());
        if context.json {
            return print(context, &list);
        }
        let title = Overview::of(&session).name();
        let text = turn_table(&context.screen(), &title, &list, found.len);
        return page(context, &text);
    }
    names::say_which(context, &args.session, &found, &session);
    let conversation = match (&args.branch, &args.agent) {
        (Some(uuid), _) => branch(&found, &session, uuid)?,
        (_, Some(id)) => subagent_conversation(context, &found, &session, id)?,
        // The transcript of a subagent has no turns of its own.
        _ if is_agent => own_agent(&found, &session),
        _ => {
            let (from, to) = match &args.turns {
                Some(range) => range.resolve(&session)?,
                None => (0, session.turns().len() as u32),
            };
            Conversation::of(&session, &found.id, from, to)
        }
    };
    read(args, context, &found, conversation)
}

/// Shows the content of a conversation.
fn read(
    args: &ShowArgs,
    context: &mut Context,
    found: &Located,
    mut conversation: Conversation,
) -> Result<ExitCode, CliError> {
    if let Some(only) = args.only {
        for content in &mut conversation.turn_contents {
            content.items.retain(|item| is_wanted(item, only));
        }
    }
    if context.json {
        return print(context, &conversation);
    }
    let id: String = found.id.chars().take(8).collect();
    let command = format!("ccsurgery show {}", context.words(&id));
    let reading = Reading {
        screen: context.screen(),
        full: args.full,
        agent_command: &command,
    };
    let contents = &conversation.turn_contents;
    let text = match args.only {
        Some(_) => reading.plain(contents.iter().flat_map(|c| &c.items)),
        None => {
            let turns: Vec<String> = contents.iter().map(|c| reading.turn(c)).collect();
            turns.join("\n")
        }
    };
    page(context, &text)
}

fn list_branches(
    context: &mut Context,
    found: &Located,
    session: &Session,
) -> Result<ExitCode, CliError> {
    let branches = Branches::of(session, &found.id);
    if context.json {
        return print(context, &branches);
    }
    if branches.branches.is_empty() {
        context.tell("There are no abandoned branches.");
        return Ok(ExitCode::SUCCESS);
    }
    let text = branch_table(&context.screen(), &branches);
    context.tell("Read one with: ccsurgery show --branch UUID");
    page(context, &text)
}

fn list_agents(
    context: &mut Context,
    found: &Located,
    session: &Session,
) -> Result<ExitCode, CliError> {
    let agents = subagents(context, found, session)?;
    if context.json {
        return print(context, &agents);
    }
    if agents.subagents.is_empty() {
        context.tell("The session started no subagents.");
        return Ok(ExitCode::SUCCESS);
    }
    let text = agent_table(&context.screen(), &agents);
    context.tell("Read one with: ccsurgery show --agent ID");
    page(context, &text)
}

/// Returns the subagents of a session, with their transcripts.
pub(crate) fn subagents(
    context: &Context,
    found: &Located,
    session: &Session,
) -> Result<Subagents, CliError> {
    let places = SessionPlaces {
        config: &context.config,
        folder: found.folder(),
        id: &found.id,
    };
    let files = places.files(&[])?.files.into_iter();
    let transcripts = files.filter_map(|file| {
        let name = file.path.file_name()?.to_str()?;
        let agent_id = name.strip_prefix("agent-")?.strip_suffix(".jsonl")?;
        let is_transcript = matches!(file.kind, SidecarKind::Subagent | SidecarKind::OldSubagent);
        is_transcript.then(|| AgentFile {
            agent_id: agent_id.to_owned(),
            bytes: file.len,
            path: file.path.clone(),
        })
    });
    let files: Vec<AgentFile> = transcripts.collect();
    Ok(Subagents::of(session, &found.id, &files))
}

pub(crate) fn subagent_conversation(
    context: &Context,
    found: &Located,
    session: &Session,
    id: &str,
) -> Result<Conversation, CliError> {
    let agents = subagents(context, found, session)?;
    let missing = |message: String| {
        let hint = "list the subagents with: ccsurgery show --agents";
        CliError::usage(ErrorKind::NoSuchAgent, message, hint)
    };
    let known = agents.find(id);
    let known = known.ok_or_else(|| missing(format!("the session has no subagent `{id}`")))?;
    let own = match &known.path {
        Some(path) => Some(Session::open(path).map_err(CliError::unreadable)?),
        None => None,
    };
    let holder = own.as_ref().unwrap_or(session);
    let conversation = Conversation::of_subagent(holder, &found.id, &known.agent_id);
    conversation.ok_or_else(|| missing(format!("the transcript of subagent `{id}` is gone")))
}

/// Returns the conversation of the subagent whose transcript was named itself.
fn own_agent(found: &Located, session: &Session) -> Conversation {
    let agents = Subagents::of(session, &found.id, &[]);
    let largest = agents.subagents.iter().max_by_key(|a| a.bytes);
    let conversation =
        largest.and_then(|a| Conversation::of_subagent(session, &found.id, &a.agent_id));
    conversation.unwrap_or_else(|| Conversation::of(session, &found.id, 0, 0))
}

fn branch(found: &Located, session: &Session, uuid: &str) -> Result<Conversation, CliError> {
    let entry = find_entry(session, uuid)?;
    let conversation = Conversation::of_branch(session, &found.id, entry);
    conversation.ok_or_else(|| {
        let turn = session.turns().of(session.graph(), entry);
        CliError::usage(
            ErrorKind::NotABranch,
            format!("`{uuid}` is part of the conversation, not of an abandoned branch"),
            match turn {
                Some(turn) if turn > 0 => format!("read it with: ccsurgery show --turns {turn}"),
                _ => "list the branches with: ccsurgery show --branches".to_owned(),
            },
        )
    })
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

/// Returns whether an item is of a kind that was asked for.
pub(super) fn is_wanted(item: &TurnItem, only: Only) -> bool {
    match only {
        Only::Prompts => matches!(item.content, ItemContent::Prompt { .. }),
        Only::Answers => matches!(item.content, ItemContent::Answer { .. }),
        Only::Calls => matches!(item.content, ItemContent::Call(_)),
    }
}
