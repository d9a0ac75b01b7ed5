//! What `bundle` reports.

use std::io::Write as _;
use std::path::Path;
use std::process::ExitCode;

use serde::Serialize;

use crate::cli::context::Context;
use crate::cli::error::CliError;
use crate::cli::operations::plural;
use crate::cli::report::SCHEMA;
use crate::cli::shell::quoted;
use crate::render::{BOLD, YELLOW, bytes, clean, fit, paint, short_id, short_path};
use crate::store::{Manifest, Packed};
use crate::view::SessionText;

use super::super::redact::Hunt;
use super::{BundleArgs, Chosen};

/// What is reported, and the document that `--json` prints.
#[derive(Serialize)]
pub(super) struct Report {
    schema: u32,
    operation: &'static str,
    dry_run: bool,
    path: String,
    /// The size of the bundle; `None` after a dry run.
    bytes: Option<u64>,
    /// The size of the files in it.
    content_bytes: u64,
    files: usize,
    encrypted: bool,
    redacted: bool,
    sessions: Vec<Row>,
    /// Secrets that were replaced, by kind.
    masked: Vec<Masked>,
    /// Links, pipes and devices that stay out.
    skipped: Vec<String>,
}

#[derive(Serialize)]
struct Row {
    session_id: String,
    title: SessionText,
    project: Option<String>,
}

#[derive(Serialize)]
struct Masked {
    kind: String,
    what: String,
    secrets: u64,
}

impl Report {
    /// Gathers what is reported.
    pub(super) fn new(
        args: &BundleArgs,
        manifest: &Manifest,
        output: &Path,
        hunt: Option<&Hunt>,
        chosen: &Chosen,
    ) -> Self {
        let rows = manifest.sessions.iter().map(|s| Row {
            session_id: s.id.clone(),
            title: s.title.as_str().into(),
            project: s.project.clone(),
        });
        let skipped = chosen.contents.iter().flat_map(|c| &c.skipped);
        Self {
            schema: SCHEMA,
            operation: "bundle",
            dry_run: args.dry_run,
            path: output.to_string_lossy().into_owned(),
            bytes: None,
            content_bytes: manifest.total().unwrap_or(0),
            files: manifest.files.len(),
            encrypted: args.encrypt || args.passphrase.is_given(),
            redacted: manifest.redacted,
            sessions: rows.collect(),
            masked: hunt.map(masked).unwrap_or_default(),
            skipped: skipped.map(|p| p.to_string_lossy().into_owned()).collect(),
        }
    }

    /// Returns what became of secrets, in a sentence.
    pub(super) fn masked_line(&self) -> String {
        if !self.redacted {
            return "Secrets are not masked in it.".to_owned();
        }
        let kinds: Vec<String> = self
            .masked
            .iter()
            .map(|m| format!("{} × {}", m.secrets, clean(&m.what)))
            .collect();
        match &kinds[..] {
            [] => "No keys, tokens or passwords were recognised; check before you share it."
                .to_owned(),
            kinds => format!(
                "Replaced: {}. The originals keep them; check for others before you share it.",
                kinds.join(", ")
            ),
        }
    }

    /// Reports what was packed, or what would be.
    pub(super) fn end(
        mut self,
        context: &mut Context,
        packed: Option<Packed>,
    ) -> Result<ExitCode, CliError> {
        self.bytes = packed.map(|p| p.written);
        context.is_done = packed.is_some();
        let printed = if context.json {
            let document = context.presenter().json(&self);
            context.print_json(&document)
        } else {
            self.print(context)
        };
        if packed.is_some() {
            context.end_report(printed);
        } else {
            printed?;
        }
        Ok(ExitCode::SUCCESS)
    }

    fn print(&self, context: &mut Context) -> std::io::Result<()> {
        let home = context.home.clone();
        let mut lines = Vec::new();
        let sessions = plural(self.sessions.len() as u64, "session", "sessions");
        let files = plural(self.files as u64, "file", "files");
        let heading = format!("bundle  {sessions}, {files}, {}", bytes(self.content_bytes));
        lines.push(paint(BOLD, heading));
        let shown = if context.verbose { usize::MAX } else { 20 };
        for row in self.sessions.iter().take(shown) {
            let id = short_id(&row.session_id);
            let room = context.columns.saturating_sub(50).max(16);
            let name = fit(&context.words(&row.title), room);
            let project = row.project.as_deref().unwrap_or_default();
            let project = clean(&short_path(Path::new(project), home.as_deref(), 40));
            lines.push(format!("  {id}  “{name}”  {project}"));
        }
        if self.sessions.len() > shown {
            let rest = self.sessions.len() - shown;
            lines.push(format!("  … and {rest} more (-v lists all)"));
        }
        for path in &self.skipped {
            let note = paint(YELLOW, "note:");
            lines.push(format!(
                "{note} {} is a link or a device, and stays out",
                clean(path)
            ));
        }
        if !context.quiet || self.dry_run {
            for line in lines {
                writeln!(context.out, "{line}")?;
            }
        }
        context.tell(&self.masked_line());
        if self.dry_run {
            return writeln!(context.out, "Dry run: nothing was written.");
        }
        let size = bytes(self.bytes.unwrap_or(0));
        let sealed = if self.encrypted { ", encrypted" } else { "" };
        let path = clean(&self.path);
        let import = clean(&quoted(&self.path));
        writeln!(
            context.out,
            "{path}  ({size}{sealed})\nOn the other machine: ccsurgery import {import}"
        )
    }
}

/// Returns how many secrets of each kind are replaced.
fn masked(hunt: &Hunt) -> Vec<Masked> {
    let mut kinds: std::collections::BTreeMap<&str, u64> = std::collections::BTreeMap::new();
    for secret in hunt.vault.secrets() {
        *kinds.entry(&secret.kind).or_default() += 1;
    }
    let of_kind = kinds.into_iter().map(|(kind, secrets)| Masked {
        kind: kind.to_owned(),
        what: hunt.scanner.description(kind).to_owned(),
        secrets,
    });
    of_kind.collect()
}
