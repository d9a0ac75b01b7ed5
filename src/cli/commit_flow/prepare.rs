//! Decides where a result goes, refuses what would fail at the end, and prepares the surgery.

use std::io;

use uuid::Uuid;

use crate::cli::context::Context;
use crate::cli::error::CliError;
use crate::cli::{destination, names, report_page};
use crate::store::{self, CopySource};
use crate::surgery::{CopyNames, Detail, Surgery, title_for};
use crate::view::Overview;

use super::job::{Destination, Job, Task};

/// How a result becomes a copy.
pub(super) enum Copying {
    /// A session of its own, with files of its own.
    Session(CopySource),
    /// A transcript alone, written to a file or a stream.
    Transcript(CopyNames),
}

impl Copying {
    fn names(&self) -> &CopyNames {
        match self {
            Copying::Session(source) => source.names(),
            Copying::Transcript(names) => names,
        }
    }
}

/// Decides where the result goes, and prepares the surgery.
pub(super) fn prepare<'a>(
    context: &Context,
    mut job: Job<'a>,
) -> Result<(Task<'a>, Surgery<'a>, Option<Copying>), CliError> {
    let held_in = names::project_of(&job.session, job.found.folder());
    let destination = destination::choose(context, &mut job)?;
    refuse_live(context, &job)?;
    refuse_target(&destination)?;
    report_page::refuse_existing(job.write.report.as_deref())?;
    let copy = copying(context, &job, &destination)?;
    let task = Task {
        operation: job.operation,
        overview: Overview::of(&job.session),
        project: job.to_project.or(held_in),
        found: job.found,
        write: job.write,
        in_place: job.in_place,
        steps: job.steps,
        idle: job.idle,
        subagents: job.for_subagents,
        stamp: job.stamp,
        destination,
    };
    let mut surgery = Surgery::on(job.session)
        .then_all(job.transforms)
        .recording(detail(context, &task));
    if let Some(copy) = &copy {
        surgery = surgery.as_copy(copy.names().clone());
    }
    let given = task.write.title.clone();
    let made_up = || {
        copy.is_some()
            .then(|| title_for(&task.overview, task.operation))
    };
    if let Some(title) = given.or_else(made_up) {
        surgery = surgery.titled(title);
    }
    if task.write.diff.is_some() || task.write.report.is_some() {
        surgery = surgery.keeping_original();
    }
    Ok((task, surgery, copy))
}

/// How much of what happens somebody will read.
fn detail(context: &Context, task: &Task<'_>) -> Detail {
    if context.json || context.verbose {
        Detail::Full
    } else if is_unseen(context, task) && task.write.report.is_none() {
        Detail::None
    } else {
        Detail::Grouped
    }
}

/// Whether nobody is shown what would happen.
pub(in crate::cli) fn is_unseen(context: &Context, task: &Task<'_>) -> bool {
    context.json || context.quiet && !task.write.dry_run
}

fn copying(
    context: &Context,
    job: &Job<'_>,
    destination: &Destination,
) -> Result<Option<Copying>, CliError> {
    match destination {
        Destination::New(target) => {
            let target = target.clone();
            let source = CopySource::gather(
                &context.config,
                &job.found,
                &job.session,
                target,
                Uuid::new_v4,
            )?;
            Ok(Some(Copying::Session(source)))
        }
        Destination::File(_) | Destination::Stdout if job.operation == "clone" => {
            let folder = job.found.folder().file_name().unwrap_or_default();
            let folder = folder.to_string_lossy().into_owned();
            Ok(Some(Copying::Transcript(CopyNames {
                old_id: job.found.id.clone(),
                new_id: Uuid::new_v4(),
                folders: (folder.clone(), folder),
                ..CopyNames::default()
            })))
        }
        _ => Ok(None),
    }
}

/// Refuses at once, and in a preview too, what would fail at the end.
fn refuse_target(destination: &Destination) -> Result<(), CliError> {
    let Destination::File(path) = destination else {
        return Ok(());
    };
    if path.symlink_metadata().is_ok() {
        return Err(store::PublishError::Exists { path: path.clone() }.into());
    }
    let Some(folder) = path.parent().filter(|f| !f.as_os_str().is_empty()) else {
        return Ok(());
    };
    use io::ErrorKind::{NotADirectory, NotFound};
    match fs_err::metadata(folder) {
        Ok(metadata) if metadata.is_dir() => Ok(()),
        Err(e) if !matches!(e.kind(), NotFound | NotADirectory) => Err(e.into()),
        _ => Err(CliError::failed(
            "no-such-folder",
            format!("there is no folder `{}`", folder.display()),
            "create it first, or choose another",
        )),
    }
}

/// Refuses to rewrite a session that a running client has open: it would write on as if nothing had happened.
fn refuse_live(context: &Context, job: &Job<'_>) -> Result<(), CliError> {
    if !job.in_place.in_place || job.in_place.allow_live || job.write.dry_run {
        return Ok(());
    }
    match store::live(&context.config, &job.found.id) {
        Some(live) => Err(CliError::refused(
            "live",
            format!(
                "session {} is open in Claude Code (process {})",
                job.found.id, live.pid
            ),
            "leave Claude Code first, or leave out --in-place to write a new session; --allow-live overrides",
        )),
        None => Ok(()),
    }
}
