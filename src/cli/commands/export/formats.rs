//! A session in the format that was asked for.

use std::path::PathBuf;

use clap::ValueEnum;
use serde::Serialize;

use crate::export::{ExportDetail, ExportOptions, Exportable, Redactor, html_page, markdown_file};
use crate::ops::find_entry;
use crate::render::{Reading, Screen};
use crate::session::Session;
use crate::store::Located;
use crate::view::{Branches, Conversation, ItemContent, Subagents, TurnItem};

use super::super::super::context::Context;
use super::super::super::error::CliError;
use super::super::super::names;
use super::super::show::{Only, is_wanted, subagent_conversation, subagents};
use super::ExportArgs;

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum Format {
    /// One page of HTML that needs nothing else
    Html,
    /// Markdown, in the flavour of GitHub
    Md,
    /// Plain text
    Text,
    /// The conversation as data
    Json,
}

impl Format {
    pub(super) fn ending(self) -> &'static str {
        match self {
            Self::Html => "html",
            Self::Md => "md",
            Self::Text => "txt",
            Self::Json => "json",
        }
    }
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum Detail {
    /// Only what you wrote
    Prompts,
    /// Prompts, answers, and one line for each call
    Brief,
    /// Everything; long outputs are cut
    Normal,
    /// Everything, uncut
    Full,
}

impl From<Detail> for ExportDetail {
    fn from(detail: Detail) -> Self {
        match detail {
            Detail::Prompts => Self::Prompts,
            Detail::Brief => Self::Brief,
            Detail::Normal => Self::Normal,
            Detail::Full => Self::Full,
        }
    }
}

/// The data that `--to json` writes.
#[derive(Serialize)]
struct Document<'a> {
    #[serde(flatten)]
    conversation: &'a Conversation,
    subagents: Vec<&'a Conversation>,
    branches: &'a [Conversation],
}

/// Returns a session in the format that was asked for, and its conversation.
pub(super) fn exported(
    args: &ExportArgs,
    context: &Context,
    found: &Located,
    redactor: &Redactor,
) -> Result<(String, Conversation), CliError> {
    let session = names::open_to_read(context, found)?;
    let agents = subagents(context, found, &session)?;
    let files = agent_sessions(&agents)?;
    let mut subagents: Vec<(&Session, Conversation)> = agents
        .subagents
        .iter()
        .zip(&files)
        .filter_map(|(agent, own)| {
            let holder = own.as_ref().unwrap_or(&session);
            let conversation = Conversation::of_subagent(holder, &found.id, &agent.agent_id)?;
            Some((holder, conversation))
        })
        .collect();
    let mut conversation = match &args.agent {
        Some(id) => subagent_conversation(context, found, &session, id)?,
        None => {
            let (from, to) = match &args.turns {
                Some(range) => range.resolve(&session)?,
                None => (0, session.turns().len() as u32),
            };
            Conversation::of(&session, &found.id, from, to)
        }
    };
    let mut branches = if args.branches {
        branches(&session, &found.id)
    } else {
        Vec::new()
    };
    let agents = subagents.iter_mut().map(|(_, conversation)| conversation);
    for conversation in agents.chain([&mut conversation]).chain(&mut branches) {
        keep_only(&args.only, conversation);
        // Pages and Markdown are redacted while they are written, because they also say what was cut.
        if matches!(args.to, Format::Text | Format::Json) {
            redactor.conversation(conversation);
        }
    }
    let exported = Exportable {
        session: &session,
        conversation,
        subagents,
        branches,
    };
    let options = ExportOptions {
        detail: args.detail.into(),
        thinking: !args.no_thinking,
    };
    let text = match args.to {
        Format::Html => html_page(&exported, options, redactor),
        Format::Md => markdown_file(&exported, options, redactor),
        Format::Text => plain_text(context, args, &exported),
        Format::Json => json_text(context, &exported)?,
    };
    Ok((text, exported.conversation))
}

/// Leaves out what was not asked for. A call is exported with its results.
fn keep_only(only: &[Only], conversation: &mut Conversation) {
    if only.is_empty() {
        return;
    }
    let is_result = |item: &TurnItem| {
        only.contains(&Only::Calls) && matches!(item.content, ItemContent::Result { .. })
    };
    for content in &mut conversation.turn_contents {
        let is_kept = |item: &TurnItem| only.iter().any(|o| is_wanted(item, *o)) || is_result(item);
        content.items.retain(is_kept);
    }
}

fn agent_sessions(agents: &Subagents) -> Result<Vec<Option<Session>>, CliError> {
    let open = |path: &PathBuf| Session::open(path).map_err(CliError::unreadable);
    let paths = agents.subagents.iter().map(|agent| agent.path.as_ref());
    paths.map(|path| path.map(open).transpose()).collect()
}

fn branches(session: &Session, id: &str) -> Vec<Conversation> {
    let branches = Branches::of(session, id);
    let roots = branches.branches.iter().filter_map(|branch| {
        let root = find_entry(session, &branch.uuid).ok()?;
        Conversation::of_branch(session, id, root)
    });
    roots.collect()
}

fn plain_text(context: &Context, args: &ExportArgs, exported: &Exportable<'_>) -> String {
    let reading = Reading {
        screen: Screen {
            zone: Some(&context.zone),
            ..Screen::plain(context.presenter(), 100)
        },
        full: args.detail == Detail::Full,
        agent_command: "ccsurgery show",
    };
    let contents = exported
        .conversation
        .turn_contents
        .iter()
        .chain(exported.branches.iter().flat_map(|b| &b.turn_contents));
    let wanted = |content: &ItemContent| match args.detail {
        Detail::Prompts => matches!(content, ItemContent::Prompt { .. }),
        Detail::Brief => !matches!(
            content,
            ItemContent::Thinking { .. } | ItemContent::Result { .. } | ItemContent::Note { .. }
        ),
        _ => !args.no_thinking || !matches!(content, ItemContent::Thinking { .. }),
    };
    let turns = contents.map(|content| {
        let mut content = content.clone();
        content.items.retain(|item| wanted(&item.content));
        reading.turn(&content)
    });
    turns.collect::<Vec<_>>().join("\n")
}

fn json_text(context: &Context, exported: &Exportable<'_>) -> Result<String, CliError> {
    let document = Document {
        conversation: &exported.conversation,
        subagents: exported.subagents.iter().map(|(_, c)| c).collect(),
        branches: &exported.branches,
    };
    let value = context.presenter().json(&document);
    let text = serde_json::to_string_pretty(&value).map_err(std::io::Error::other)?;
    Ok(text + "\n")
}
