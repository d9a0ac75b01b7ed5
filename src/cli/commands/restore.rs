use std::io::Write as _;
use std::path::{Path, PathBuf};
use std::process::ExitCode;

use clap::Args;
use serde::Serialize;

use crate::render::{BOLD, clean, clean_lines, paint};
use crate::store::{
    ArchiveList, Archived, Archives, BundleError, Limits, Operation, Restoration, Retention,
    Sessions, Staging, kept_time, unpack,
};

use super::super::context::Context;
use super::super::destination::Resume;
use super::super::error::{Candidate, CliError, ErrorKind};
use super::super::operations::plural;
use super::super::report::SCHEMA;
use super::super::shell::Shell;
use super::archive::archives;

/// Bring archived sessions back
///
/// Puts every file back into its place, byte for byte and with the same ids. Files get times that keep Claude Code from
/// deleting them because of their age. Nothing that exists is overwritten. It is one change, which `ccsurgery undo` takes
/// back; the archive stays where it is.
#[derive(Debug, Args)]
#[command(
    after_help = "Examples:\n  ccsurgery archive --list     what is archived\n  ccsurgery restore 5e55\n  ccsurgery restore 5e55 -n    what would come back"
)]
pub(crate) struct RestoreArgs {
    /// The archives: the session's id or its first 4 characters or more, its title or a part of it, or a path to the file
    #[arg(value_name = "NAME", required = true)]
    names: Vec<String>,
    /// The folder of archives [default: `archive` in the state folder]
    #[arg(long, value_name = "DIR")]
    from: Option<PathBuf>,
    /// Show what would come back, and change nothing
    #[arg(short = 'n', long)]
    dry_run: bool,
}

pub(crate) fn run(args: &RestoreArgs, context: &mut Context) -> Result<ExitCode, CliError> {
    if !args.dry_run {
        context.recover()?;
    }
    let archives = archives(context, args.from.as_deref())?;
    let mut paths: Vec<PathBuf> = Vec::new();
    for name in &args.names {
        let path = find(context, &archives, name)?;
        if !paths.contains(&path) {
            paths.push(path);
        }
    }
    let temp = std::env::temp_dir();
    let mut restoration = Restoration::default();
    // The unpacked files are needed until everything is done.
    let mut unpacked = Vec::new();
    for path in &paths {
        let state = if args.dry_run {
            &temp
        } else {
            context.journal.root()
        };
        let staging = Staging::new(state)?;
        let file = fs_err::File::open(path).map_err(CliError::unreadable)?;
        let manifest = unpack(file, || None, Limits::default(), &staging)?;
        restoration.add(&staging.config(), &context.config, &manifest)?;
        unpacked.push(staging);
    }
    check(&restoration)?;
    if args.dry_run || restoration.is_empty() {
        return report(context, args, &restoration, None);
    }
    let (now, period) = (context.now, Retention::of(&context.config).period);
    let time = |time| {
        let time = std::cmp::min(time, now);
        period.map_or(time, |period| kept_time(time, now, period))
    };
    let provenance = context.provenance("restore");
    let sessions = Sessions::new(&context.journal);
    let done = restoration.publish(&sessions, &provenance, time)?;
    report(context, args, &restoration, Some(&done))
}

fn check(restoration: &Restoration) -> Result<(), CliError> {
    if let Some(stray) = restoration.strays.first() {
        let text = format!("{stray:?} is not a file of a session");
        return Err(BundleError::Hostile(text).into());
    }
    match restoration.taken.first() {
        None => Ok(()),
        Some(path) => Err(CliError::refused(
            ErrorKind::Exists,
            format!(
                "`{}` exists, and is not the archived one",
                clean(&path.to_string_lossy())
            ),
            "to have both, unpack the archive as a session of its own: ccsurgery import FILE. Nothing was written",
        )),
    }
}

/// Returns the error for a name that no archive has, or the reason why the archive that it may mean cannot be read.
fn not_found(name: &str, unreadable: Vec<(PathBuf, BundleError)>) -> CliError {
    let starts = |(path, _): &(PathBuf, BundleError)| {
        let file = path.file_stem().unwrap_or_default().to_string_lossy();
        file.starts_with(name)
    };
    if let Some((path, error)) = unreadable.into_iter().find(starts) {
        let path = clean(&path.to_string_lossy());
        return CliError::from(error).hint(format!("the archive is {path}; nothing was changed"));
    }
    CliError::failed(
        ErrorKind::NotFound,
        format!("no archive is called `{}`", clean(name)),
        "list them with: ccsurgery archive --list",
    )
}

/// Returns the archive that a name means.
fn find(context: &Context, archives: &Archives, name: &str) -> Result<PathBuf, CliError> {
    let is_path = name.contains(['/', std::path::MAIN_SEPARATOR])
        || Path::new(name).extension().is_some_and(|x| x == "ccbundle");
    if is_path {
        crate::store::check_readable(Path::new(name)).map_err(CliError::unreadable)?;
        return Ok(PathBuf::from(name));
    }
    let ArchiveList {
        archives: all,
        unreadable,
    } = archives.list()?;
    let wanted = name.to_lowercase();
    let is_id = |a: &&Archived| {
        let id = a.session().map(|s| s.id.as_str()).unwrap_or_default();
        a.name() == name || wanted.chars().count() >= 4 && id.starts_with(&wanted)
    };
    let is_title = |a: &&Archived| {
        let title = a.session().map(|s| s.title.to_lowercase());
        title.is_some_and(|t| t.contains(&wanted))
    };
    let mut fitting: Vec<&Archived> = all.iter().filter(is_id).collect();
    if let Some(exact) = fitting.iter().find(|a| a.name() == name) {
        return Ok(exact.path.clone());
    }
    if fitting.is_empty() {
        fitting = all.iter().filter(is_title).collect();
    }
    match &fitting[..] {
        [one] => Ok(one.path.clone()),
        [] => Err(not_found(name, unreadable)),
        several => {
            let mut error = CliError::failed(
                ErrorKind::Ambiguous,
                format!("`{}` fits {} archives", clean(name), several.len()),
                "give the whole name",
            );
            error.candidates = several.iter().map(|a| candidate(context, a)).collect();
            Err(error)
        }
    }
}

fn candidate(context: &Context, archived: &Archived) -> Candidate {
    let title = archived.session().map(|s| context.words(&s.title));
    let title = title.unwrap_or_default();
    Candidate {
        line: format!("{}  “{title}”", clean(&archived.name())),
        document: serde_json::json!({"name": archived.name(), "title": title}),
    }
}

#[derive(Serialize)]
struct Document<'a> {
    schema: u32,
    operation: &'static str,
    dry_run: bool,
    id: Option<&'a str>,
    sessions: Vec<Row<'a>>,
    files: usize,
    /// Files that were there already, as they are in the archive.
    same: usize,
}

#[derive(Serialize)]
struct Row<'a> {
    session_id: &'a str,
    path: String,
    project: Option<&'a str>,
    resume: Option<String>,
}

fn report(
    context: &mut Context,
    args: &RestoreArgs,
    restoration: &Restoration,
    done: Option<&Operation>,
) -> Result<ExitCode, CliError> {
    let folder = context.working_folder.clone();
    let rows: Vec<Row<'_>> = restoration
        .sessions
        .iter()
        .map(|s| Row {
            session_id: &s.found.id,
            path: s.found.path.to_string_lossy().into_owned(),
            project: s.project.as_deref(),
            resume: {
                let project = s.project.as_deref().map(Path::new);
                Resume::in_project(&s.found.id, project, &folder, Shell::current()).command
            },
        })
        .collect();
    let sessions = plural(rows.len() as u64, "session", "sessions");
    let files = plural(restoration.len() as u64, "file", "files");
    let printed = if context.json {
        context.print_json(&Document {
            schema: SCHEMA,
            operation: "restore",
            dry_run: args.dry_run,
            id: done.map(|o| o.id.as_str()),
            files: restoration.len(),
            same: restoration.same.len(),
            sessions: rows,
        })
    } else if done.is_some() {
        context.tell(&format!(
            "Restored {sessions}, {files}. To take it back: ccsurgery undo"
        ));
        context.tell("Resume with:");
        let commands = rows.into_iter().filter_map(|r| r.resume);
        let commands: Vec<String> = commands.map(|c| clean_lines(&c)).collect();
        writeln!(context.out, "{}", commands.join("\n"))
    } else if restoration.is_empty() {
        context.tell("Everything in it is back already; nothing was changed.");
        Ok(())
    } else {
        let heading = format!("restore  {sessions}, {files}");
        writeln!(context.out, "{}", paint(BOLD, heading))
            .and_then(|()| writeln!(context.out, "Dry run: nothing was changed."))
    };
    if done.is_some() {
        context.end_report(printed);
    } else {
        printed?;
    }
    Ok(ExitCode::SUCCESS)
}
