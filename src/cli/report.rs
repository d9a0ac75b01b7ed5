//! What is reported of an operation: the preview before it, what was made after it, and the JSON document.

mod document;

use std::borrow::Cow;
use std::fmt::Write as _;
use std::io::{self, Write as _};
use std::path::Path;

use crate::ops::ChosenStep;
use crate::render::{
    BOLD, FileAction, FileRow, Preview, SessionDiff, YELLOW, clean, clean_lines, fit, pad, paint,
    short_id, signed_bytes, tokens, width, wrap,
};
use crate::store::PlannedAction;
use crate::surgery::{Change, Figures, Verified};
use crate::view::Overview;

use super::args::DiffForm;
use super::commit_flow::{Applied, Destination, Outcome, Task, is_unseen};
use super::context::Context;
use super::destination::Resume;
use super::error::CliError;
use super::report_page;
use document::{OperationDocument, ResumeDocument, TargetDocument, source_document};

pub(super) use document::step_document;

/// The version of the JSON documents. It grows when a key changes its meaning or goes away.
pub(super) const SCHEMA: u32 = 1;

/// Everything that is reported of an operation.
pub(super) struct Report<'a> {
    task: &'a Task<'a>,
    verified: &'a Verified,
    changes: Cow<'a, [Change]>,
    figures: (Figures, Figures),
    files: Vec<FileRow>,
    renamed: usize,
    warnings: Vec<String>,
}

impl<'a> Report<'a> {
    pub(super) fn new(task: &'a Task<'a>, verified: &'a Verified, outcome: &Outcome<'_>) -> Self {
        let record = verified.operated().record();
        let mut changes = Cow::Borrowed(&record.changes[..]);
        if outcome.subagent_changes().next().is_some() {
            changes.to_mut().extend(outcome.subagent_changes().cloned());
        }
        let mut figures = verified.operated().figures();
        figures.1.bytes = outcome.transcript_len(verified);
        let files = match (outcome.copy(), &task.destination) {
            (Some(copy), _) => copy.planned_files().into_iter().map(file_row).collect(),
            (None, Destination::File(path)) => vec![FileRow {
                path: path.clone(),
                action: FileAction::Write,
                len: figures.1.bytes,
                what: "transcript",
            }],
            (None, _) => {
                let beside = outcome.beside().planned_files();
                beside.into_iter().map(file_row).collect()
            }
        };
        Self {
            task,
            verified,
            changes,
            figures,
            files,
            renamed: outcome.ids().map_or(0, crate::surgery::FreshIds::len),
            warnings: record
                .warnings
                .iter()
                .cloned()
                .chain(outcome.warnings())
                .collect(),
        }
    }

    /// The size of the transcript that is written.
    pub(super) fn written_len(&self) -> u64 {
        self.figures.1.bytes
    }

    /// Takes the size of the file that was written.
    pub(super) fn set_written(&mut self, len: u64) {
        self.figures.1.bytes = len;
    }

    /// Writes the page of the operation, if one was asked for.
    pub(super) fn write_page(&self, context: &mut Context) -> Result<(), CliError> {
        report_page::write_operation(
            context,
            self.task,
            self.verified,
            self.figures,
            &self.changes,
            &self.warnings,
        )
    }

    /// Shows what will happen.
    pub(super) fn show_preview(&self, context: &mut Context) -> io::Result<()> {
        if is_unseen(context, self.task) {
            return Ok(());
        }
        let text = self.text(context);
        // Standard output belongs to the transcript if that was asked for.
        if self.task.destination == Destination::Stdout && !self.task.write.dry_run {
            context.err.write_all(text.as_bytes())
        } else {
            context.out.write_all(text.as_bytes())?;
            context.out.flush()
        }
    }

    /// Returns what will happen, as text with colours.
    pub(super) fn text(&self, context: &Context) -> String {
        self.preview(context) + &self.diff(context)
    }

    /// Describes what was made.
    pub(super) fn applied(
        &self,
        context: &Context,
        operation: String,
        mut notes: Vec<String>,
    ) -> Applied {
        let (id, path) = self.target();
        let project = self.task.project.as_deref();
        let resume = Resume::of(context, &self.task.destination, &path, &id, project);
        notes.extend(resume.note);
        Applied {
            sentence: self.made(context, &path),
            project: project.map(Path::to_owned),
            resume: resume.command,
            id,
            path,
            operation,
            notes,
        }
    }

    fn preview(&self, context: &Context) -> String {
        let project = self.task.project.as_deref().unwrap_or(Path::new(""));
        Preview {
            operation: self.task.operation,
            session_id: &self.task.found.id,
            title: &self.task.overview.name(),
            project: &project.to_string_lossy(),
            before: self.figures.0,
            after: self.figures.1,
            steps: &self.steps(context.columns),
            changes: &self.changes,
            source: self.verified.session().document().source(),
            renamed: self.renamed,
            files: &self.files,
            warnings: &self.warnings,
            home: context.home.as_deref(),
            columns: context.columns,
            verbose: context.verbose,
            show_secrets: context.show_secrets,
        }
        .render()
    }

    fn diff(&self, context: &Context) -> String {
        let after = self.verified.session();
        let diff = SessionDiff {
            before: self.verified.operated().original().unwrap_or(after),
            after,
            columns: context.columns,
            show_secrets: context.show_secrets,
        };
        match self.task.write.diff {
            None => String::new(),
            Some(DiffForm::Words) => format!("\n{}", diff.words()),
            Some(DiffForm::Raw) => format!("\n{}", diff.raw()),
        }
    }

    /// The steps that the program chose, each with what it gives.
    fn steps(&self, columns: usize) -> String {
        let taken = &self.task.steps;
        if taken.is_empty() {
            return String::new();
        }
        let mut out = format!("{}\n", paint(BOLD, "The least harmful way"));
        let words: Vec<Vec<String>> = taken
            .iter()
            .map(|t| wrap(&t.step.words(), columns.saturating_sub(22).max(20)))
            .collect();
        let widest = words.iter().flatten().map(|w| width(w)).max().unwrap_or(0) as i32;
        for (taken, lines) in taken.iter().zip(&words) {
            for (i, line) in lines.iter().enumerate() {
                let figures = if i == 0 { gain(taken) } else { String::new() };
                let row = format!("  {}  {figures}", pad(line, widest));
                let _ = writeln!(out, "{}", row.trim_end());
            }
        }
        out
    }

    /// Ends a dry run.
    pub(super) fn show_dry_run(&self, context: &mut Context) -> io::Result<()> {
        if context.json {
            return context.print_json(&self.document(None, None));
        }
        writeln!(context.out, "\nDry run: nothing was written.")
    }

    /// Returns a sentence about what was made or changed.
    fn made(&self, context: &Context, path: &Path) -> String {
        let (id, _) = self.target();
        let id = short_id(&id);
        let title = Overview::of(self.verified.session()).name();
        let room = context.table_columns.saturating_sub(40).max(20);
        let title = fit(&context.words(&title), room);
        match self.task.destination {
            Destination::InPlace if path.starts_with(context.config.projects()) => {
                format!("Changed session {id} “{title}”.")
            }
            Destination::InPlace => format!("Changed {}.", clean(&path.to_string_lossy())),
            _ => format!("Created session {id} “{title}”."),
        }
    }

    /// Shows what was made, last the command to go on with.
    pub(super) fn show_done(&self, context: &mut Context) -> io::Result<()> {
        let (id, path) = self.target();
        let project = self.task.project.as_deref();
        let resume = Resume::of(context, &self.task.destination, &path, &id, project);
        if let Some(note) = &resume.note {
            context.tell(&format!("{} {note}", paint(YELLOW, "note:")));
        }
        let resume = resume.command;
        if context.json {
            if self.task.destination == Destination::Stdout {
                return Ok(());
            }
            let target = TargetDocument {
                session_id: id,
                path: lossy(&path),
                in_place: self.task.destination == Destination::InPlace,
                project: project.map(lossy),
            };
            let resume = resume.map(|command| ResumeDocument {
                command,
                cwd: project.map(lossy),
            });
            return context.print_json(&self.document(Some(target), resume));
        }
        match (&self.task.destination, resume) {
            (Destination::File(_) | Destination::Stdout, _) | (_, None) if context.quiet => Ok(()),
            (_, Some(resume)) if context.quiet => {
                writeln!(context.out, "{}", clean_lines(&resume))
            }
            (Destination::File(file), _) => {
                let file = clean(&file.to_string_lossy());
                writeln!(context.out, "\nWritten to {file}")
            }
            (Destination::Stdout, _) => Ok(()),
            (_, Some(resume)) => {
                let made = self.made(context, &path);
                writeln!(
                    context.out,
                    "\n{made} Resume it with:\n{}",
                    clean_lines(&resume)
                )
            }
            (_, None) => writeln!(context.out, "\n{}", self.made(context, &path)),
        }
    }

    /// The session that the result is, and its transcript.
    fn target(&self) -> (String, std::path::PathBuf) {
        let task = self.task;
        let path = task.destination.transcript();
        let path = path.unwrap_or_else(|| task.found.path.clone());
        let id = match &task.destination {
            Destination::New(target) => target.id.to_string(),
            Destination::InPlace | Destination::Stdout => task.found.id.clone(),
            Destination::File(_) => {
                let own = self.verified.session().session_id_text();
                own.unwrap_or_else(|| task.found.id.clone())
            }
        };
        (id, path)
    }

    fn document(
        &self,
        target: Option<TargetDocument>,
        resume: Option<ResumeDocument>,
    ) -> OperationDocument<'_> {
        OperationDocument {
            schema: SCHEMA,
            operation: self.task.operation,
            dry_run: self.task.write.dry_run,
            source: source_document(self.task),
            target,
            resume,
            before: self.figures.0,
            after: self.figures.1,
            changes: &self.changes,
            files: &self.files,
            warnings: self.warnings.clone(),
            steps: self.task.steps.iter().map(step_document).collect(),
        }
    }
}

/// Prints the document of an operation that had nothing to do.
pub(super) fn print_idle(
    context: &mut Context,
    task: &Task<'_>,
    verified: &Verified,
) -> io::Result<()> {
    let (figures, _) = verified.operated().figures();
    let idle = task.idle.as_deref().unwrap_or("nothing to do").to_owned();
    let reasons = verified.operated().record().warnings.iter().cloned();
    context.print_json(&OperationDocument {
        schema: SCHEMA,
        operation: task.operation,
        dry_run: task.write.dry_run,
        source: source_document(task),
        target: None,
        resume: None,
        before: figures,
        after: figures,
        changes: &[],
        files: &[],
        warnings: [idle].into_iter().chain(reasons).collect(),
        steps: Vec::new(),
    })
}

/// What a step saves, and the context window after it.
fn gain(taken: &ChosenStep) -> String {
    let (before, after) = taken.window;
    let gain = match after.cmp(&before) {
        std::cmp::Ordering::Less => format!("−{}", tokens(before - after)),
        std::cmp::Ordering::Greater => format!("+{}", tokens(after - before)),
        std::cmp::Ordering::Equal => {
            let (before, after) = taken.bytes;
            return format!("{} on disk", signed_bytes(after as i64 - before as i64));
        }
    };
    format!("{} → ~{}", pad(&gain, -6), tokens(after))
}

fn file_row(file: crate::store::PlannedFile) -> FileRow {
    FileRow {
        path: file.path,
        action: match file.action {
            PlannedAction::Write => FileAction::Write,
            PlannedAction::Copy => FileAction::Copy,
            PlannedAction::Link => FileAction::Link,
            PlannedAction::Remove => FileAction::Remove,
        },
        len: file.len,
        what: file.what,
    }
}

fn lossy(path: &Path) -> String {
    path.to_string_lossy().into_owned()
}
