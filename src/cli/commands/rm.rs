use std::collections::BTreeMap;
use std::io::Write as _;
use std::path::PathBuf;
use std::process::ExitCode;

use clap::Args;
use serde::Serialize;

use crate::render::{BOLD, YELLOW, bytes, clean, fit, paint, short_id, short_path};
use crate::store::{
    ChangeSet, Located, Locator, Operation, Orphan, RemovedSession, Sessions, SharedEdit,
    SidecarKind, UsageKind, glance, removal_of, removal_of_files, running, usage,
};

use super::super::context::Context;
use super::super::error::CliError;
use super::super::names;
use super::super::operations::plural;
use super::super::question::confirm;
use super::super::report_page;
use super::super::selection::SelectionArgs;

/// Remove sessions with all their files
///
/// Removes the transcript and everything that belongs to it in all places: subagents, large outputs, rewind data, todos
/// and tasks, its plan, logs, and what was typed in it. `ccsurgery undo` brings everything back, until
/// `ccsurgery history gc` deletes the backup. A session that Claude Code has open is never removed.
#[derive(Debug, Args)]
#[command(
    after_help = "Examples:\n  ccsurgery rm 5e55                       one session\n  ccsurgery rm --older-than 60d -n        what would be removed of this project\n  ccsurgery rm --older-than 60d --all     of all projects\n  ccsurgery rm --orphans                  files of sessions that no longer exist"
)]
pub(crate) struct RmArgs {
    #[command(flatten)]
    which: SelectionArgs,
    /// Remove files of sessions that no longer exist; `ccsurgery du --all` lists them
    #[arg(long, conflicts_with_all = ["sessions", "older_than", "grep", "all"])]
    orphans: bool,
    /// Show what would be removed, and change nothing
    #[arg(short = 'n', long)]
    dry_run: bool,
    /// Do not ask
    #[arg(short, long)]
    yes: bool,
    /// Also write a page (HTML) that shows what was removed
    #[arg(long, value_name = "FILE")]
    report: Option<PathBuf>,
}

pub(crate) fn run(args: &RmArgs, context: &mut Context) -> Result<ExitCode, CliError> {
    report_page::refuse_existing(args.report.as_deref())?;
    if !args.dry_run {
        context.recover()?;
    }
    if args.orphans {
        return remove_orphans(args, context);
    }
    let found = args.which.find(context, "rm")?;
    if found.is_empty() {
        context.tell("No session is that old or has that text; nothing was removed.");
        return report(context, args, &[], None);
    }
    refuse_live(context, &found)?;
    refuse_foreign(context, &found)?;
    let stays = others(context, &found)?;
    let sessions: Vec<RemovedSession> = found
        .into_iter()
        .map(|f| RemovedSession::find(&context.config, f, &stays))
        .collect::<Result<_, _>>()?;
    let changes = removal_of(&context.config, &sessions)?;
    let text = preview(context, &sessions, &changes)?;
    show(context, args, &text)?;
    if args.dry_run {
        write_report(context, args, &text, false)?;
        return report(context, args, &sessions, None);
    }
    let number = plural(sessions.len() as u64, "session", "sessions");
    confirm(context, args.yes, "rm", &format!("Remove {number}?"))?;
    let located: Vec<&Located> = sessions.iter().map(|s| &s.found).collect();
    // Claude Code may have opened one while the question was on the screen.
    refuse_live(context, located.iter().copied())?;
    let target = sessions[0].found.path.clone();
    let provenance = context.provenance("rm");
    let done = Sessions::new(&context.journal).change(&located, &target, &changes, &provenance)?;
    write_report(context, args, &text, true)?;
    report(context, args, &sessions, Some(&done))
}

/// Shows what will be removed, unless nobody looks.
fn show(context: &mut Context, args: &RmArgs, text: &str) -> Result<(), CliError> {
    if !context.json && (!context.quiet || args.dry_run) {
        context.show_plan(text)?;
    }
    Ok(())
}

fn write_report(
    context: &mut Context,
    args: &RmArgs,
    text: &str,
    is_done: bool,
) -> Result<(), CliError> {
    let path = args.report.as_deref();
    let title = if is_done {
        "Removed"
    } else {
        "What would be removed"
    };
    report_page::write_text(context, path, title, text, is_done)
}

/// Returns all sessions but these.
pub(super) fn others(context: &Context, found: &[Located]) -> Result<Vec<Located>, CliError> {
    let all = Locator::new(&context.config, &context.project).all();
    let mut all = all.map_err(|e| names::explain(context, e))?;
    all.retain(|o| !found.iter().any(|f| f.path == o.path));
    Ok(all)
}

/// Fails if a running client has one of the sessions open.
pub(super) fn refuse_live<'l>(
    context: &Context,
    found: impl IntoIterator<Item = &'l Located>,
) -> Result<(), CliError> {
    let clients = running(&context.config);
    for found in found {
        if let Some(live) = clients.get(&found.id) {
            return Err(CliError::refused(
                "live",
                format!(
                    "session {} is open in Claude Code (process {})",
                    clean(&found.id),
                    live.pid
                ),
                "leave Claude Code first; nothing was changed",
            ));
        }
    }
    Ok(())
}

/// Fails for a transcript that is not in a project of the config folder: only those have places.
pub(super) fn refuse_foreign(context: &Context, found: &[Located]) -> Result<(), CliError> {
    let projects = context.config.projects();
    let is_foreign = |f: &&Located| f.folder().parent() != Some(projects.as_path());
    match found.iter().find(is_foreign) {
        None => Ok(()),
        Some(f) => Err(CliError::refused(
            "not-found",
            format!(
                "`{}` is not a session of Claude Code's config folder",
                clean(&f.path.to_string_lossy())
            ),
            "only sessions that `ccsurgery ls --all` lists have files in all places",
        )),
    }
}

fn remove_orphans(args: &RmArgs, context: &mut Context) -> Result<ExitCode, CliError> {
    let orphans = usage(&context.config, context.now)?.orphans;
    let total: u64 = orphans.iter().map(|o| o.len).sum();
    let text = orphans_text(&orphans, total);
    show(context, args, &text)?;
    let paths: Vec<_> = orphans.iter().map(|o| o.path.clone()).collect();
    if args.dry_run || orphans.is_empty() {
        write_report(context, args, &text, false)?;
        return report_files(context, args, orphans.len(), total, None);
    }
    let files = plural(orphans.len() as u64, "file", "files");
    confirm(context, args.yes, "rm", &format!("Remove {files}?"))?;
    let changes = removal_of_files(&context.config, paths)?;
    let provenance = context.provenance("rm");
    let target = orphans[0].path.clone();
    let done = Sessions::new(&context.journal).change(&[], &target, &changes, &provenance)?;
    write_report(context, args, &text, true)?;
    report_files(context, args, orphans.len(), total, Some(&done))
}

/// Describes files of sessions that no longer exist, by their kinds.
fn orphans_text(orphans: &[Orphan], total: u64) -> String {
    let files = plural(orphans.len() as u64, "file", "files");
    let heading = match orphans.len() {
        0 => "There are no files of sessions that no longer exist.".to_owned(),
        _ => format!("{files} of sessions that no longer exist, {}", bytes(total)),
    };
    let mut kinds: BTreeMap<UsageKind, (u64, u64)> = BTreeMap::new();
    for orphan in orphans {
        let (number, len) = kinds.entry(orphan.kind).or_default();
        *number += 1;
        *len += orphan.len;
    }
    let mut out = format!("{}\n", paint(BOLD, heading));
    for (kind, (number, len)) in kinds {
        let files = plural(number, "file", "files");
        let _ = std::fmt::Write::write_fmt(
            &mut out,
            format_args!("  {}: {files}, {}\n", kind.name(), bytes(len)),
        );
    }
    out
}

/// Describes what will be removed: a line for each session, and what else is affected.
fn preview(
    context: &Context,
    sessions: &[RemovedSession],
    changes: &ChangeSet<'_>,
) -> Result<String, CliError> {
    let mut out = Vec::new();
    let total: u64 = sessions.iter().map(RemovedSession::len).sum();
    let number = plural(sessions.len() as u64, "session", "sessions");
    let heading = format!("rm  {number}, {}", bytes(total));
    writeln!(out, "{}", paint(BOLD, heading))?;
    let shown = if context.verbose { usize::MAX } else { 20 };
    for session in sessions.iter().take(shown) {
        let id = short_id(&session.found.id);
        let name = glance(&session.found.path).map(|o| o.name());
        let name = name.map(|n| context.words(&n)).unwrap_or_default();
        let room = context.columns.saturating_sub(60).max(16);
        let line = format!(
            "  {}  {:>8}  “{}”  {}",
            id,
            bytes(session.len()),
            fit(&name, room),
            parts(session)
        );
        writeln!(out, "{}", line.trim_end())?;
        for fork in &session.mentioned_by {
            let id = short_id(&fork.id);
            let note = paint(YELLOW, "    note:");
            writeln!(
                out,
                "{note} session {id} refers to it, perhaps as a fork; outputs and rewind data that both use are removed"
            )?;
        }
        for path in &session.skipped {
            let home = context.home.as_deref();
            let path = clean(&short_path(path, home, context.columns));
            writeln!(out, "    {path} is a link or a device, and stays")?;
        }
    }
    if sessions.len() > shown {
        let rest = sessions.len() - shown;
        writeln!(out, "  … and {rest} more (-v lists all)")?;
    }
    let prompts = changes.shared.iter().filter_map(|edit| match edit {
        SharedEdit::Lines { changes, .. } => Some(changes.len()),
        _ => None,
    });
    let prompts: usize = prompts.sum();
    if prompts > 0 {
        let prompts = plural(prompts as u64, "prompt", "prompts");
        writeln!(out, "  {prompts} of the prompt history")?;
    }
    Ok(String::from_utf8_lossy(&out).into_owned())
}

/// Describes the files of a session besides its transcript.
fn parts(session: &RemovedSession) -> String {
    let mut kinds: BTreeMap<&str, u64> = BTreeMap::new();
    for file in &session.files {
        let name = match file.kind {
            SidecarKind::Subagent | SidecarKind::OldSubagent => "subagents",
            SidecarKind::Own => "outputs",
            SidecarKind::FileHistory => "rewind data",
            SidecarKind::State => "tasks",
            SidecarKind::Plan => "plan",
            SidecarKind::Attachment => "attachments",
            _ => "logs",
        };
        *kinds.entry(name).or_default() += file.len;
    }
    let parts = kinds
        .into_iter()
        .map(|(name, len)| format!("{name} {}", bytes(len)));
    let parts: Vec<String> = parts.collect();
    parts.join(" · ")
}

#[derive(Serialize)]
struct Document<'a> {
    schema: u32,
    operation: &'static str,
    dry_run: bool,
    id: Option<&'a str>,
    sessions: Vec<Row<'a>>,
    files: usize,
    bytes: u64,
}

#[derive(Serialize)]
struct Row<'a> {
    session_id: &'a str,
    path: String,
    bytes: u64,
    files: Vec<String>,
    mentioned_by: Vec<&'a str>,
}

impl<'a> Row<'a> {
    fn of(session: &'a RemovedSession) -> Self {
        let text = |path: &std::path::Path| path.to_string_lossy().into_owned();
        Self {
            session_id: &session.found.id,
            path: text(&session.found.path),
            bytes: session.len(),
            files: session.files.iter().map(|f| text(&f.path)).collect(),
            mentioned_by: session.mentioned_by.iter().map(|f| f.id.as_str()).collect(),
        }
    }
}

fn report(
    context: &mut Context,
    args: &RmArgs,
    sessions: &[RemovedSession],
    done: Option<&Operation>,
) -> Result<ExitCode, CliError> {
    let files = sessions.iter().map(|s| s.files.len() + 1).sum();
    let document = Document {
        schema: 1,
        operation: "rm",
        dry_run: args.dry_run,
        id: done.map(|o| o.id.as_str()),
        sessions: sessions.iter().map(Row::of).collect(),
        files,
        bytes: sessions.iter().map(RemovedSession::len).sum(),
    };
    end(context, &document, done.is_some())
}

fn report_files(
    context: &mut Context,
    args: &RmArgs,
    files: usize,
    bytes: u64,
    done: Option<&Operation>,
) -> Result<ExitCode, CliError> {
    let document = Document {
        schema: 1,
        operation: "rm",
        dry_run: args.dry_run,
        id: done.map(|o| o.id.as_str()),
        sessions: Vec::new(),
        files,
        bytes,
    };
    end(context, &document, done.is_some())
}

fn end(
    context: &mut Context,
    document: &Document<'_>,
    is_done: bool,
) -> Result<ExitCode, CliError> {
    let printed = if context.json {
        context.print_json(document)
    } else if is_done {
        writeln!(
            context.out,
            "Removed; the bytes are kept until `ccsurgery history gc`. To bring them back: ccsurgery undo"
        )
    } else if document.dry_run {
        writeln!(context.out, "Dry run: nothing was changed.")
    } else {
        Ok(())
    };
    if is_done {
        context.end_report(printed);
    } else {
        printed?;
    }
    Ok(ExitCode::SUCCESS)
}
