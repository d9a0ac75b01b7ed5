use std::collections::BTreeMap;
use std::io::{self, Write as _};
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::time::SystemTime;

use clap::Args;
use serde::Serialize;

use crate::human::duration;
use crate::render::{Cell, Column, Table, clean, short_id, short_path};
use crate::store::{KeepList, Located, Locator, Retention, glance, kept_times, touch};
use crate::view::{Overview, SessionText};

use super::super::context::Context;
use super::super::error::CliError;
use super::super::names;
use super::super::operations::plural;
use super::super::report::SCHEMA;
use super::super::selection::SelectionArgs;
use super::super::shell::quoted;
use super::rm::refuse_foreign;

/// Keep sessions safe from Claude Code's clean-up
///
/// When Claude Code starts, it deletes sessions that are older than 30 days, or than `cleanupPeriodDays` in its
/// settings.json. `keep` sets the time of a session's files to now, and does not change their content. The newest session
/// of a project stays the newest, so that `claude --continue` still continues it. `ccsurgery keep --again` renews all
/// sessions that you have kept: run it now and then, or from a timer.
#[derive(Debug, Args)]
#[command(
    after_help = "Examples:\n  ccsurgery ls --expiring           what Claude Code will delete next\n  ccsurgery keep 5e55\n  ccsurgery keep --older-than 20d   all sessions of this project that may be deleted soon\n  ccsurgery keep --again            renew all that are kept\n  ccsurgery keep --list"
)]
pub(crate) struct KeepArgs {
    #[command(flatten)]
    which: SelectionArgs,
    /// List the sessions that are kept, and how long they are safe
    #[arg(long, conflicts_with_all = ["sessions", "older_than", "grep", "all", "again", "forget"])]
    list: bool,
    /// Renew all sessions that were kept before
    #[arg(long, conflicts_with_all = ["sessions", "older_than", "grep", "all", "forget"])]
    again: bool,
    /// Stop keeping these sessions: Claude Code deletes them when they are old
    #[arg(long)]
    forget: bool,
    /// Show which sessions would be kept, and write nothing
    #[arg(short = 'n', long, conflicts_with = "list")]
    dry_run: bool,
}

pub(crate) fn run(args: &KeepArgs, context: &mut Context) -> Result<ExitCode, CliError> {
    names::require_data(context)?;
    let state = context.journal.root().to_owned();
    let mut list = KeepList::read(&state)?;
    if args.list {
        return show_list(context, &list);
    }
    let found = if args.again {
        kept(context, &list)?
    } else {
        args.which.find(context, "keep")?
    };
    refuse_foreign(context, &found)?;
    if args.forget {
        list.sessions
            .retain(|id| !found.iter().any(|f| f.id == *id));
        if !args.dry_run {
            list.write(&state)?;
        }
        return report(context, args, found);
    }
    let found = touched(context, found, args.dry_run)?;
    if args.dry_run {
        return report(context, args, found);
    }
    let mut is_new = false;
    for session in &found {
        is_new |= list.add(&session.id);
    }
    if is_new {
        list.write(&state)?;
    }
    report(context, args, found)
}

/// Returns the noted sessions that exist.
fn kept(context: &Context, list: &KeepList) -> Result<Vec<Located>, CliError> {
    let all = Locator::new(&context.config, &context.project).all();
    let mut all = all.map_err(|e| names::explain(context, e))?;
    all.retain(|found| list.sessions.contains(&found.id));
    Ok(all)
}

/// Gives sessions a new time unless this is a dry run, and returns them with it.
fn touched(
    context: &Context,
    found: Vec<Located>,
    dry_run: bool,
) -> Result<Vec<Located>, CliError> {
    let period = Retention::of(&context.config).period;
    let mut projects: BTreeMap<PathBuf, Vec<Located>> = BTreeMap::new();
    for session in found {
        let folder = session.folder().to_owned();
        projects.entry(folder).or_default().push(session);
    }
    let all = Locator::new(&context.config, &context.project).all();
    let all = all.map_err(|e| names::explain(context, e))?;
    let mut done = Vec::new();
    for (folder, mut sessions) in projects {
        sessions.sort_by_key(|s| std::cmp::Reverse(s.modified));
        let is_other =
            |o: &&Located| o.folder() == folder && !sessions.iter().any(|s| s.path == o.path);
        let others: Vec<Located> = all.iter().filter(is_other).cloned().collect();
        let times = kept_times(&sessions, &others, context.now, period);
        for (mut session, time) in sessions.into_iter().zip(times) {
            if !dry_run {
                touch(&context.config, &session, time)?;
            }
            session.modified = session.modified.max(time);
            done.push(session);
        }
    }
    Ok(done)
}

#[derive(Serialize)]
struct Document {
    schema: u32,
    operation: &'static str,
    dry_run: bool,
    sessions: Vec<Row>,
    /// A line for a crontab that keeps all noted sessions every week.
    timer: String,
}

#[derive(Serialize)]
struct Row {
    session_id: String,
    title: SessionText,
    path: String,
    project: Option<String>,
    /// When Claude Code may delete it; `None` if it never does.
    expires: Option<String>,
    #[serde(skip)]
    expires_at: Option<SystemTime>,
}

impl Row {
    fn of(found: &Located, retention: Retention) -> Self {
        let seen = glance(&found.path).ok();
        let expires_at = retention.end_of(found.modified);
        let shown = expires_at.and_then(|t| jiff::Timestamp::try_from(t).ok());
        Self {
            session_id: found.id.clone(),
            title: seen.as_ref().map(Overview::name).unwrap_or_default(),
            path: found.path.to_string_lossy().into_owned(),
            project: seen.and_then(|o| o.cwd),
            expires: shown.map(|t| t.to_string()),
            expires_at,
        }
    }
}

/// Returns the line for a crontab that repeats it every week.
fn timer() -> String {
    let program = std::env::current_exe().unwrap_or_else(|_| "ccsurgery".into());
    let program = quoted(&program.to_string_lossy());
    format!("17 9 * * 1 {program} keep --again --quiet")
}

fn report(
    context: &mut Context,
    args: &KeepArgs,
    found: Vec<Located>,
) -> Result<ExitCode, CliError> {
    let retention = Retention::of(&context.config);
    let rows: Vec<Row> = found.iter().map(|f| Row::of(f, retention)).collect();
    let number = plural(rows.len() as u64, "session", "sessions");
    let whose = if rows.len() == 1 { "its" } else { "their" };
    let is_done = !rows.is_empty() && !args.dry_run;
    let printed = if context.json {
        let document = context.presenter().json(&Document {
            schema: SCHEMA,
            operation: "keep",
            dry_run: args.dry_run,
            sessions: rows,
            timer: timer(),
        });
        context.print_json(&document)
    } else if args.dry_run {
        show_dry_run(context, &rows)
    } else if context.quiet {
        Ok(())
    } else if args.forget {
        writeln!(
            context.out,
            "{number} no longer kept; the times of {whose} files stay as they are."
        )
    } else if rows.is_empty() {
        writeln!(context.out, "There is nothing to keep.")
    } else {
        let first = rows.iter().filter_map(|r| r.expires_at).min();
        let safe = match first {
            Some(time) => format!("safe for {}", left(context, time)),
            None => "safe: Claude Code's settings say that it deletes nothing".to_owned(),
        };
        let timer = clean(&timer());
        writeln!(
            context.out,
            "Kept {number}: {whose} files have a new time, and are {safe}.\nTo repeat it every week, add this line to your crontab (`crontab -e`):\n{timer}\nOr let Claude Code keep all sessions for a year: \"cleanupPeriodDays\": 365 in its settings.json."
        )
    };
    if is_done {
        context.end_report(printed);
    } else {
        printed?;
    }
    Ok(ExitCode::SUCCESS)
}

/// Lists the sessions, and how long they would be safe.
fn show_dry_run(context: &mut Context, rows: &[Row]) -> io::Result<()> {
    let table = table(context, rows);
    write!(context.out, "{table}")?;
    writeln!(context.out, "Dry run: nothing was changed.")
}

/// Returns how long it is until a time.
fn left(context: &Context, time: SystemTime) -> String {
    match time.duration_since(context.now) {
        Ok(left) if left.as_secs() >= 86_400 => duration(left.as_secs() / 86_400 * 86_400),
        Ok(left) => duration(left.as_secs()),
        Err(_) => "no time".to_owned(),
    }
}

#[derive(Serialize)]
struct ListDocument {
    schema: u32,
    sessions: Vec<Row>,
    /// Noted sessions that no longer exist.
    missing: Vec<String>,
}

const COLUMNS: [Column; 4] = [
    Column::left("id"),
    Column::right("safe for"),
    Column::left("project").at_most(28).optional(1),
    Column::left("title or first prompt"),
];

fn show_list(context: &mut Context, list: &KeepList) -> Result<ExitCode, CliError> {
    let found = kept(context, list)?;
    let retention = Retention::of(&context.config);
    let rows: Vec<Row> = found.iter().map(|f| Row::of(f, retention)).collect();
    let is_missing = |id: &&String| !rows.iter().any(|r| r.session_id == **id);
    let missing: Vec<String> = list.sessions.iter().filter(is_missing).cloned().collect();
    if context.json {
        let document = context.presenter().json(&ListDocument {
            schema: SCHEMA,
            sessions: rows,
            missing,
        });
        context.print_json(&document)?;
        return Ok(ExitCode::SUCCESS);
    }
    if list.sessions.is_empty() {
        context.tell("No session is kept; keep one with: ccsurgery keep SESSION");
        return Ok(ExitCode::SUCCESS);
    }
    let text = table(context, &rows);
    write!(context.out, "{text}")?;
    for id in missing {
        context.tell(&format!("{} no longer exists", clean(&id)));
    }
    Ok(ExitCode::SUCCESS)
}

fn table(context: &Context, rows: &[Row]) -> String {
    let mut table = Table::new(&COLUMNS, (context.table_columns / 2).clamp(20, 60));
    for row in rows {
        let id = short_id(&row.session_id);
        let project = row.project.as_deref().unwrap_or_default();
        let project = short_path(Path::new(project), context.home.as_deref(), 28);
        let safe = row
            .expires_at
            .map_or("ever".to_owned(), |t| left(context, t));
        let cells: Vec<Cell> = vec![
            id.into(),
            safe.into(),
            clean(&project).into(),
            context.words(&row.title).into(),
        ];
        table.push(cells);
    }
    table.render(context.table_columns)
}
