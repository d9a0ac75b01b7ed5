//! The flow of every command that writes: operate, verify, preview, ask, publish, report.

mod job;
mod outcome;
mod prepare;
mod publish;

use std::fmt::Write as _;
use std::io::{self, Write as _};
use std::process::ExitCode;

use crate::render::{YELLOW, clean, fit, paint, short_id};
use crate::store;
use crate::surgery::Verified;

use super::context::Context;
use super::error::CliError;
use super::progress::Progress;
use super::question::Question;
use super::report::{self, Report};

pub(super) use job::{Applied, Destination, Job, Task};
pub(super) use outcome::Outcome;
pub(super) use prepare::is_unseen;
use prepare::prepare;
use publish::{notes_of, publish, stream};

/// Runs a job to its end.
pub(super) fn run(context: &mut Context, job: Job<'_>) -> Result<ExitCode, CliError> {
    with_outcome(context, job, |context, task, verified, outcome| {
        if outcome.is_idle(task) {
            return nothing_to_do(context, task, verified);
        }
        let mut report = Report::new(task, verified, outcome);
        tolerate_closed_pipe(report.show_preview(context))?;
        if task.write.dry_run {
            report.write_page(context)?;
            tolerate_closed_pipe(report.show_dry_run(context))?;
            return Ok(ExitCode::SUCCESS);
        }
        if task.destination == Destination::InPlace {
            confirm(context, task)?;
        }
        let progress = Progress::start(context.progress, "writing");
        progress.watch(verified.written(), report.written_len());
        let published = publish(context, task, verified, outcome)?;
        progress.done();
        if let Some(metadata) = task
            .destination
            .transcript()
            .and_then(|p| p.metadata().ok())
        {
            report.set_written(metadata.len());
        }
        for note in notes_of(published.as_ref()) {
            context.tell(&note);
        }
        // The session is written: a report that cannot be must not look like a failure of that.
        if let Err(error) = report.write_page(context) {
            let note = paint(YELLOW, "note:");
            context.tell(&format!(
                "{note} the report was not written: {}",
                error.message
            ));
        }
        let printed = report.show_done(context);
        context.end_report(printed);
        Ok(ExitCode::SUCCESS)
    })
}

/// Returns what a job would do, as a dry run shows it, and whether that is nothing.
pub(super) fn preview(context: &mut Context, job: Job<'_>) -> Result<(String, bool), CliError> {
    with_outcome(context, job, |context, task, verified, outcome| {
        if outcome.is_idle(task) {
            return Ok((idle_text(context, task, verified), true));
        }
        let report = Report::new(task, verified, outcome);
        Ok((report.text(context), false))
    })
}

/// Carries a job out without a word, and returns what was made; `None` if there was nothing to do.
pub(super) fn apply(context: &mut Context, job: Job<'_>) -> Result<Option<Applied>, CliError> {
    with_outcome(context, job, |context, task, verified, outcome| {
        if outcome.is_idle(task) {
            return Ok(None);
        }
        let report = Report::new(task, verified, outcome);
        let published = publish(context, task, verified, outcome)?;
        let notes = notes_of(published.as_ref());
        let operation = published.map(|p| p.operation.id).unwrap_or_default();
        Ok(Some(report.applied(context, operation, notes)))
    })
}

/// Operates and verifies, and hands over what came of it.
fn with_outcome<T>(
    context: &mut Context,
    mut job: Job<'_>,
    then: impl FnOnce(&mut Context, &Task<'_>, &Verified, &Outcome<'_>) -> Result<T, CliError>,
) -> Result<T, CliError> {
    let brought = std::mem::take(&mut job.brought);
    let progress = Progress::start(context.progress, "planning");
    let (task, surgery, copy) = prepare(context, job)?;
    let operated = surgery.operate()?;
    progress.phase("checking");
    let verified = operated.verify()?;
    let outcome = Outcome::new(context, &task, &verified, copy, brought)?;
    progress.done();
    then(context, &task, &verified, &outcome)
}

/// A reader that closed the pipe does not stop the work that was asked for.
fn tolerate_closed_pipe(written: io::Result<()>) -> io::Result<()> {
    match written {
        Err(error) if error.kind() == io::ErrorKind::BrokenPipe => Ok(()),
        written => written,
    }
}

fn confirm(context: &mut Context, task: &Task<'_>) -> Result<(), CliError> {
    let text = format!(
        "Rewrite {} in place? The old bytes are kept for `ccsurgery undo`.",
        clean(&task.found.id)
    );
    let question = Question {
        yes: task.in_place.yes,
        reason: "--in-place rewrites the session",
        otherwise: "leave out --in-place to write a new session",
        text: &text,
    };
    question.ask(context)
}

/// Reports that there is nothing to do, and why if that is known. The transcript still goes to the file or the
/// stream that was asked for.
fn nothing_to_do(
    context: &mut Context,
    task: &Task<'_>,
    verified: &Verified,
) -> Result<ExitCode, CliError> {
    let to_stdout = task.destination == Destination::Stdout && !task.write.dry_run;
    if let (Destination::File(path), false) = (&task.destination, task.write.dry_run) {
        store::write_file(path, verified, None)?;
    }
    if to_stdout {
        context
            .err
            .write_all(idle_text(context, task, verified).as_bytes())?;
        stream(verified, None)?;
    } else if context.json {
        report::print_idle(context, task, verified)?;
    } else {
        context
            .out
            .write_all(idle_text(context, task, verified).as_bytes())?;
    }
    Ok(ExitCode::SUCCESS)
}

fn idle_text(context: &Context, task: &Task<'_>, verified: &Verified) -> String {
    let title = fit(&context.words(task.overview.name()), 60);
    let id = short_id(&task.found.id);
    let why = match &task.idle {
        Some(idle) => format!("in {id} “{title}” {idle}"),
        None => format!(
            "{} finds nothing to change in {id} “{title}”",
            task.operation
        ),
    };
    let written = match &task.destination {
        Destination::File(path) if !task.write.dry_run => {
            format!("{} is an unchanged copy", clean(&path.to_string_lossy()))
        }
        _ => "Nothing was written".to_owned(),
    };
    let mut text = format!("Nothing to do: {why}.\n{written}.\n");
    for reason in &verified.operated().record().warnings {
        let note = paint(YELLOW, "note:");
        let _ = writeln!(text, "{note} {}", clean(reason));
    }
    text
}
