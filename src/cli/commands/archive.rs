use std::collections::BTreeSet;
use std::io::Write as _;
use std::path::{Path, PathBuf};
use std::process::ExitCode;

use clap::Args;
use serde::Serialize;

use crate::render::{
    BOLD, Cell, Column, Table, YELLOW, age, bytes, clean, fit, paint, short_id, short_path,
};
use crate::store::{
    ArchiveList, Archives, BundleError, BundleKind, Located, Locator, Operation, Packer,
    RemovedSession, Sessions, contents_of, create_private_dirs, removal_without_prompts,
};
use crate::view::SessionText;

use super::super::context::Context;
use super::super::error::{CliError, ErrorKind};
use super::super::operations::plural;
use super::super::question::confirm;
use super::super::report::SCHEMA;
use super::super::selection::SelectionArgs;
use super::bundle::{new_manifest, title};
use super::rm::{others, refuse_foreign, refuse_live};

/// Pack sessions into files outside Claude Code's folder, and remove them there
///
/// Packs each session with all its files into a bundle of its own, reads that back, and only then removes the session as
/// `rm` does. Claude Code no longer lists it, and does not delete it when it gets old. `ccsurgery restore` brings it back
/// byte for byte. Archives are not redacted, and only you can read them. What you typed stays in the prompt history.
#[derive(Debug, Args)]
#[command(
    after_help = "Examples:\n  ccsurgery archive 5e55\n  ccsurgery archive --older-than 60d --all -n    what would be put away\n  ccsurgery archive --list"
)]
pub(crate) struct ArchiveArgs {
    #[command(flatten)]
    which: SelectionArgs,
    /// List what is archived
    #[arg(long, conflicts_with_all = ["sessions", "older_than", "grep", "all", "dry_run"])]
    list: bool,
    /// The folder for archives [default: `archive` in the state folder]
    #[arg(long, value_name = "DIR")]
    to: Option<PathBuf>,
    /// Show what would be archived, and change nothing
    #[arg(short = 'n', long)]
    dry_run: bool,
    /// Do not ask
    #[arg(short, long)]
    yes: bool,
}

/// Returns the folder for archives: the one that is named, else that of the state folder.
pub(super) fn archives(context: &Context, named: Option<&Path>) -> Result<Archives, CliError> {
    let folder = match named {
        Some(folder) => std::path::absolute(folder)?,
        None => context.journal.archives(),
    };
    if folder.starts_with(context.config.root()) {
        return Err(CliError::usage(
            ErrorKind::Usage,
            "archives cannot be kept in Claude Code's config folder",
            "name another folder with --to DIR",
        ));
    }
    Ok(Archives::in_folder(folder))
}

pub(crate) fn run(args: &ArchiveArgs, context: &mut Context) -> Result<ExitCode, CliError> {
    let archives = archives(context, args.to.as_deref())?;
    if args.list {
        return list(context, &archives);
    }
    if !args.dry_run {
        context.recover()?;
    }
    let found = args.which.find(context, "archive")?;
    if found.is_empty() {
        context.tell("No session is that old or has that text; nothing was archived.");
        return report(context, args, &archives, &[], None);
    }
    refuse_live(context, &found)?;
    refuse_foreign(context, &found)?;
    let stays = others(context, &found)?;
    let sessions: Vec<RemovedSession> = found
        .into_iter()
        .map(|f| RemovedSession::find(&context.config, f, &stays))
        .collect::<Result<_, _>>()?;
    // The files are looked at before they are packed, so that a later change of one stops the removal.
    let changes = removal_without_prompts(&sessions)?;
    if !context.json && (!context.quiet || args.dry_run) {
        preview(context, &sessions)?;
    }
    if args.dry_run {
        let rows: Vec<Row> = sessions.iter().map(|s| Row::of(s, None)).collect();
        return report(context, args, &archives, &rows, None);
    }
    let number = plural(sessions.len() as u64, "session", "sessions");
    confirm(context, args.yes, "archive", &format!("Archive {number}?"))?;
    let located: Vec<&Located> = sessions.iter().map(|s| &s.found).collect();
    refuse_live(context, located.iter().copied())?;
    let mut rows = Vec::new();
    let mut written = Written::default();
    for session in &sessions {
        let path = pack(context, &archives, session)?;
        written.0.push(path.clone());
        rows.push(Row::of(session, Some(path)));
    }
    let target = sessions[0].found.path.clone();
    let provenance = context.provenance("archive");
    let done = Sessions::new(&context.journal).change(&located, &target, &changes, &provenance)?;
    written.0.clear();
    report(context, args, &archives, &rows, Some(&done))
}

/// Bundles of sessions that are still there. They are removed again if the sessions stay.
#[derive(Default)]
struct Written(Vec<PathBuf>);

impl Drop for Written {
    fn drop(&mut self) {
        for path in &self.0 {
            let _ = fs_err::remove_file(path);
        }
    }
}

/// Packs one session, reads the bundle back, and returns where it is.
fn pack(
    context: &Context,
    archives: &Archives,
    session: &RemovedSession,
) -> Result<PathBuf, CliError> {
    let folder = archives.folder();
    create_private_dirs(folder)?;
    let contents = contents_of(&context.config, &session.found, BundleKind::Archive)?;
    let mut manifest = new_manifest(context, BundleKind::Archive);
    let mut packer = Packer::new(&context.config, folder, None);
    for item in &contents.items {
        packer.add(&mut manifest, item)?;
    }
    manifest.sessions.push(crate::store::BundledSession {
        title: title(&session.found, None),
        ..contents.session
    });
    let packed: BTreeSet<&Path> = contents.items.iter().map(|i| i.path.as_path()).collect();
    let removed = session.files.iter().map(|f| f.path.as_path());
    if let Some(path) = removed.into_iter().find(|path| !packed.contains(path)) {
        let path = path.to_owned();
        return Err(BundleError::Changed { path }.into());
    }
    let path = archives.free_name(&session.found.id)?;
    packer.write_and_verify(&manifest, &path)?;
    Ok(path)
}

fn preview(context: &mut Context, sessions: &[RemovedSession]) -> Result<(), CliError> {
    let mut out = Vec::new();
    let total: u64 = sessions.iter().map(RemovedSession::len).sum();
    let number = plural(sessions.len() as u64, "session", "sessions");
    let heading = format!("archive  {number}, {}", bytes(total));
    writeln!(out, "{}", paint(BOLD, heading))?;
    let shown = if context.verbose { usize::MAX } else { 20 };
    for session in sessions.iter().take(shown) {
        let id = short_id(&session.found.id);
        let room = context.columns.saturating_sub(40).max(16);
        let name = fit(&context.words(title(&session.found, None)), room);
        let size = bytes(session.len());
        writeln!(out, "  {id}  {size:>8}  “{name}”")?;
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
    Ok(context.show_plan(&String::from_utf8_lossy(&out))?)
}

#[derive(Serialize)]
struct Document<'a> {
    schema: u32,
    operation: &'static str,
    dry_run: bool,
    id: Option<&'a str>,
    folder: String,
    sessions: &'a [Row],
}

#[derive(Serialize)]
struct Row {
    session_id: String,
    bytes: u64,
    files: usize,
    /// The bundle; `None` after a dry run.
    archive: Option<String>,
}

impl Row {
    fn of(session: &RemovedSession, archive: Option<PathBuf>) -> Self {
        Self {
            session_id: session.found.id.clone(),
            bytes: session.len(),
            files: session.files.len() + 1,
            archive: archive.map(|p| p.to_string_lossy().into_owned()),
        }
    }
}

fn report(
    context: &mut Context,
    args: &ArchiveArgs,
    archives: &Archives,
    rows: &[Row],
    done: Option<&Operation>,
) -> Result<ExitCode, CliError> {
    let printed = if context.json {
        context.print_json(&Document {
            schema: SCHEMA,
            operation: "archive",
            dry_run: args.dry_run,
            id: done.map(|o| o.id.as_str()),
            folder: archives.folder().to_string_lossy().into_owned(),
            sessions: rows,
        })
    } else if done.is_some() {
        let first = rows.first().map(|r| r.session_id.chars().take(8).collect());
        let first: String = first.unwrap_or_default();
        let home = context.home.clone();
        let folder = short_path(archives.folder(), home.as_deref(), context.columns);
        writeln!(
            context.out,
            "Archived in {}. To bring one back: ccsurgery restore {}\nThe journal keeps the bytes as well, until `ccsurgery history gc`.",
            clean(&folder),
            clean(&first)
        )
    } else if args.dry_run {
        writeln!(context.out, "Dry run: nothing was changed.")
    } else {
        Ok(())
    };
    if done.is_some() {
        context.end_report(printed);
    } else {
        printed?;
    }
    Ok(ExitCode::SUCCESS)
}

#[derive(Serialize)]
struct ListDocument {
    schema: u32,
    folder: String,
    archives: Vec<Listed>,
    warnings: Vec<String>,
}

#[derive(Serialize)]
struct Listed {
    name: String,
    session_id: String,
    title: SessionText,
    project: Option<String>,
    archived: String,
    path: String,
    bytes: u64,
    content_bytes: u64,
    /// Whether the session is among those of Claude Code, too.
    exists: bool,
}

const COLUMNS: [Column; 6] = [
    Column::left("name"),
    Column::right("archived"),
    Column::right("size").optional(2),
    Column::left("").optional(3),
    Column::left("project").at_most(28).optional(1),
    Column::left("title or first prompt"),
];

fn list(context: &mut Context, archives: &Archives) -> Result<ExitCode, CliError> {
    let ArchiveList {
        archives: found,
        unreadable,
    } = archives.list()?;
    let all = Locator::new(&context.config, &context.project).all();
    let ids: BTreeSet<String> = all.unwrap_or_default().into_iter().map(|f| f.id).collect();
    let rows: Vec<Listed> = found
        .iter()
        .filter_map(|archived| {
            let session = archived.session()?;
            Some(Listed {
                name: archived.name(),
                session_id: session.id.clone(),
                title: session.title.as_str().into(),
                project: session.project.clone(),
                archived: archived.manifest.created.to_string(),
                path: archived.path.to_string_lossy().into_owned(),
                bytes: archived.len,
                content_bytes: archived.manifest.total().unwrap_or(0),
                exists: ids.contains(&session.id),
            })
        })
        .collect();
    let warnings = unreadable.iter().map(|(path, error)| {
        let path = path.to_string_lossy();
        format!("`{path}` cannot be used: {error}")
    });
    let warnings: Vec<String> = warnings.collect();
    if context.json {
        let document = context.presenter().json(&ListDocument {
            schema: SCHEMA,
            folder: archives.folder().to_string_lossy().into_owned(),
            archives: rows,
            warnings,
        });
        context.print_json(&document)?;
        return Ok(ExitCode::SUCCESS);
    }
    for warning in &warnings {
        let note = paint(YELLOW, "warning:");
        context.tell(&format!("{note} {}", clean(warning)));
    }
    if rows.is_empty() {
        context.tell("Nothing is archived.");
        return Ok(ExitCode::SUCCESS);
    }
    let mut table = Table::new(&COLUMNS, (context.table_columns / 2).clamp(20, 60));
    for (row, archived) in rows.iter().zip(&found) {
        let made = std::time::SystemTime::from(archived.manifest.created);
        let project = row.project.as_deref().unwrap_or_default();
        let project = short_path(Path::new(project), context.home.as_deref(), 28);
        let cells: Vec<Cell> = vec![
            clean(&row.name).into(),
            age(made, context.now).into(),
            bytes(row.bytes).into(),
            if row.exists { "is back" } else { "" }.into(),
            clean(&project).into(),
            context.words(&row.title).into(),
        ];
        table.push(cells);
    }
    let text = table.render(context.table_columns);
    write!(context.out, "{text}")?;
    Ok(ExitCode::SUCCESS)
}
