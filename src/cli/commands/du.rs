use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::io::Write as _;
use std::path::Path;
use std::process::ExitCode;

use clap::Args;
use serde::Serialize;

use crate::render::{
    BOLD, Cell, Column, DIM, Table, age, bytes, clean, paint, short_id, short_path, wrap,
    wrap_message,
};
use crate::store::{
    Duplicates, Orphan, ProjectUsage, SessionUsage, Sizes, Usage, UsageKind, glance, usage,
};

use super::super::context::Context;
use super::super::error::CliError;
use super::super::names;
use super::super::operations::plural;
use super::super::shell::quoted;

/// How many rows are shown unless all are asked for.
const SHOWN: usize = 15;

/// Show what sessions take on the disk, and how to free it
///
/// Shows the largest sessions of this project, or with --all the largest projects: transcripts, outputs, rewind data and
/// logs. Forks begin with the same lines: it also shows how much of that is there more than once.
#[derive(Debug, Args)]
#[command(
    after_help = "Examples:\n  ccsurgery du           the largest sessions of this project\n  ccsurgery du --all     all projects, and what no session needs any more\n  ccsurgery du --all -v  every row"
)]
pub(crate) struct DuArgs {
    /// Show all projects
    #[arg(long)]
    all: bool,
}

pub(crate) fn run(args: &DuArgs, context: &mut Context) -> Result<ExitCode, CliError> {
    names::require_data(context)?;
    let mut usage = usage(&context.config, context.now)?;
    if !args.all {
        let own = context.config.project(&context.project);
        usage.projects.retain(|p| p.folder == own);
    }
    if context.json {
        let document = Document::of(&usage, args.all);
        context.print_json(&document)?;
        return Ok(ExitCode::SUCCESS);
    }
    let text = if args.all {
        everything(context, &usage)
    } else {
        match usage.projects.first() {
            Some(project) => one_project(context, project),
            None => {
                context.tell("This project has no sessions; --all shows those of all projects.");
                return Ok(ExitCode::SUCCESS);
            }
        }
    };
    context.out.write_all(text.as_bytes())?;
    Ok(ExitCode::SUCCESS)
}

/// The kinds that have a column; the rest is summed up.
const KINDS: [UsageKind; 4] = [
    UsageKind::Transcript,
    UsageKind::Subagent,
    UsageKind::Output,
    UsageKind::Rewind,
];

const SESSION_COLUMNS: [Column; 8] = [
    Column::left("id"),
    Column::right("age").optional(6),
    Column::right("total"),
    Column::right("transcript").optional(2),
    Column::right("subagents").optional(5),
    Column::right("outputs").optional(3),
    Column::right("rewind").optional(4),
    Column::left("title or first prompt"),
];

const PROJECT_COLUMNS: [Column; 7] = [
    Column::right("sessions").optional(6),
    Column::right("total"),
    Column::right("transcripts").optional(2),
    Column::right("subagents").optional(5),
    Column::right("outputs").optional(3),
    Column::right("rewind").optional(4),
    Column::left("project"),
];

fn size_cells(sizes: &Sizes) -> Vec<Cell> {
    let cell = |kind: &UsageKind| match sizes.0.get(kind) {
        Some(0) | None => Cell::default(),
        Some(&len) => bytes(len).into(),
    };
    let total = [Cell::from(bytes(sizes.total()))];
    total.into_iter().chain(KINDS.iter().map(cell)).collect()
}

fn one_project(context: &Context, project: &ProjectUsage) -> String {
    let room = (context.table_columns / 3).clamp(16, 48);
    let mut table = Table::new(&SESSION_COLUMNS, room);
    let shown = if context.verbose { usize::MAX } else { SHOWN };
    for session in project.sessions.iter().take(shown) {
        let mut cells = vec![
            Cell::from(short_id(&session.id)),
            age(session.modified, context.now).into(),
        ];
        cells.extend(size_cells(&session.sizes));
        cells.push(name_of(context, session).into());
        table.push(cells);
    }
    let mut text = table.render(context.table_columns);
    more(&mut text, project.sessions.len(), shown);
    let sizes = project.sizes();
    let number = plural(project.sessions.len() as u64, "session", "sessions");
    text.push_str(&wrap_message(
        &summary(&number, &sizes),
        context.table_columns,
    ));
    text.push_str(&repeated(context, project.duplicates));
    if !project.sessions.is_empty() {
        text.push_str("\nTo free space:\n");
        text.push_str("  ccsurgery rm SESSION             remove a session\n");
        text.push_str("  ccsurgery rm --older-than 60d    remove old sessions\n");
        text.push_str("  ccsurgery drop-hidden SESSION    remove what is not shown\n");
    }
    text
}

fn name_of(context: &Context, session: &SessionUsage) -> String {
    let name = glance(&session.path).map(|o| o.name());
    name.map(|n| context.words(&n)).unwrap_or_default()
}

fn everything(context: &Context, usage: &Usage) -> String {
    let room = (context.table_columns / 2).clamp(20, 80);
    let mut table = Table::new(&PROJECT_COLUMNS, room);
    let shown = if context.verbose { usize::MAX } else { SHOWN };
    for project in usage.projects.iter().take(shown) {
        let mut cells = vec![Cell::from(project.sessions.len().to_string())];
        cells.extend(size_cells(&project.sizes()));
        cells.push(project_name(context, project).into());
        table.push(cells);
    }
    let mut text = table.render(context.table_columns);
    more(&mut text, usage.projects.len(), shown);
    let mut all = usage.other.clone();
    let mut sessions = 0;
    for project in &usage.projects {
        all.add_all(&project.sizes());
        sessions += project.sessions.len() as u64;
    }
    let number = format!(
        "{} in {}",
        plural(sessions, "session", "sessions"),
        plural(usage.projects.len() as u64, "project", "projects")
    );
    text.push_str(&wrap_message(
        &summary(&number, &all),
        context.table_columns,
    ));
    let mut forks = Duplicates::default();
    for project in &usage.projects {
        forks.bytes += project.duplicates.bytes;
        forks.sessions += project.duplicates.sessions;
        forks.is_partial |= project.duplicates.is_partial;
    }
    text.push_str(&repeated(context, forks));
    if usage.linked > 0 {
        let linked = bytes(usage.linked);
        let _ = writeln!(
            text,
            "copies share {linked} of these files on the disk; they are counted once"
        );
    }
    text.push_str(&advice(context, usage));
    text
}

/// Describes what forks repeat.
fn repeated(context: &Context, forks: Duplicates) -> String {
    if forks.bytes == 0 {
        return String::new();
    }
    let least = if forks.is_partial { "at least " } else { "" };
    let text = format!(
        "{} are forks, and repeat {least}{} of each other's messages; to remove one: ccsurgery rm SESSION",
        plural(forks.sessions as u64, "session", "sessions"),
        bytes(forks.bytes)
    );
    wrap(&text, context.columns).join("\n") + "\n"
}

/// Returns the project's path, as its newest session names it.
fn project_name(context: &Context, project: &ProjectUsage) -> String {
    let newest = project.sessions.iter().max_by_key(|s| s.modified);
    let cwd = newest.and_then(|s| glance(&s.path).ok()?.cwd);
    let path = cwd.map_or_else(|| project.folder.clone(), Into::into);
    let gone = if path.is_dir() { "" } else { "  (gone)" };
    let path = short_path(&path, context.home.as_deref(), usize::MAX);
    format!("{}{gone}", clean(&path))
}

fn more(text: &mut String, all: usize, shown: usize) {
    if all > shown {
        let line = format!("… and {} more (-v shows all)", all - shown);
        text.push_str(&paint(DIM, line));
        text.push('\n');
    }
}

/// Describes bytes by kind, the most first.
fn summary(number: &str, sizes: &Sizes) -> String {
    let mut kinds: Vec<(UsageKind, u64)> = sizes.0.iter().map(|(&k, &n)| (k, n)).collect();
    kinds.retain(|(_, len)| *len > 0);
    kinds.sort_by_key(|&(kind, len)| (std::cmp::Reverse(len), kind));
    let parts: Vec<String> = kinds
        .into_iter()
        .map(|(kind, len)| format!("{} {}", kind.name(), bytes(len)))
        .collect();
    let heading = paint(BOLD, format!("{number}, {}", bytes(sizes.total())));
    format!("\n{heading}: {}\n", parts.join(" · "))
}

/// Describes what can be freed, each with the command that frees it.
fn advice(context: &Context, usage: &Usage) -> String {
    let mut text = String::new();
    let orphans: u64 = usage.orphans.iter().map(|o| o.len).sum();
    if !usage.orphans.is_empty() {
        let mut kinds: BTreeMap<UsageKind, u64> = BTreeMap::new();
        for orphan in &usage.orphans {
            *kinds.entry(orphan.kind).or_default() += orphan.len;
        }
        let kinds: Vec<String> = kinds
            .into_iter()
            .map(|(kind, len)| format!("{} {}", kind.name(), bytes(len)))
            .collect();
        let files = plural(usage.orphans.len() as u64, "file", "files");
        let _ = writeln!(
            text,
            "\n{files} of sessions that no longer exist, {}: {}\n  to remove them: ccsurgery rm --orphans",
            bytes(orphans),
            kinds.join(" · ")
        );
    }
    let old = std::time::Duration::from_secs(60 * 86_400);
    let sessions = usage.projects.iter().flat_map(|p| &p.sessions);
    let is_old = |s: &&SessionUsage| {
        let age = context.now.duration_since(s.modified);
        age.is_ok_and(|age| age > old)
    };
    let (number, len) = sessions.filter(is_old).fold((0, 0), |(number, len), s| {
        (number + 1, len + s.sizes.total())
    });
    if number > 0 {
        let _ = writeln!(
            text,
            "\n{} not written for 60 days, {}\n  to remove them: ccsurgery rm --older-than 60d --all",
            plural(number, "session", "sessions"),
            bytes(len)
        );
    }
    if let Some(largest) = usage.projects.first() {
        let newest = largest.sessions.iter().max_by_key(|s| s.modified);
        if let Some(cwd) = newest.and_then(|s| glance(&s.path).ok()?.cwd)
            && Path::new(&cwd).is_dir()
        {
            let _ = writeln!(
                text,
                "\nthe largest project by session: ccsurgery du --project {}",
                clean(&quoted(&cwd))
            );
        }
    }
    text
}

#[derive(Serialize)]
struct Document {
    schema: u32,
    bytes: u64,
    projects: Vec<ProjectRow>,
    #[serde(skip_serializing_if = "Option::is_none")]
    orphans: Option<Vec<OrphanRow>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    shared_bytes: Option<u64>,
}

#[derive(Serialize)]
struct ProjectRow {
    folder: String,
    bytes: u64,
    kinds: BTreeMap<&'static str, u64>,
    /// Bytes of messages that forks repeat.
    duplicated_bytes: u64,
    sessions: Vec<SessionRow>,
}

#[derive(Serialize)]
struct SessionRow {
    session_id: String,
    path: String,
    bytes: u64,
    kinds: BTreeMap<&'static str, u64>,
}

#[derive(Serialize)]
struct OrphanRow {
    path: String,
    kind: &'static str,
    bytes: u64,
}

impl Document {
    fn of(usage: &Usage, all: bool) -> Self {
        let text = |path: &Path| path.to_string_lossy().into_owned();
        let session = |s: &SessionUsage| SessionRow {
            session_id: s.id.clone(),
            path: text(&s.path),
            bytes: s.sizes.total(),
            kinds: kinds_of(&s.sizes),
        };
        let project = |p: &ProjectUsage| ProjectRow {
            folder: text(&p.folder),
            bytes: p.sizes().total(),
            kinds: kinds_of(&p.sizes()),
            duplicated_bytes: p.duplicates.bytes,
            sessions: p.sessions.iter().map(session).collect(),
        };
        let orphan = |o: &Orphan| OrphanRow {
            path: text(&o.path),
            kind: o.kind.name(),
            bytes: o.len,
        };
        let projects: Vec<ProjectRow> = usage.projects.iter().map(project).collect();
        let other = if all { usage.other.total() } else { 0 };
        Self {
            schema: 1,
            bytes: projects.iter().map(|p| p.bytes).sum::<u64>() + other,
            projects,
            orphans: all.then(|| usage.orphans.iter().map(orphan).collect()),
            shared_bytes: all.then_some(usage.linked),
        }
    }
}

fn kinds_of(sizes: &Sizes) -> BTreeMap<&'static str, u64> {
    sizes.0.iter().map(|(k, &len)| (k.name(), len)).collect()
}
