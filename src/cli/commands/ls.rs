use std::collections::BTreeMap;
use std::io::Write as _;
use std::process::ExitCode;
use std::sync::mpsc::sync_channel;
use std::time::{Duration, SystemTime};

use clap::{Args, ValueEnum};
use rustc_hash::FxHashMap;

use crate::render::{SessionGroups, expiring_table, session_groups, session_table};
use crate::store::{
    Batch, Depth, Listed, Listing, Live, Located, Locator, Retention, list_all, running,
};
use crate::view::{SessionList, SessionRow, SessionText, window_limit};

use super::super::context::Context;
use super::super::error::CliError;
use super::super::operations::plural;
use super::super::progress::Progress;
use super::super::row_format::RowFormat;
use super::super::selection::Age;
use super::super::{names, pager, prompt_history};

/// A session that was written within this time counts as open, unless running clients can tell.
const LATELY: Duration = Duration::from_secs(120);

/// List the sessions of this project, newest first
///
/// `●` marks a session that a running Claude Code has open. With many or very large sessions only the newest
/// are read fully; for the others the number of turns is `?`. `~` marks an estimate. The percentage is how full the
/// context window is, of 200k tokens, or of 1M if the session was larger than that.
#[derive(Debug, Args)]
#[command(
    after_help = "Examples:\n  ccsurgery ls                        this project's sessions\n  ccsurgery ls --all --sort tokens    the fullest context windows of all projects\n  ccsurgery ls --grep 'flaky test'    where was that?\n  ccsurgery ls --expiring             what Claude Code will delete next\n  ccsurgery ls --since 7d --format '{id} {title}'    for scripts"
)]
pub(crate) struct LsArgs {
    /// List the sessions of all projects, grouped by project
    #[arg(long)]
    all: bool,
    /// Sort by age, size, tokens or turns
    #[arg(
        long,
        value_name = "BY",
        default_value = "age",
        hide_default_value = true
    )]
    sort: Sort,
    /// List at most this many sessions
    #[arg(long, value_name = "N")]
    limit: Option<usize>,
    /// List only sessions with this text in the title or a prompt, ignoring case
    #[arg(long, value_name = "TEXT")]
    grep: Option<String>,
    /// List only sessions that were written within this time: 12h, 30d, 8w
    #[arg(long, value_name = "AGE")]
    since: Option<Age>,
    /// List what Claude Code will delete next because of its age, and when
    #[arg(long, conflicts_with = "sort")]
    expiring: bool,
    /// Print a line for each session in this form: `{id}`, `{short_id}`, `{title}`, `{project}`, `{path}`, `{turns}`,
    /// `{tokens}`, `{bytes}`, `{modified}`, `{expires}`, `{branch}`, `{model}`, `{state}`
    #[arg(long, value_name = "FORM")]
    format: Option<RowFormat>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
enum Sort {
    /// The largest file
    Size,
    /// The fullest context window
    Tokens,
    /// The newest
    Age,
    /// The most turns
    Turns,
}

pub(crate) fn run(args: &LsArgs, context: &mut Context) -> Result<ExitCode, CliError> {
    names::require_data(context)?;
    let locator = Locator::new(&context.config, &context.project);
    let found = if args.all {
        locator.all()
    } else {
        locator.here()
    };
    let mut found = found.map_err(|e| names::explain(context, e))?;
    if let Some(Age(most)) = args.since {
        let age = |f: &Located| context.now.duration_since(f.modified).unwrap_or_default();
        found.retain(|f| age(f) <= most);
    }
    let depth = if args.grep.is_some() {
        Depth::Prompts
    } else {
        Depth::Quick
    };
    if args.is_shown_in_parts(context) {
        return show_in_parts(args, context, found, depth);
    }
    let progress = Progress::start(context.progress, "reading the sessions");
    let Batch { mut listed, failed } = list_all(found, depth);
    progress.done();
    let unreadable = names::unreadable(context, &failed, args.all);
    listed.retain(args.filter(context));
    let mut rows = rows(context, listed);
    // The sort is stable and the rows are newest first, so of equals the newer one comes first.
    match args.sort {
        Sort::Age => {}
        Sort::Size => rows.sort_by_key(|r| std::cmp::Reverse(r.bytes)),
        Sort::Tokens => rows.sort_by_key(|r| std::cmp::Reverse(r.tokens)),
        Sort::Turns => rows.sort_by_key(|r| std::cmp::Reverse(r.turns)),
    }
    if args.expiring {
        rows.retain(|r| r.expires_at.is_some() && !r.live);
        rows.sort_by_key(|r| r.expires_at);
    }
    rows.truncate(args.limit.unwrap_or(usize::MAX));
    if context.json {
        let document = context.presenter().json(&SessionList {
            warnings: unreadable,
            ..SessionList::from(rows)
        });
        context.print_json(&document)?;
        return Ok(ExitCode::SUCCESS);
    }
    names::warn(context, &unreadable);
    if rows.is_empty() && !unreadable.is_empty() {
        return Ok(ExitCode::SUCCESS);
    }
    show(args, context, &rows)
}

impl LsArgs {
    /// Returns whether a session has the text that is looked for.
    fn filter(&self, context: &Context) -> impl Fn(&Listed) -> bool + use<'_> {
        let wanted = self.grep.as_deref();
        let wanted = wanted.map(|text| (text, prompt_history::prompts(&context.config, text)));
        move |listed| {
            wanted.as_ref().is_none_or(|(text, typed)| {
                matches(listed, text) || prompt_history::belongs(typed, listed)
            })
        }
    }

    /// Whether what is printed first can be known before all sessions are read. A pager is given everything at once.
    fn is_shown_in_parts(&self, context: &Context) -> bool {
        self.all
            && self.sort == Sort::Age
            && !self.expiring
            && self.limit.is_none()
            && self.format.is_none()
            && !context.json
            && !pager::is_used(context)
    }
}

/// Prints the sessions of each project as soon as they are read, and holds only these in memory.
fn show_in_parts(
    args: &LsArgs,
    context: &mut Context,
    found: Vec<Located>,
    depth: Depth,
) -> Result<ExitCode, CliError> {
    let mut progress = Some(Progress::start(context.progress, "reading the sessions"));
    let mut rows = Rows::of(context, found.iter().map(|f| f.id.as_str()));
    let mut table = SessionGroups::new(&context.screen());
    let (mut failed, mut any) = (Vec::new(), false);
    let is_wanted = args.filter(context);
    let mut listing = Listing::by_project(found, depth);
    let (send, batches) = sync_channel(2);
    std::thread::scope(|scope| {
        // Ends when nothing can be printed any more.
        scope.spawn(move || listing.try_for_each(|batch| send.send(batch)));
        for mut batch in batches {
            failed.append(&mut batch.failed);
            batch.listed.retain(&is_wanted);
            if batch.listed.is_empty() {
                continue;
            }
            if let Some(progress) = progress.take() {
                progress.done();
            }
            any = true;
            let rows = rows.make(context, batch.listed);
            let text = table.part(&context.screen(), &rows);
            context.out.write_all(text.as_bytes())?;
            context.out.flush()?;
        }
        Ok::<_, std::io::Error>(())
    })?;
    if let Some(progress) = progress {
        progress.done();
    }
    let unreadable = names::unreadable(context, &failed, true);
    names::warn(context, &unreadable);
    if !any && unreadable.is_empty() {
        return show(args, context, &[]);
    }
    Ok(ExitCode::SUCCESS)
}

/// Prints the sessions for people, or in the form that was asked for.
fn show(args: &LsArgs, context: &mut Context, rows: &[SessionRow]) -> Result<ExitCode, CliError> {
    let period = Retention::of(&context.config);
    if args.expiring && !context.quiet && args.format.is_none() {
        context.tell(&expiry(period));
    }
    if rows.is_empty() {
        context.tell(match (&args.grep, args.all) {
            _ if args.expiring && period.period.is_none() => "No session will be deleted.",
            (Some(_), false) => "No session of this project matches; --all looks in all projects.",
            (Some(_), true) => "No session matches.",
            (None, _) if args.since.is_some() => "No session was written within that time.",
            (None, false) => "This project has no sessions; --all lists those of all projects.",
            (None, true) => "There are no sessions.",
        });
        return Ok(ExitCode::SUCCESS);
    }
    if let Some(format) = &args.format {
        for row in rows {
            let line = format.line(context, row);
            writeln!(context.out, "{line}")?;
        }
        return Ok(ExitCode::SUCCESS);
    }
    // Sorted by anything but age, the best of all projects comes first, whichever project it is of.
    let text = if args.expiring {
        expiring_table(&context.screen(), rows)
    } else if args.all && args.sort == Sort::Age {
        session_groups(&context.screen(), rows)
    } else {
        session_table(
            &context.screen(),
            &rows.iter().collect::<Vec<_>>(),
            args.all,
        )
    };
    pager::show(context, &text)?;
    Ok(ExitCode::SUCCESS)
}

/// Returns when Claude Code deletes sessions, in a sentence.
fn expiry(retention: Retention) -> String {
    let Some(period) = retention.period else {
        return "Claude Code deletes no sessions: cleanupPeriodDays in its settings.json is 0."
            .to_owned();
    };
    let days = plural(period.as_secs() / 86_400, "day", "days");
    let source = if retention.is_set {
        "cleanupPeriodDays in its settings.json"
    } else {
        "its default; cleanupPeriodDays in its settings.json changes it"
    };
    format!(
        "When it starts, Claude Code deletes sessions that were not written for {days} ({source}). To keep one: ccsurgery keep SESSION"
    )
}

/// Returns rows for sessions that were listed.
pub(crate) fn rows(context: &Context, listed: Vec<Listed>) -> Vec<SessionRow> {
    Rows::of(context, listed.iter().map(|l| l.found.id.as_str())).make(context, listed)
}

/// What the rows of a list are made with.
struct Rows {
    clients: BTreeMap<String, Live>,
    retention: Retention,
    /// How each session is named.
    short_ids: FxHashMap<String, String>,
}

impl Rows {
    /// Prepares rows for sessions with these ids.
    fn of<'i>(context: &Context, ids: impl Iterator<Item = &'i str>) -> Self {
        let ids: Vec<&str> = ids.collect();
        let shorts = names::shortened(&ids);
        Self {
            clients: running(&context.config),
            retention: Retention::of(&context.config),
            short_ids: ids.into_iter().map(str::to_owned).zip(shorts).collect(),
        }
    }

    fn make(&mut self, context: &Context, listed: Vec<Listed>) -> Vec<SessionRow> {
        let row = |listed: Listed| {
            let live = self.clients.remove(&listed.found.id);
            let short = self.short_ids.get(&listed.found.id);
            let short = short.cloned().unwrap_or_default();
            row(context, listed, short, live.as_ref(), self.retention)
        };
        listed.into_iter().map(row).collect()
    }
}

fn row(
    context: &Context,
    listed: Listed,
    short_id: String,
    live: Option<&Live>,
    retention: Retention,
) -> SessionRow {
    let modified = listed.found.modified;
    // The file may have been written since this run began.
    let age = context.now.duration_since(modified);
    let written_lately = age.is_ok_and(|d| d < LATELY) || modified > context.now;
    // A copy of an old session is a new file with old entries: no client has it open.
    let lately = written_lately && is_recent(listed.times, modified);
    let busy = live.and_then(|l| l.busy);
    SessionRow {
        state: listed.outlook.state(live.is_some() || lately, busy),
        session_id: listed.found.id,
        short_id,
        path: listed.found.path,
        project: listed.glance.cwd,
        title: listed.glance.title,
        first_prompt: listed.glance.first_prompt,
        turns: listed.turns,
        compactions: listed.compactions,
        tokens: listed.tokens,
        tokens_limit: window_limit(
            listed.outlook.model.as_ref().map(SessionText::raw),
            listed.tokens,
        ),
        tokens_recorded: listed.recorded,
        bytes: listed.found.len,
        modified: jiff::Timestamp::try_from(modified)
            .ok()
            .map(|t| t.to_string()),
        modified_at: modified,
        expires: retention
            .end_of(modified)
            .and_then(|time| jiff::Timestamp::try_from(time).ok())
            .map(|time| time.to_string()),
        expires_at: retention.end_of(modified),
        branch: listed.glance.branch,
        version: listed.glance.version,
        model: listed.outlook.model,
        live: live.is_some(),
        pid: live.map(|l| l.pid),
        pending_call: listed.outlook.pending,
    }
}

/// Whether the last entry was made about when the file was written.
fn is_recent(times: Option<(i64, i64)>, modified: SystemTime) -> bool {
    let Some((_, last)) = times else {
        return true;
    };
    let written = modified.duration_since(SystemTime::UNIX_EPOCH);
    let written = written.map_or(0, |d| d.as_millis() as i64);
    written.saturating_sub(last) < LATELY.as_millis() as i64
}

fn matches(listed: &Listed, text: &str) -> bool {
    let wanted = text.to_lowercase();
    let names = [&listed.glance.title, &listed.glance.first_prompt];
    let names = names.into_iter().flatten().map(SessionText::raw);
    names
        .chain(listed.prompts.iter().map(String::as_str))
        .any(|t| t.to_lowercase().contains(&wanted))
}
