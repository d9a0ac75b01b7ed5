//! Sessions as people name them, and what to say when they cannot be found.

use std::fmt::Write as _;
use std::io;
use std::path::{Path, PathBuf};

use crate::render::{age, clean, fit, pad};
use crate::session::Session;
use crate::store::{LocateError, Located, Locator, slug};
use crate::view::Overview;

use super::args::SessionArg;
use super::context::Context;
use super::error::CliError;

/// Finds the session that the arguments name; where they name none, says which one that is.
pub(super) fn find(context: &mut Context, arg: &SessionArg) -> Result<Located, CliError> {
    let name = arg.session.as_deref().unwrap_or("@");
    let found = Locator::new(&context.config, &context.project)
        .find(name)
        .map_err(|e| explain(context, e))?;
    if found.len == 0 && found.path.is_file() {
        return Err(CliError::failed(
            "empty",
            format!("`{}` is empty", found.path.display()),
            "there is nothing in it to operate on",
        ));
    }
    Ok(found)
}

/// Says which session was meant, where nobody named one and the result itself does not say.
pub(super) fn say_which(
    context: &mut Context,
    arg: &SessionArg,
    found: &Located,
    session: &Session,
) {
    if arg.session.is_none() && !context.json {
        let id: String = found.id.chars().take(8).collect();
        let name = context.words(Overview::of(session).name());
        let room = context.columns.saturating_sub(20);
        context.tell(&format!("session {}  “{}”", clean(&id), fit(&name, room)));
    }
}

/// Reads a transcript, and refuses what is none.
pub(super) fn open(found: &Located) -> Result<Session, CliError> {
    checked(found, Session::open(&found.path))
}

/// Reads a transcript that is only looked at, which may come from a pipe like `/dev/stdin`.
pub(super) fn open_to_read(found: &Located) -> Result<Session, CliError> {
    checked(found, Session::open_file_or_pipe(&found.path))
}

fn checked(found: &Located, opened: io::Result<Session>) -> Result<Session, CliError> {
    let session = opened.map_err(|e| CliError {
        kind: "unreadable",
        ..e.into()
    })?;
    if session.entries().is_empty() {
        return Err(CliError::failed(
            "not-a-session",
            format!(
                "`{}` is not a session: no line of it is a JSON record",
                found.path.display()
            ),
            "sessions are .jsonl files under the config folder's `projects`; list yours with: ls ~/.claude/projects/*/*.jsonl",
        ));
    }
    Ok(session)
}

/// The folder that a session was held in: of its entries' `cwd`s the one that gave its folder the name.
pub(super) fn project_of(session: &Session, folder: &Path) -> Option<PathBuf> {
    let name = folder.file_name()?.to_string_lossy().into_owned();
    let all = session.distinct("cwd");
    all.iter()
        .find(|cwd| slug(cwd) == name)
        .or(all.first())
        .map(PathBuf::from)
}

pub(super) fn explain(context: &Context, error: LocateError) -> CliError {
    let message = error.to_string();
    match error {
        LocateError::NotFound { near, .. } if near.is_empty() => CliError::failed(
            "not-found",
            message,
            "sessions are looked for in this project first, then in all; a path needs a `/` in it",
        ),
        LocateError::NotFound { near, .. } => CliError::failed(
            "not-found",
            format!("{message}; the nearest are\n{}", table(context, &near)),
            "give more of the id, or the exact title",
        ),
        LocateError::Ambiguous { candidates, .. } => CliError::failed(
            "ambiguous",
            format!("{message}:\n{}", table(context, &candidates)),
            "give more of the id",
        ),
        LocateError::NoneHere { .. } => CliError::failed(
            "no-sessions",
            message,
            "change to the project's folder, or name it with --project DIR, or name the session by its id",
        ),
        LocateError::TooFew { .. } => CliError::failed(
            "not-found",
            message,
            "@ is the newest, @2 the one before it",
        ),
        LocateError::TooShort { .. } => CliError::failed(
            "too-short",
            message,
            "or use @ for the newest session of this project",
        ),
        LocateError::NoSuchFile { .. } => CliError::failed(
            "not-found",
            message,
            "check the path; an id or a title has no `/` in it",
        ),
        LocateError::Directory { .. } => CliError::failed(
            "not-a-session",
            message,
            "name a .jsonl file in it, or use --project DIR with @",
        ),
        LocateError::Empty { .. } => {
            CliError::failed("empty", message, "there is nothing in it to operate on")
        }
        LocateError::Io(error) => error.into(),
    }
}

/// Candidates, a line each: id, age, project, first prompt.
fn table(context: &Context, rows: &[(Located, Overview)]) -> String {
    let mut out = String::new();
    let projects: Vec<String> = rows
        .iter()
        .map(|(f, g)| {
            clean(
                &g.cwd
                    .clone()
                    .unwrap_or_else(|| f.folder().display().to_string()),
            )
        })
        .collect();
    let widest = projects
        .iter()
        .map(|p| crate::render::width(p))
        .max()
        .unwrap_or(0)
        .min(context.columns / 3);
    for ((found, glance), project) in rows.iter().zip(&projects) {
        let room = context.columns.saturating_sub(36 + 9 + widest + 8).max(12);
        let _ = writeln!(
            out,
            "  {}  {}  {}  {}",
            clean(&found.id),
            pad(&age(found.modified, context.now), 8),
            pad(&fit(project, widest), widest as i32),
            fit(&clean(glance.name()), room)
        );
    }
    out.trim_end().to_owned()
}
