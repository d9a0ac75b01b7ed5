use std::collections::BTreeSet;
use std::io::{Read, Write as _};
use std::path::{Path, PathBuf};
use std::process::ExitCode;

use clap::Args;
use serde::Serialize;

use crate::render::{BOLD, YELLOW, bytes, clean, clean_lines, fit, paint, short_path};
use crate::store::{
    Arrivals, BundleError, BundledSession, Limits, Locator, Manifest, Operation, Passphrase,
    Retention, Sessions, Staging, Travel, kept_time, real_path, running, unpack,
};
use crate::surgery::PathMap;
use crate::view::SessionText;

use super::super::context::Context;
use super::super::destination::Resume;
use super::super::error::{CliError, ErrorKind};
use super::super::names;
use super::super::operations::plural;
use super::super::passphrase::PassphraseArgs;
use super::super::report::SCHEMA;
use super::super::shell::Shell;

/// Unpack sessions from another machine or from a colleague
///
/// Takes a file that `ccsurgery bundle` wrote. Everything in it is checked before anything is written. Paths are changed to
/// those of this machine: the home folder, the project's folder, and the session's own files, also between Windows and
/// Unix. A session keeps its id, unless a session here has the same id. `ccsurgery undo` takes the import back.
///
/// Claude Code reads an imported session like one of your own, and acts on what was said in it: import only what you trust.
#[derive(Debug, Args)]
#[command(
    after_help = "Examples:\n  ccsurgery import talk.ccbundle -n                    what is in it, and where it would go\n  ccsurgery import talk.ccbundle --to-project ~/app\n  ccsurgery import all.ccbundle --map 'C:\\Users\\ada\\src=/home/ada/src'"
)]
pub(crate) struct ImportArgs {
    /// The bundle; `-` for standard input
    #[arg(value_name = "FILE")]
    file: PathBuf,
    /// The project's folder on this machine
    #[arg(long, value_name = "DIR")]
    to_project: Option<PathBuf>,
    /// Replace a folder of the other machine by one of this machine [repeatable]
    #[arg(long, value_name = "OLD=NEW", value_parser = pair)]
    map: Vec<(String, String)>,
    #[command(flatten)]
    passphrase: PassphraseArgs,
    /// Show what is in the bundle and where it would go, and write nothing
    #[arg(short = 'n', long)]
    dry_run: bool,
}

fn pair(text: &str) -> Result<(String, String), String> {
    match text.split_once('=') {
        Some((old, new)) if !old.is_empty() && !new.is_empty() => {
            Ok((old.to_owned(), new.to_owned()))
        }
        _ => Err("write OLD=NEW, the folder there and the folder here".to_owned()),
    }
}

pub(crate) fn run(args: &ImportArgs, context: &mut Context) -> Result<ExitCode, CliError> {
    if !args.dry_run {
        context.recover()?;
    }
    // A dry run leaves nothing behind in the state folder.
    let temp = std::env::temp_dir();
    let state = if args.dry_run {
        &temp
    } else {
        context.journal.root()
    };
    let staging = Staging::new(state)?;
    let manifest = unpacked(args, &staging)?;
    let map = map_of(args, context, &manifest)?;
    let from = staging.config();
    let config = context.config.clone();
    let travel = Travel {
        from: &from,
        to: &config,
        manifest: &manifest,
        map: &map,
    };
    let here = context.project.to_string_lossy().into_owned();
    let project_of = |session: &BundledSession| match &session.project {
        Some(project) => map.map(project).unwrap_or_else(|| project.clone()),
        None => here.clone(),
    };
    let arrivals = Arrivals::find(travel, &taken(context)?, project_of, uuid::Uuid::new_v4)?;
    if let Some(stray) = arrivals.strays.first() {
        let text = format!("{stray:?} belongs to no session");
        return Err(BundleError::Hostile(text).into());
    }
    if !context.json && (!context.quiet || args.dry_run) {
        preview(context, &manifest, &arrivals)?;
    }
    if args.dry_run {
        return report(context, args, &arrivals, None);
    }
    let (now, period) = (context.now, Retention::of(&config).period);
    let time = |time| {
        let time = std::cmp::min(time, now);
        period.map_or(time, |period| kept_time(time, now, period))
    };
    let provenance = context.provenance("import");
    let sessions = Sessions::new(&context.journal);
    let done = arrivals.publish(&sessions, &provenance, time, uuid::Uuid::new_v4)?;
    report(context, args, &arrivals, Some(&done))
}

/// Unpacks and checks the bundle.
fn unpacked(args: &ImportArgs, staging: &Staging) -> Result<Manifest, CliError> {
    let mut refusal = None;
    let passphrase = || -> Option<Passphrase> {
        args.passphrase
            .enter()
            .map_err(|error| refusal = Some(error))
            .ok()
    };
    let input: Box<dyn Read> = if args.file == Path::new("-") {
        Box::new(std::io::stdin().lock())
    } else {
        crate::store::check_readable(&args.file).map_err(CliError::unreadable)?;
        Box::new(fs_err::File::open(&args.file).map_err(CliError::unreadable)?)
    };
    let read = unpack(input, passphrase, Limits::default(), staging);
    match (read, refusal) {
        (Err(BundleError::Encrypted), Some(refusal)) => Err(refusal),
        (read, _) => Ok(read?),
    }
}

/// Returns what folders of the other machine are called here. Every project gets a folder that exists.
fn map_of(args: &ImportArgs, context: &Context, manifest: &Manifest) -> Result<PathMap, CliError> {
    let home = manifest.source.home.clone();
    let own = context
        .home
        .as_ref()
        .map(|h| h.to_string_lossy().into_owned());
    let general: Vec<(String, String)> = args.map.iter().cloned().chain(home.zip(own)).collect();
    let map = PathMap::new(general.clone());
    let projects = manifest.sessions.iter().filter_map(|s| s.project.clone());
    let projects: BTreeSet<String> = projects.collect();
    let mut rules = Vec::new();
    match &args.to_project {
        Some(_) if projects.len() > 1 => {
            let list: Vec<String> = projects.iter().map(|p| clean(p)).collect();
            return Err(CliError::usage(
                ErrorKind::Usage,
                format!(
                    "the bundle has sessions of several projects: {}",
                    list.join(", ")
                ),
                "lead each to its folder with --map OLD=NEW",
            ));
        }
        Some(dir) => {
            let folder = existing(dir)?;
            rules.extend(projects.into_iter().map(|p| (p, folder.clone())));
        }
        None => {
            for project in projects {
                let here = map.map(&project).unwrap_or_else(|| project.clone());
                let folder = existing(Path::new(&here))?;
                rules.push((project, folder));
            }
        }
    }
    Ok(PathMap::new(rules.into_iter().chain(general)))
}

/// Returns the real path of a folder, which must exist: Claude Code names projects by that.
fn existing(dir: &Path) -> Result<String, CliError> {
    match real_path(dir) {
        Ok(path) if path.is_dir() => Ok(path.to_string_lossy().into_owned()),
        _ => Err(CliError::refused(
            ErrorKind::NoSuchProject,
            format!(
                "the project's folder `{}` does not exist here",
                clean(&dir.to_string_lossy())
            ),
            "name the folder with --to-project DIR, or lead folders elsewhere with --map OLD=NEW. Nothing was written",
        )),
    }
}

/// Returns the ids that sessions of the config folder have, or that running clients are about to write.
fn taken(context: &Context) -> Result<BTreeSet<String>, CliError> {
    let mut ids: BTreeSet<String> = running(&context.config).into_keys().collect();
    if context.config.projects().is_dir() {
        let all = Locator::new(&context.config, &context.project).all();
        let all = all.map_err(|e| names::explain(context, e))?;
        ids.extend(all.into_iter().map(|f| f.id));
    }
    Ok(ids)
}

fn preview(
    context: &mut Context,
    manifest: &Manifest,
    arrivals: &Arrivals<'_>,
) -> Result<(), CliError> {
    let mut out = Vec::new();
    let total = arrivals.sessions.iter().map(crate::store::Arrival::len);
    let number = plural(arrivals.sessions.len() as u64, "session", "sessions");
    let heading = format!("import  {number}, {}", bytes(total.sum()));
    writeln!(out, "{}", paint(BOLD, heading))?;
    let shown = if context.verbose { usize::MAX } else { 20 };
    let home = context.home.clone();
    let room = context.columns.saturating_sub(50).max(16);
    for (arrival, session) in arrivals.sessions.iter().zip(&manifest.sessions).take(shown) {
        let id: String = session.id.chars().take(8).collect();
        let name = fit(&context.words(&arrival.title), room);
        let project = short_path(Path::new(&arrival.project), home.as_deref(), 40);
        writeln!(out, "  {}  “{name}”  {}", clean(&id), clean(&project))?;
        if let Some(from) = session.project.as_ref().filter(|p| **p != arrival.project) {
            writeln!(out, "            was in {}", clean(from))?;
        }
        if arrival.is_renamed() {
            writeln!(out, "            the id is taken here; it gets a fresh one")?;
        }
    }
    if arrivals.sessions.len() > shown {
        let rest = arrivals.sessions.len() - shown;
        writeln!(out, "  … and {rest} more (-v lists all)")?;
    }
    let note = paint(YELLOW, "note:");
    if !arrivals.memory.is_empty() {
        let files = plural(arrivals.memory.len() as u64, "file", "files");
        writeln!(
            out,
            "{note} {files} of memory, which Claude Code will read in every session of the project"
        )?;
    }
    for path in &arrivals.kept {
        let path = short_path(path, home.as_deref(), 60);
        writeln!(out, "{note} another {} is here, and stays", clean(&path))?;
    }
    if !arrivals.left_out.is_empty() {
        let files = plural(arrivals.left_out.len() as u64, "file", "files");
        writeln!(
            out,
            "{note} {files} of logs and environment scripts stay out"
        )?;
    }
    Ok(context.show_plan(&String::from_utf8_lossy(&out))?)
}

#[derive(Serialize)]
struct Document<'a> {
    schema: u32,
    operation: &'static str,
    dry_run: bool,
    id: Option<&'a str>,
    sessions: Vec<Row<'a>>,
    memory: Vec<String>,
    kept: Vec<String>,
    left_out: &'a [String],
}

#[derive(Serialize)]
struct Row<'a> {
    session_id: &'a str,
    source_id: &'a str,
    title: SessionText,
    project: &'a str,
    path: String,
    bytes: u64,
    files: usize,
    resume: Option<String>,
}

fn report(
    context: &mut Context,
    args: &ImportArgs,
    arrivals: &Arrivals<'_>,
    done: Option<&Operation>,
) -> Result<ExitCode, CliError> {
    let text = |path: &Path| path.to_string_lossy().into_owned();
    let folder = context.working_folder.clone();
    let rows: Vec<Row<'_>> = arrivals
        .sessions
        .iter()
        .map(|s| Row {
            session_id: &s.new_id,
            source_id: &s.found.id,
            title: s.title.as_str().into(),
            project: &s.project,
            path: text(&s.target),
            bytes: s.len(),
            files: s.files.len() + 1,
            resume: Resume::in_project(
                &s.new_id,
                Some(Path::new(&s.project)),
                &folder,
                Shell::current(),
            )
            .command,
        })
        .collect();
    let printed = if context.json {
        let document = Document {
            schema: SCHEMA,
            operation: "import",
            dry_run: args.dry_run,
            id: done.map(|o| o.id.as_str()),
            sessions: rows,
            memory: arrivals.memory.iter().map(|(_, to)| text(to)).collect(),
            kept: arrivals.kept.iter().map(|p| text(p)).collect(),
            left_out: &arrivals.left_out,
        };
        let document = context.presenter().json(&document);
        context.print_json(&document)
    } else if done.is_some() {
        let commands: Vec<String> = rows.into_iter().filter_map(|r| r.resume).collect();
        let number = plural(commands.len() as u64, "session", "sessions");
        context.tell(&format!(
            "Imported {number}. To take it back: ccsurgery undo"
        ));
        context.tell("Resume with:");
        let commands = commands.iter().map(|c| clean_lines(c));
        writeln!(context.out, "{}", commands.collect::<Vec<_>>().join("\n"))
    } else {
        writeln!(context.out, "Dry run: nothing was written.")
    };
    if done.is_some() {
        context.end_report(printed);
    } else {
        printed?;
    }
    Ok(ExitCode::SUCCESS)
}
