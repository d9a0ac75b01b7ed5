//! Sessions as people name them, and what to report when they cannot be found.

use std::collections::BTreeMap;
use std::io;
use std::path::Path;
use std::sync::atomic::AtomicU64;

use anyhow::Context as _;
use rayon::prelude::*;
use serde_json::json;
use uuid::Uuid;

use crate::document::Source;
use crate::render::{Column, Table, YELLOW, age, clean, fit, paint, short_id, short_path};
use crate::session::Session;
pub(super) use crate::store::project_of;
use crate::store::{LocateError, Located, Locator, check_readable};
use crate::view::Overview;

use super::args::SessionArg;
use super::context::Context;
use super::error::{Candidate, CliError, ErrorKind};
use super::progress::Progress;

/// Finds the session that the arguments name, or the newest of the project.
pub(super) fn find(context: &mut Context, arg: &SessionArg) -> Result<Located, CliError> {
    let name = arg.session.as_deref().unwrap_or("@");
    if is_stream(name) {
        return read_stream(context, name);
    }
    let found = Locator::new(&context.config, &context.project)
        .find(name)
        .map_err(|e| explain(context, e))?;
    if found.len == 0 && found.path.is_file() {
        return Err(empty(&found.path));
    }
    Ok(found)
}

fn empty(path: &Path) -> CliError {
    CliError::failed(
        ErrorKind::Empty,
        format!("`{}` is empty", path.display()),
        "there is nothing in it to operate on",
    )
}

/// Whether a name is standard input or another open stream, which can be read only once.
fn is_stream(name: &str) -> bool {
    name == "-" || name == "/dev/stdin" || name.starts_with("/dev/fd/")
}

/// Reads a stream into a temporary file that is removed when the run ends.
fn read_stream(context: &mut Context, name: &str) -> Result<Located, CliError> {
    let folder = tempfile::Builder::new()
        .prefix("ccsurgery-")
        .tempdir()
        .context("cannot keep standard input in a temporary folder")?;
    let path = folder.path().join("stdin.jsonl");
    let mut file = fs_err::File::create_new(&path)?;
    let len = if name.starts_with("/dev/fd/") {
        io::copy(&mut fs_err::File::open(name)?, &mut file)
    } else {
        io::copy(&mut io::stdin().lock(), &mut file)
    };
    let len = len.with_context(|| format!("cannot read `{name}`"))?;
    if len == 0 {
        let message = match name {
            "-" => "standard input is empty".to_owned(),
            name => format!("`{name}` is empty"),
        };
        let hint = "pipe a transcript into it: cat FILE | ccsurgery show -";
        return Err(CliError::failed(ErrorKind::Empty, message, hint));
    }
    context.stream_copy = Some(folder);
    Ok(Located {
        path,
        id: "stdin".to_owned(),
        modified: context.now,
        len,
    })
}

/// Reports which session was used where nobody named one and the result itself does not show it.
pub(super) fn say_which(
    context: &mut Context,
    arg: &SessionArg,
    found: &Located,
    session: &Session,
) {
    if arg.session.is_none() && !context.json {
        let id = short_id(&found.id);
        let name = context.words(Overview::of(session).name());
        let room = context.columns.saturating_sub(20);
        context.tell(&format!("session {}  “{}”", id, fit(&name, room)));
    }
}

/// Returns a warning for each of these sessions that cannot be read, and with `all` for each project that cannot be listed.
pub(super) fn unreadable(context: &Context, found: &[Located], all: bool) -> Vec<String> {
    let locator = Locator::new(&context.config, &context.project);
    let projects = if all {
        locator.unreadable_projects().unwrap_or_default()
    } else {
        Vec::new()
    };
    let projects = projects.into_iter().map(|(_, error)| error.to_string());
    let sessions = found.par_iter();
    let sessions = sessions.filter_map(|f| check_readable(&f.path).err());
    let sessions: Vec<String> = sessions.map(|error| error.to_string()).collect();
    projects.chain(sessions).collect()
}

/// Prints warnings to standard error.
pub(super) fn warn(context: &mut Context, warnings: &[String]) {
    for warning in warnings {
        let note = paint(YELLOW, "warning:");
        context.tell(&format!("{note} {}", clean(warning)));
    }
}

/// Reads a transcript, and refuses files that are none.
pub(super) fn open(context: &Context, found: &Located) -> Result<Session, CliError> {
    let progress = Progress::start(context.progress, "reading");
    open_counting(found, Source::open, &progress.count_to(found.len))
}

/// Reads a transcript that is only looked at, which may come from a pipe like `/dev/stdin`.
pub(super) fn open_to_read(context: &Context, found: &Located) -> Result<Session, CliError> {
    let progress = Progress::start(context.progress, "reading");
    let done = progress.count_to(found.len);
    open_counting(found, Source::open_file_or_pipe, &done)
}

/// Reads one of many transcripts like [`open`], and adds to `done` how many bytes are read.
pub(super) fn open_one(found: &Located, done: &AtomicU64) -> Result<Session, CliError> {
    open_counting(found, Source::open, done)
}

fn open_counting(
    found: &Located,
    open: fn(&Path) -> std::io::Result<Source>,
    done: &AtomicU64,
) -> Result<Session, CliError> {
    let source = open(&found.path).map_err(CliError::unreadable)?;
    let session = Session::read_counting(source, done);
    if session.entries().is_empty() {
        return Err(CliError::failed(
            ErrorKind::NotASession,
            format!(
                "`{}` is not a session: none of its lines is a JSON record",
                found.path.display()
            ),
            "list your sessions with: ccsurgery ls --all",
        ));
    }
    Ok(session)
}

/// Turns the failure to find a session into an error with advice.
pub(super) fn explain(context: &Context, error: LocateError) -> CliError {
    use ErrorKind::{Ambiguous, Empty, NoSessions, NotASession, NotFound, TooShort};
    if let LocateError::NotFound { .. } | LocateError::NoneHere { .. } = error
        && let Err(no_data) = require_data(context)
    {
        return no_data;
    }
    let message = error.to_string();
    let (kind, hint) = match error {
        LocateError::NotFound { near, .. } if near.is_empty() => {
            let hint = "list your sessions with: ccsurgery ls --all. A path needs a `/` or the ending .jsonl";
            let error = CliError::failed(NotFound, message, hint);
            let unread = unreadable(context, &[], true).into_iter();
            return unread.fold(error, |error, why| {
                error.hint(format!("not searched: {why}"))
            });
        }
        LocateError::NotFound { near, .. } => {
            let hint = "give more of the id, or part of the title in quotes";
            let error = CliError::failed(NotFound, message + "; the nearest are", hint);
            return with_candidates(context, error, &near);
        }
        LocateError::Ambiguous { candidates, .. } => {
            let hint = "give the id, or more of it";
            let error = CliError::failed(Ambiguous, message + ":", hint);
            return with_candidates(context, error, &candidates);
        }
        LocateError::NoneHere { .. } => {
            let hint = "list the sessions of all projects with: ccsurgery ls --all";
            return CliError::failed(NoSessions, message, hint)
                .hint("change to the project's folder, or name it with --project DIR");
        }
        LocateError::TooFew { .. } | LocateError::NoNumber { .. } => {
            (NotFound, "@ is the newest session, @2 the one before it")
        }
        LocateError::TooShort { .. } => {
            (TooShort, "or use @ for the newest session of this project")
        }
        LocateError::NoSuchFile { .. } => (
            NotFound,
            "check the path; an id or a title has no `/` in it",
        ),
        LocateError::Directory { .. } => (
            NotASession,
            "name a .jsonl file in it, or use --project DIR with @",
        ),
        LocateError::Special { .. } => (
            NotASession,
            "to read a transcript from a pipe, name the session `-`",
        ),
        LocateError::Empty { .. } => (Empty, "there is nothing in it to operate on"),
        LocateError::Io(error) => return error.into(),
    };
    CliError::failed(kind, message, hint)
}

/// Refuses to go on where Claude Code has no data at all.
pub(super) fn require_data(context: &Context) -> Result<(), CliError> {
    let root = context.config.root();
    if root.is_dir() {
        return Ok(());
    }
    Err(CliError::failed(
        ErrorKind::NoData,
        format!(
            "there is no Claude Code data: `{}` does not exist",
            root.display()
        ),
        "if the data is in another folder, set CLAUDE_CONFIG_DIR or give --config-dir DIR",
    )
    .hint("to try ccsurgery on a made-up session: ccsurgery demo"))
}

/// The columns of the sessions that may have been meant.
const CANDIDATES: [Column; 4] = [
    Column::left(""),
    Column::right("").optional(2),
    Column::left("").at_most(28).optional(1),
    Column::left(""),
];

/// Adds the sessions that may have been meant: id, age, project, title.
fn with_candidates(
    context: &Context,
    mut error: CliError,
    rows: &[(Located, Overview)],
) -> CliError {
    let columns = context.columns.saturating_sub(2);
    let mut table = Table::new(&CANDIDATES, (columns * 2 / 5).clamp(20, 60));
    let ids: Vec<&str> = rows.iter().map(|(found, _)| found.id.as_str()).collect();
    for ((found, overview), id) in rows.iter().zip(shortened(&ids)) {
        let folder = || found.folder().display().to_string();
        let project = overview.cwd.clone().unwrap_or_else(folder);
        let project = short_path(Path::new(&project), context.home.as_deref(), 28);
        table.push(vec![
            clean(&id).into(),
            age(found.modified, context.now).into(),
            clean(&project).into(),
            context.words(overview.name()).into(),
        ]);
    }
    let text = table.render(columns);
    for ((found, overview), line) in rows.iter().zip(text.lines()) {
        error.candidates.push(Candidate {
            line: line.to_owned(),
            document: json!({
                "session_id": found.id,
                "path": found.path.to_string_lossy(),
                "project": overview.cwd,
                "title": context.words(overview.name()),
                "modified": jiff::Timestamp::try_from(found.modified).ok().map(|t| t.to_string()),
            }),
        });
    }
    error
}

/// Returns what the command line can call a session: the beginning of its id if that is enough, else its id, else its path.
pub(super) fn command_name(context: &Context, session: &Located) -> String {
    let locator = Locator::new(&context.config, &context.project);
    let beginning: String = session.id.chars().take(8).collect();
    let is_it = |name: &&str| locator.find(name).is_ok_and(|f| f.path == session.path);
    let name = [beginning.as_str(), &session.id].into_iter().find(is_it);
    name.map_or_else(
        || session.path.to_string_lossy().into_owned(),
        str::to_owned,
    )
}

/// Returns the shortest beginning of each uuid, of at least eight characters, that no other id of the list has. Other names
/// stay as they are.
pub(super) fn shortened(ids: &[&str]) -> Vec<String> {
    let mut sorted = ids.to_vec();
    sorted.sort_unstable();
    let common = |a: &str, b: &str| a.chars().zip(b.chars()).take_while(|(x, y)| x == y).count();
    let mut lengths: BTreeMap<&str, usize> = BTreeMap::new();
    for (i, id) in sorted.iter().enumerate() {
        let before = if i > 0 { common(sorted[i - 1], id) } else { 0 };
        let after = sorted.get(i + 1).map_or(0, |next| common(next, id));
        lengths.insert(id, before.max(after) + 1);
    }
    let short = |id: &&str| match Uuid::try_parse(id) {
        Ok(_) => id.chars().take(lengths[id].max(8)).collect(),
        Err(_) => (*id).to_owned(),
    };
    ids.iter().map(short).collect()
}
