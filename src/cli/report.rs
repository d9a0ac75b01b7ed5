//! What is said of a job: the preview before, the command to go on with after.

use std::fmt::Write as _;
use std::io::Write as _;
use std::path::Path;
use std::process::ExitCode;

use serde_json::json;

use crate::ops::Taken;
use crate::render::{
    BOLD, FileRow, Preview, SessionDiff, YELLOW, pad, paint, signed_bytes, tokens, width, wrap,
};
use crate::surgery::Figures;
use crate::view::Overview;

use super::args::DiffForm;
use super::commit_flow::{Destination, Job, Outcome, is_unseen};
use super::context::Context;
use super::destination::Resume;
use super::error::CliError;

/// Everything that is said of a job.
pub(super) struct Report<'a> {
    pub(super) job: &'a Job<'a>,
    pub(super) glance: &'a Overview,
    pub(super) result: &'a Outcome,
    pub(super) figures: (Figures, Figures),
    pub(super) files: &'a [FileRow],
    pub(super) destination: &'a Destination,
    pub(super) renamed: usize,
}

/// Shows what will happen.
pub(super) fn show_preview(context: &mut Context, report: &Report<'_>) -> Result<(), CliError> {
    if is_unseen(context, report.job) {
        return Ok(());
    }
    let project = report.result.project.as_deref();
    let text = Preview {
        operation: report.job.operation,
        session_id: &report.job.found.id,
        title: report.glance.name(),
        project: &project.unwrap_or(Path::new("")).to_string_lossy(),
        before: report.figures.0,
        after: report.figures.1,
        changes: &report.result.changes,
        source: report.result.after.document().source(),
        renamed: report.renamed,
        files: report.files,
        warnings: &report.result.warnings,
        home: context.home.as_deref(),
        columns: context.columns,
        verbose: context.verbose,
        show_secrets: context.show_secrets,
    }
    .render();
    let diff = SessionDiff {
        before: &report.job.session,
        after: &report.result.after,
        columns: context.columns,
        show_secrets: context.show_secrets,
    };
    let diff = match report.job.write.diff {
        None => String::new(),
        Some(DiffForm::Words) => format!("\n{}", diff.words()),
        Some(DiffForm::Raw) => format!("\n{}", diff.raw()),
    };
    let text = text + &steps(report, context.columns) + &diff;
    // Standard output is the transcript's where that was asked for.
    if *report.destination == Destination::Stdout && !report.job.write.dry_run {
        context.err.write_all(text.as_bytes())?;
    } else {
        context.out.write_all(text.as_bytes())?;
    }
    Ok(())
}

/// The steps that were chosen, what each gives, and where that leads.
fn steps(report: &Report<'_>, columns: usize) -> String {
    let taken = &report.job.steps;
    if taken.is_empty() {
        return String::new();
    }
    let room = columns.saturating_sub(24).max(20);
    let words: Vec<Vec<String>> = taken.iter().map(|t| wrap(&t.step.words(), room)).collect();
    let widest = words.iter().flatten().map(|w| width(w)).max().unwrap_or(0) as i32;
    let mut out = format!("\n{}\n", paint(BOLD, "The least harmful way"));
    for (taken, lines) in taken.iter().zip(&words) {
        let (before, after) = taken.window;
        let gain = match after.cmp(&before) {
            std::cmp::Ordering::Less => format!("−{}", tokens(before - after)),
            std::cmp::Ordering::Equal => String::new(),
            std::cmp::Ordering::Greater => format!("+{}", tokens(after - before)),
        };
        for (i, line) in lines.iter().enumerate() {
            let figures = match i {
                0 if gain.is_empty() => {
                    let (before, after) = taken.bytes;
                    format!("{} on disk", signed_bytes(after as i64 - before as i64))
                }
                0 => format!("{} → ~{}", pad(&gain, -6), tokens(after)),
                _ => String::new(),
            };
            let row = format!("  {}  {figures}", pad(line, widest));
            let _ = writeln!(out, "{}", row.trim_end());
        }
    }
    out
}

impl Report<'_> {
    /// The last word: the command to go on with, or the JSON document.
    pub(super) fn finish(
        &self,
        context: &mut Context,
        written: Option<&Destination>,
    ) -> Result<ExitCode, CliError> {
        let (id, path) = match self.destination {
            Destination::New { id, .. } => (
                id.to_string(),
                self.destination.transcript().unwrap_or_default(),
            ),
            _ => (self.job.found.id.clone(), self.job.found.path.clone()),
        };
        let project = self.job.to_project.clone();
        let project = project.or_else(|| self.result.project.clone());
        let resume = Resume::of(context, self.destination, &path, &id, project.as_deref());
        if let (Some(note), Some(_)) = (&resume.note, written) {
            context.tell(&format!("{} {note}", paint(YELLOW, "note:")));
        }
        let resume = resume.command;
        if context.json && written != Some(&Destination::Stdout) {
            let target = match (written, self.destination) {
                (None, _) => serde_json::Value::Null,
                (_, Destination::File(file)) => {
                    json!({"session_id": id, "path": file.to_string_lossy(), "in_place": false})
                }
                _ => {
                    json!({"session_id": id, "path": path.to_string_lossy(), "in_place": *self.destination == Destination::InPlace})
                }
            };
            let mut document = json!({
                "operation": self.job.operation, "dry_run": self.job.write.dry_run,
                "source": {"session_id": self.job.found.id, "path": self.job.found.path.to_string_lossy()},
                "target": target, "resume": if written.is_some() { resume } else { None },
                "before": self.figures.0, "after": self.figures.1,
                "changes": self.result.changes, "files": self.files, "warnings": self.result.warnings,
            });
            if !self.job.steps.is_empty() {
                let steps = self.job.steps.iter().map(step_document);
                document["steps"] = steps.collect();
            }
            context.print_json(&document)?;
            return Ok(ExitCode::SUCCESS);
        }
        if context.json {
            return Ok(ExitCode::SUCCESS);
        }
        match (written, resume) {
            (None, _) => writeln!(context.out, "\nDry run: nothing was written.")?,
            (Some(Destination::Stdout), _) => {}
            (Some(Destination::File(file)), _) => writeln!(
                context.out,
                "\nWritten to {}",
                crate::render::clean(&file.to_string_lossy())
            )?,
            (Some(_), Some(resume)) => writeln!(
                context.out,
                "{}{}",
                if context.quiet { "" } else { "\n" },
                crate::render::clean_lines(&resume)
            )?,
            (Some(_), None) => {}
        }
        Ok(ExitCode::SUCCESS)
    }
}

/// A step that was chosen, for a script.
pub(super) fn step_document(taken: &Taken) -> serde_json::Value {
    let difference = |(before, after): (u64, u64)| after as i64 - before as i64;
    json!({
        "operation": taken.step.transform().name(), "what": taken.step.words(),
        "tokens": difference(taken.window), "bytes": difference(taken.bytes), "window": taken.window.1,
    })
}

/// A word that a shell takes as it is, however it looks.
pub(super) fn quoted(word: &str) -> String {
    if !word.is_empty()
        && word
            .chars()
            .all(|c| c.is_ascii_alphanumeric() || "/._-+:@%,=".contains(c))
    {
        return word.to_owned();
    }
    format!("'{}'", word.replace('\'', r"'\''"))
}
