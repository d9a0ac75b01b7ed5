use std::io::Write as _;
use std::path::{Path, PathBuf};
use std::process::ExitCode;

use clap::{Args, ValueEnum};
use serde::Serialize;

use crate::export::{
    ExportDetail, ExportOptions, Exportable, IndexRow, Redactor, html_page, index_page,
    markdown_file,
};
use crate::human::bytes;
use crate::ops::find_entry;
use crate::render::{Reading, Screen};
use crate::session::{Session, TurnRange};
use crate::store::{Candidate, Located, Locator, PublishError, create_private_dirs};
use crate::view::{Branches, Conversation, ItemContent, SCHEMA, Subagents};

use super::super::args::SessionArg;
use super::super::context::Context;
use super::super::error::{CliError, ErrorKind};
use super::super::names;
use super::super::question::Question;
use super::show::{subagent_conversation, subagents};

/// Write a session as one page or one text file, to read and share
///
/// The page (HTML) needs nothing else: it opens offline, loads nothing, and reads well without scripts. Keys, tokens and
/// passwords are masked; the last line says how many were found. Long outputs are cut to their beginning and end, unless
/// you ask for --detail full. Several sessions, or --all, make a folder with a list.
#[derive(Debug, Args)]
#[command(
    after_help = "Examples:\n  ccsurgery export                          the newest session, as a page in this folder\n  ccsurgery export @2 --to md -o talk.md    as Markdown\n  ccsurgery export --turns 3..5 --open      three turns, opened in the browser\n  ccsurgery export --all -o pages           all sessions of this project, with a list\n  ccsurgery export --detail prompts --to text -o -   only what you wrote"
)]
#[allow(clippy::struct_excessive_bools, reason = "each is an option")]
pub(crate) struct ExportArgs {
    /// The sessions: ids, titles or paths to .jsonl files, as for other commands [default: @]
    #[arg(value_name = "SESSION")]
    sessions: Vec<String>,
    /// Export all sessions of this project into a folder
    #[arg(long, conflicts_with_all = ["sessions", "turns"])]
    all: bool,
    /// What to write
    #[arg(long, value_name = "FORMAT", default_value = "html")]
    to: Format,
    /// The file to write, or the folder if there are several sessions; `-` for standard output
    /// [default: session-ID in this folder]
    #[arg(short, long, value_name = "FILE")]
    output: Option<PathBuf>,
    /// Replace the file if it exists
    #[arg(short, long)]
    force: bool,
    /// Only these turns: 7, 3..7, -1, -3..
    #[arg(long, value_name = "TURNS", allow_hyphen_values = true)]
    turns: Option<TurnRange>,
    /// How much to write
    #[arg(long, value_name = "DETAIL", default_value = "normal")]
    detail: Detail,
    /// Leave out thinking
    #[arg(long)]
    no_thinking: bool,
    /// Export the conversation of this subagent, by its id or the beginning of it
    #[arg(long, value_name = "ID", conflicts_with_all = ["all", "turns"])]
    agent: Option<String>,
    /// Add the branches that were abandoned by rewinding
    #[arg(long)]
    branches: bool,
    /// Replace your home folder and user name in paths
    #[arg(long)]
    anonymize: bool,
    /// Open the page in the browser
    #[arg(long)]
    open: bool,
    /// Do not ask before writing secrets as they are (with --show-secrets)
    #[arg(short, long)]
    yes: bool,
}

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
    fn ending(self) -> &'static str {
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

/// The document that `--json` prints.
#[derive(Serialize)]
struct Report {
    schema: u32,
    operation: &'static str,
    files: Vec<FileReport>,
    masked: u64,
}

#[derive(Serialize)]
struct FileReport {
    path: String,
    action: &'static str,
    bytes: u64,
}

pub(crate) fn run(args: &ExportArgs, context: &mut Context) -> Result<ExitCode, CliError> {
    confirm_secrets(args, context)?;
    let found = sessions(args, context)?;
    let redactor = Redactor::new(context.show_secrets, private_names(args, context));
    let several = args.all || found.len() > 1;
    let to_stdout = args.output.as_deref() == Some(Path::new("-"));
    if several && to_stdout {
        return Err(CliError::usage(
            ErrorKind::Usage,
            "several sessions cannot be written to standard output",
            "name a folder with -o FOLDER",
        ));
    }
    let mut report = Report {
        schema: SCHEMA,
        operation: "export",
        files: Vec::new(),
        masked: 0,
    };
    let first = if several {
        export_folder(args, context, &found, &redactor, &mut report)?
    } else {
        let text = exported(args, context, &found[0], &redactor)?.0;
        if to_stdout {
            context.out.write_all(text.as_bytes())?;
            context.flush()?;
            context.tell(&redactor.summary());
            return Ok(ExitCode::SUCCESS);
        }
        let path = args.output.clone().unwrap_or_else(|| {
            let id: String = found[0].id.chars().take(8).collect();
            context
                .working_folder
                .join(format!("session-{id}.{}", args.to.ending()))
        });
        write(&path, &text, args.force, &mut report)?;
        path
    };
    report.masked = redactor.masked();
    finish(args, context, &first, &report, &redactor)
}

/// Reports what was written, and opens it if asked.
fn finish(
    args: &ExportArgs,
    context: &mut Context,
    first: &Path,
    report: &Report,
    redactor: &Redactor,
) -> Result<ExitCode, CliError> {
    context.is_done = true;
    let printed = if context.json {
        context.print_json(report)
    } else {
        let size: u64 = report.files.iter().map(|f| f.bytes).sum();
        let name = context.words(first.display().to_string());
        context.tell(&redactor.summary());
        writeln!(context.out, "{name}  ({})", bytes(size))
    };
    context.end_report(printed);
    if args.open {
        open_in_browser(first)?;
    }
    Ok(ExitCode::SUCCESS)
}

/// Writes each session into a folder, and a list of them. Returns the list, or the folder.
fn export_folder(
    args: &ExportArgs,
    context: &mut Context,
    found: &[Located],
    redactor: &Redactor,
    report: &mut Report,
) -> Result<PathBuf, CliError> {
    let folder = args
        .output
        .clone()
        .unwrap_or_else(|| context.working_folder.join("sessions"));
    create_private_dirs(&folder).map_err(publish_error)?;
    let mut rows = Vec::new();
    for session in found {
        let (text, conversation) = match exported(args, context, session, redactor) {
            Ok(done) => done,
            Err(error) if args.all => {
                let id = context.words(&session.id);
                context.tell(&format!("{id} was left out: {}", error.message));
                continue;
            }
            Err(error) => return Err(error),
        };
        let file = format!("{}.{}", safe_name(&session.id), args.to.ending());
        write(&folder.join(&file), &text, args.force, report)?;
        rows.push(IndexRow {
            file,
            title: conversation.title,
            time: conversation
                .turn_contents
                .iter()
                .find_map(|c| c.time.clone()),
            turns: conversation.turns,
            tokens: conversation.tokens,
        });
    }
    if args.to != Format::Html {
        return Ok(folder);
    }
    let list = folder.join("index.html");
    write(&list, &index_page(&rows, redactor), args.force, report)?;
    Ok(list)
}

/// Returns a session in the format that was asked for, and its conversation.
fn exported(
    args: &ExportArgs,
    context: &Context,
    found: &Located,
    redactor: &Redactor,
) -> Result<(String, Conversation), CliError> {
    let session = names::open_to_read(context, found)?;
    let agents = subagents(context, found, &session)?;
    let files = agent_sessions(&agents)?;
    let subagents: Vec<(&Session, Conversation)> = agents
        .subagents
        .iter()
        .zip(&files)
        .filter_map(|(agent, own)| {
            let holder = own.as_ref().unwrap_or(&session);
            let conversation = Conversation::of_subagent(holder, &found.id, &agent.agent_id)?;
            Some((holder, conversation))
        })
        .collect();
    let conversation = match &args.agent {
        Some(id) => subagent_conversation(context, found, &session, id)?,
        None => {
            let (from, to) = match &args.turns {
                Some(range) => range.resolve(&session)?,
                None => (0, session.turns().len() as u32),
            };
            Conversation::of(&session, &found.id, from, to)
        }
    };
    let branches = if args.branches {
        branches(&session, &found.id)
    } else {
        Vec::new()
    };
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

fn sessions(args: &ExportArgs, context: &mut Context) -> Result<Vec<Located>, CliError> {
    if args.all {
        names::require_data(context)?;
        let found = Locator::new(&context.config, &context.project).here();
        let found = found.map_err(|e| names::explain(context, e))?;
        return if found.is_empty() {
            Err(CliError::failed(
                ErrorKind::NoSessions,
                "this project has no sessions",
                "name a session, or change to the folder of a project",
            ))
        } else {
            Ok(found.into_iter().filter(|f| f.len > 0).collect())
        };
    }
    let names: Vec<Option<String>> = match &args.sessions[..] {
        [] => vec![None],
        names => names.iter().cloned().map(Some).collect(),
    };
    let find = |session: Option<String>| names::find(context, &SessionArg { session });
    names.into_iter().map(find).collect()
}

/// Asks before secrets are written into a file that is made to be shared.
fn confirm_secrets(args: &ExportArgs, context: &mut Context) -> Result<(), CliError> {
    if !context.show_secrets {
        return Ok(());
    }
    let question = Question {
        yes: args.yes,
        reason: "--show-secrets writes keys and passwords as they are",
        otherwise: "leave out --show-secrets",
        text: "Write keys, tokens and passwords as they are?",
    };
    question.ask(context)
}

/// Returns the home folder and the user's name, each with what replaces it.
fn private_names(args: &ExportArgs, context: &Context) -> Vec<(String, String)> {
    let home = context.home.as_ref().filter(|_| args.anonymize);
    let Some(home) = home else {
        return Vec::new();
    };
    let mut names = vec![(home.to_string_lossy().into_owned(), "~".to_owned())];
    let user = home.file_name().map(|n| n.to_string_lossy().into_owned());
    // A name of one or two letters is part of many words.
    if let Some(user) = user.filter(|u| u.len() > 2) {
        for before in ["/home/", "/Users/", "C:\\Users\\", "-home-", "-Users-"] {
            names.push((format!("{before}{user}"), format!("{before}user")));
        }
    }
    names
}

fn write(path: &Path, text: &str, force: bool, report: &mut Report) -> Result<(), CliError> {
    let candidate = Candidate::write(path, |out, _| out.write_all(text.as_bytes()));
    let candidate = candidate.map_err(publish_error)?;
    let exists = path.exists();
    let written = if force && exists {
        candidate.replace()
    } else {
        candidate.create()
    };
    written.map_err(publish_error)?;
    report.files.push(FileReport {
        path: path.to_string_lossy().into_owned(),
        action: "write",
        bytes: text.len() as u64,
    });
    Ok(())
}

fn publish_error(error: PublishError) -> CliError {
    match &error {
        PublishError::Exists { path } => CliError::refused(
            ErrorKind::Exists,
            format!("`{}` exists already", path.display()),
            "give --force to replace it, or another name with -o",
        ),
        _ => CliError::from(error),
    }
}

/// Returns an id as the name of a file.
fn safe_name(id: &str) -> String {
    let safe = |c: char| c.is_ascii_alphanumeric() || matches!(c, '-' | '_');
    id.chars()
        .map(|c| if safe(c) { c } else { '_' })
        .take(80)
        .collect()
}

/// Opens a file with the system's browser.
fn open_in_browser(path: &Path) -> Result<(), CliError> {
    let path = std::path::absolute(path)?;
    let program = if cfg!(target_os = "macos") {
        "open"
    } else if cfg!(windows) {
        "explorer"
    } else {
        "xdg-open"
    };
    let started = std::process::Command::new(program)
        .arg(&path)
        .stdin(std::process::Stdio::null())
        .stdout(std::process::Stdio::null())
        .stderr(std::process::Stdio::null())
        .spawn();
    started.map(drop).map_err(|error| {
        CliError::failed(
            ErrorKind::Io,
            format!("the browser cannot be started with `{program}`: {error}"),
            format!("open the file yourself: {}", path.display()),
        )
    })
}
