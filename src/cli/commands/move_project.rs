use std::collections::{BTreeMap, BTreeSet};
use std::io::Write as _;
use std::path::{Path, PathBuf};
use std::process::ExitCode;

use clap::Args;
use serde::Serialize;

use crate::render::{BOLD, YELLOW, bytes, clean, paint, short_path};
use crate::store::{
    Located, Locator, Operation, Relocation, Retention, Sessions, SharedEdit, glance, kept_time,
    lexical_path, real_path,
};
use crate::transcript::project_path::is_windows;

use super::super::context::Context;
use super::super::error::{CliError, ErrorKind};
use super::super::names;
use super::super::operations::plural;
use super::super::question::confirm;
use super::super::report_page;
use super::super::shell::quoted;
use super::rm::refuse_live;

/// Move sessions along with a project's folder that was renamed or moved
///
/// Claude Code finds sessions by the project's path. `move` takes everything from the old path and the folders below it to
/// the new path: sessions with subagents and outputs, the project's memory, the prompts you typed, and its entry in
/// `.claude.json`. In the sessions, the working folder, rewind data and environment get the new path; the conversation
/// itself is not changed. Nothing in the new place is overwritten. `ccsurgery undo` takes it all back.
#[derive(Debug, Args)]
#[command(
    after_help = "Examples:\n  ccsurgery move ~/old/app ~/new/app -n    what would be moved\n  ccsurgery move ~/old/app ~/new/app\n  ccsurgery move 'C:\\Users\\ada\\app' ~/app    after you copied ~/.claude from Windows\n  ccsurgery move --orphans                 projects whose folder is gone"
)]
pub(crate) struct MoveArgs {
    /// The folder's old path
    #[arg(value_name = "OLD", required_unless_present = "orphans")]
    old: Option<PathBuf>,
    /// The folder's new path
    #[arg(value_name = "NEW", required_unless_present = "orphans")]
    new: Option<PathBuf>,
    /// List projects whose folder is gone, and where it may be now
    #[arg(long, conflicts_with_all = ["old", "new"])]
    orphans: bool,
    /// Show what would be moved, and change nothing
    #[arg(short = 'n', long)]
    dry_run: bool,
    /// Do not ask
    #[arg(short, long)]
    yes: bool,
    /// Also write a page (HTML) that shows what was moved
    #[arg(long, value_name = "FILE", conflicts_with = "orphans")]
    report: Option<PathBuf>,
}

pub(crate) fn run(args: &MoveArgs, context: &mut Context) -> Result<ExitCode, CliError> {
    names::require_data(context)?;
    let (Some(old), Some(new)) = (&args.old, &args.new) else {
        return orphans(context);
    };
    report_page::refuse_existing(args.report.as_deref())?;
    if !args.dry_run {
        context.recover()?;
    }
    let (old, new) = (text(&plain(old)?), new_folder(new)?);
    let found = Relocation::find(&context.config, &old, &new)?;
    if found.is_empty() {
        return Err(nothing(&found, &old));
    }
    refuse_live(context, found.sessions.iter().map(|s| &s.found))?;
    let text = preview(context, &found, &old, &new)?;
    if !context.json && (!context.quiet || args.dry_run) {
        context.show_plan(&text)?;
    }
    let page = args.report.as_deref();
    if args.dry_run {
        report_page::write_text(context, page, "What would be moved", &text, false)?;
        return report(context, args, &found, &new, None);
    }
    let number = plural(found.sessions.len() as u64, "session", "sessions");
    confirm(context, args.yes, "move", &format!("Move {number}?"))?;
    refuse_live(context, found.sessions.iter().map(|s| &s.found))?;
    let (now, period) = (context.now, Retention::of(&context.config).period);
    let changes = found.changes(|time| period.map_or(time, |p| kept_time(time, now, p)))?;
    let located: Vec<&Located> = found.sessions.iter().map(|s| &s.found).collect();
    let first = found.sessions.first().map(|s| s.target.clone());
    let target = first.unwrap_or_else(|| context.config.project(Path::new(&new)));
    let provenance = context.provenance("move");
    let done = Sessions::new(&context.journal).change(&located, &target, &changes, &provenance)?;
    report_page::write_text(context, page, "Moved", &text, true)?;
    report(context, args, &found, &new, Some(&done))
}

fn nothing(found: &Relocation, old: &str) -> CliError {
    if !found.collisions.is_empty() {
        let number = plural(found.collisions.len() as u64, "session", "sessions");
        return CliError::refused(
            ErrorKind::Exists,
            format!("{number} of `{}` exist in the new place, too", clean(old)),
            "remove those that you do not need, with: ccsurgery rm SESSION",
        );
    }
    CliError::failed(
        ErrorKind::NoSessions,
        format!("nothing is kept for `{}`", clean(old)),
        "list projects whose folder is gone with: ccsurgery move --orphans",
    )
}

/// Returns the real path of a folder, or, if it does not exist any more, its absolute path. A path of Windows that is given
/// on another system comes with a home that was copied, and stays as it is.
fn plain(path: &Path) -> Result<PathBuf, CliError> {
    if cfg!(not(windows)) && is_windows(&path.to_string_lossy()) {
        return Ok(path.to_owned());
    }
    let path = std::path::absolute(path)?;
    Ok(real_path(&path).unwrap_or_else(|_| lexical_path(&path)))
}

fn text(path: &Path) -> String {
    path.to_string_lossy().into_owned()
}

/// Returns the real path of the new folder, which must exist: Claude Code names projects by that.
fn new_folder(new: &Path) -> Result<String, CliError> {
    match real_path(new) {
        Ok(path) if path.is_dir() => Ok(text(&path)),
        _ => Err(CliError::failed(
            ErrorKind::NoSuchFolder,
            format!("`{}` is not a folder", new.display()),
            "move or create the project's folder first; this command moves only what Claude Code keeps for it",
        )),
    }
}

/// Describes what will be moved.
fn preview(
    context: &Context,
    found: &Relocation,
    old: &str,
    new: &str,
) -> Result<String, CliError> {
    let mut out = Vec::new();
    let home = context.home.clone();
    let shown = |path: &str| clean(&short_path(Path::new(path), home.as_deref(), 60));
    let heading = format!("move  {} → {}", shown(old), shown(new));
    writeln!(out, "{}", paint(BOLD, heading))?;
    let mut projects: BTreeMap<&(String, String), (u64, u64)> = BTreeMap::new();
    for session in &found.sessions {
        let (number, len) = projects.entry(&session.project).or_default();
        *number += 1;
        *len += session.found.len + session.files.iter().map(|f| f.len).sum::<u64>();
    }
    for ((from, _), (number, len)) in projects {
        let sessions = plural(number, "session", "sessions");
        writeln!(out, "  {}: {sessions}, {}", shown(from), bytes(len))?;
    }
    if !found.project_files.is_empty() {
        let files = plural(found.project_files.len() as u64, "file", "files");
        writeln!(
            out,
            "  {files} of the project's memory and list of sessions"
        )?;
    }
    for edit in &found.shared {
        let what = match edit {
            SharedEdit::RenameProject { from, .. } => {
                format!("the entry of {} in .claude.json", shown(from))
            }
            SharedEdit::Unlist { .. } => continue,
            SharedEdit::Lines { .. } => {
                let prompts = plural(edit.len() as u64, "prompt", "prompts");
                format!("{prompts} of the prompt history")
            }
        };
        writeln!(out, "  {what}")?;
    }
    let note = paint(YELLOW, "note:");
    for session in &found.collisions {
        let id = clean(&session.id);
        writeln!(
            out,
            "{note} session {id} exists in the new place, too, and stays"
        )?;
    }
    for path in &found.kept {
        let path = shown(&path.to_string_lossy());
        writeln!(out, "{note} the new place has another {path}; both stay")?;
    }
    for project in &found.kept_entries {
        let project = shown(project);
        writeln!(
            out,
            "{note} .claude.json has an entry for the new path, too; that of {project} stays where it is"
        )?;
    }
    if Path::new(old).is_dir() {
        writeln!(out, "{note} `{}` still exists", clean(old))?;
    }
    Ok(String::from_utf8_lossy(&out).into_owned())
}

#[derive(Serialize)]
struct Document<'a> {
    schema: u32,
    operation: &'static str,
    dry_run: bool,
    id: Option<&'a str>,
    sessions: Vec<Row<'a>>,
    project_files: Vec<String>,
    prompts: usize,
    entries: usize,
    collisions: Vec<&'a str>,
    kept: Vec<String>,
}

#[derive(Serialize)]
struct Row<'a> {
    session_id: &'a str,
    from: &'a str,
    to: &'a str,
    path: String,
}

fn report(
    context: &mut Context,
    args: &MoveArgs,
    found: &Relocation,
    new: &str,
    done: Option<&Operation>,
) -> Result<ExitCode, CliError> {
    let is_entry = |e: &&SharedEdit| matches!(e, SharedEdit::RenameProject { .. });
    let prompts = found.shared.iter().filter(|e| !is_entry(e));
    let document = Document {
        schema: 1,
        operation: "move",
        dry_run: args.dry_run,
        id: done.map(|o| o.id.as_str()),
        sessions: found
            .sessions
            .iter()
            .map(|s| Row {
                session_id: &s.found.id,
                from: &s.project.0,
                to: &s.project.1,
                path: text(&s.target),
            })
            .collect(),
        project_files: found.project_files.iter().map(|(_, to)| text(to)).collect(),
        prompts: prompts.map(SharedEdit::len).sum(),
        entries: found.shared.iter().filter(is_entry).count(),
        collisions: found.collisions.iter().map(|c| c.id.as_str()).collect(),
        kept: found.kept.iter().map(|p| text(p)).collect(),
    };
    let printed = if context.json {
        context.print_json(&document)
    } else if done.is_some() {
        let folder = clean(&quoted(new));
        writeln!(
            context.out,
            "Moved. To continue: cd {folder} && claude --continue\nTo take it back: ccsurgery undo"
        )
    } else {
        writeln!(context.out, "Dry run: nothing was changed.")
    };
    if done.is_some() {
        context.end_report(printed);
    } else {
        printed?;
    }
    Ok(ExitCode::SUCCESS)
}

#[derive(Serialize)]
struct Orphans {
    schema: u32,
    projects: Vec<Gone>,
}

/// A project whose folder is gone.
#[derive(Serialize)]
struct Gone {
    project: String,
    sessions: u64,
    candidates: Vec<String>,
}

/// Lists projects whose folder is gone, each with folders of the same name that may be where it is now.
fn orphans(context: &mut Context) -> Result<ExitCode, CliError> {
    let all = Locator::new(&context.config, &context.project).all();
    let all = all.map_err(|e| names::explain(context, e))?;
    let mut projects: BTreeMap<String, u64> = BTreeMap::new();
    for found in &all {
        if let Some(cwd) = glance(&found.path).ok().and_then(|o| o.cwd) {
            *projects.entry(cwd).or_default() += 1;
        }
    }
    let exist: BTreeSet<PathBuf> = projects
        .keys()
        .map(PathBuf::from)
        .filter(|p| p.is_dir())
        .collect();
    let gone = projects
        .into_iter()
        .filter(|(project, _)| !Path::new(project).is_dir());
    let projects: Vec<Gone> = gone
        .map(|(project, sessions)| Gone {
            candidates: candidates(Path::new(&project), &exist),
            project,
            sessions,
        })
        .collect();
    if context.json {
        let document = Orphans {
            schema: 1,
            projects,
        };
        context.print_json(&document)?;
        return Ok(ExitCode::SUCCESS);
    }
    if projects.is_empty() {
        context.tell("The folders of all projects exist.");
    }
    for gone in projects {
        let sessions = plural(gone.sessions, "session", "sessions");
        writeln!(context.out, "{}  {sessions}", clean(&gone.project))?;
        let old = clean(&quoted(&gone.project));
        for new in &gone.candidates {
            writeln!(
                context.out,
                "  ccsurgery move {old} {}",
                clean(&quoted(new))
            )?;
        }
        if gone.candidates.is_empty() {
            writeln!(
                context.out,
                "  if you know where it is: ccsurgery move {old} NEW"
            )?;
        }
    }
    Ok(ExitCode::SUCCESS)
}

/// How many folders are looked at for one project.
const MOST_FOLDERS: usize = 5_000;

/// Returns folders that have the project's name: among known projects, and near the place where it was.
fn candidates(gone: &Path, known: &BTreeSet<PathBuf>) -> Vec<String> {
    let Some(name) = gone.file_name() else {
        return Vec::new();
    };
    let same_name = known.iter().filter(|p| p.file_name() == Some(name));
    let mut found: BTreeSet<PathBuf> = same_name.cloned().collect();
    let near = gone.ancestors().skip(1).find(|dir| dir.is_dir());
    // The root of a disk has too many folders that have nothing to do with projects.
    let near = near.filter(|dir| dir.parent().is_some());
    let mut folders: Vec<(PathBuf, u32)> =
        near.map(|dir| (dir.to_owned(), 0)).into_iter().collect();
    let mut next = 0;
    while next < folders.len() && folders.len() < MOST_FOLDERS {
        let (dir, depth) = folders[next].clone();
        next += 1;
        for entry in std::fs::read_dir(&dir).into_iter().flatten().flatten() {
            let is_dir = entry.file_type().is_ok_and(|t| t.is_dir());
            let hidden = entry.file_name().to_string_lossy().starts_with('.');
            if !is_dir || hidden {
                continue;
            }
            if entry.file_name() == name {
                found.insert(entry.path());
            }
            if depth < 2 {
                folders.push((entry.path(), depth + 1));
            }
        }
    }
    found.iter().take(3).map(|p| text(p)).collect()
}
