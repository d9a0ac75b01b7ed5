use std::io::{IsTerminal as _, Write as _};
use std::path::{Path, PathBuf};
use std::process::ExitCode;

use clap::Args;
use serde::Serialize;

use crate::render::{BOLD, YELLOW, bytes, clean, fit, paint, short_path};
use crate::secrets::{Form, Ledger, Scanner};
use crate::store::{
    BundleKind, Contents, Located, Manifest, Masking, PackItem, Packed, Packer, Passphrase,
    PublishError, RedactTarget, SourceMachine, contents_of, glance, memory_of,
};
use crate::view::SessionText;

use super::super::args::SessionArg;
use super::super::context::Context;
use super::super::error::{CliError, ErrorKind};
use super::super::names;
use super::super::operations::plural;
use super::super::passphrase::PassphraseArgs;
use super::super::question::confirm_secrets;
use super::super::report::SCHEMA;
use super::super::selection::SelectionArgs;
use super::super::shell::quoted;
use super::redact::Hunt;
use super::rm::refuse_foreign;

/// Pack sessions into one file, to take them to another machine
///
/// The bundle holds everything that a session needs: transcript, subagents, large outputs, rewind data, tasks and plans.
/// `ccsurgery import` unpacks it there, and adjusts all paths. Keys, tokens and passwords are replaced by placeholders in
/// every file; the original session keeps them. Logs and environment scripts are left out.
#[derive(Debug, Args)]
#[command(
    after_help = "Examples:\n  ccsurgery bundle                            the newest session, into this folder\n  ccsurgery bundle 5e55 -o talk.ccbundle\n  ccsurgery bundle --older-than 0d -o all.ccbundle --memory --encrypt    the whole project\n  ccsurgery bundle @ -o - | ssh host ccsurgery import - --to-project app"
)]
#[allow(clippy::struct_excessive_bools, reason = "each is an option")]
pub(crate) struct BundleArgs {
    #[command(flatten)]
    which: SelectionArgs,
    /// The file to write; `-` for standard output [default: session-ID.ccbundle in this folder]
    #[arg(short, long, value_name = "FILE")]
    output: Option<PathBuf>,
    /// Replace the file if it exists
    #[arg(short, long)]
    force: bool,
    /// Add what Claude Code remembers of the project
    #[arg(long)]
    memory: bool,
    /// Encrypt the bundle with a passphrase, in the format of age
    #[arg(long)]
    encrypt: bool,
    #[command(flatten)]
    passphrase: PassphraseArgs,
    /// Show what would be packed, and write nothing
    #[arg(short = 'n', long)]
    dry_run: bool,
    /// Do not ask before writing secrets as they are (with --show-secrets)
    #[arg(short, long)]
    yes: bool,
}

pub(crate) fn run(args: &BundleArgs, context: &mut Context) -> Result<ExitCode, CliError> {
    confirm_secrets(context, args.yes || args.dry_run)?;
    let found = sessions(args, context)?;
    if found.is_empty() {
        return Err(CliError::failed(
            ErrorKind::NoSessions,
            "no session is that old or has that text",
            "list the sessions of this project with: ccsurgery ls",
        ));
    }
    refuse_foreign(context, &found)?;
    let output = output(args, context, &found);
    check_output(args, context, &output)?;
    let is_sealed = args.encrypt || args.passphrase.is_given();
    let passphrase = if is_sealed && !args.dry_run {
        Some(args.passphrase.choose()?)
    } else {
        None
    };
    let chosen = Chosen::find(context, &found, args.memory)?;
    let hunt = (!context.show_secrets).then(|| chosen.hunt(context));
    let ledger = Ledger::new(hunt.as_ref().map(|h| h.vault.clone()).unwrap_or_default());
    let masking = hunt.as_ref().map(|hunt| Masking {
        scanner: &hunt.scanner,
        ledger: &ledger,
    });
    let config = context.config.clone();
    let folder = output.parent().filter(|p| !p.as_os_str().is_empty());
    let scratch = folder.map_or_else(|| context.working_folder.clone(), Path::to_owned);
    let mut packer = Packer::new(&config, &scratch, masking);
    let manifest = chosen.manifest(context, &mut packer, masking)?;
    let report = Report::new(args, &manifest, &output, hunt.as_ref(), &chosen);
    if args.dry_run {
        return report.end(context, None);
    }
    if output == Path::new("-") {
        return to_stdout(context, packer, &manifest, passphrase.as_ref(), &report);
    }
    let packed = packer.write_file(&manifest, &output, passphrase.as_ref(), args.force)?;
    report.end(context, Some(packed))
}

/// The sessions that are packed, and their files.
struct Chosen {
    contents: Vec<Contents>,
    memory: Vec<PackItem>,
    sessions: Vec<Located>,
}

impl Chosen {
    fn find(context: &Context, found: &[Located], memory: bool) -> Result<Self, CliError> {
        let mut chosen = Self {
            contents: Vec::new(),
            memory: Vec::new(),
            sessions: found.to_vec(),
        };
        for session in found {
            let contents = contents_of(&context.config, session, BundleKind::Bundle)?;
            chosen.contents.push(contents);
            if memory {
                chosen.memory.extend(memory_of(session)?);
            }
        }
        Ok(chosen)
    }

    fn items(&self) -> impl Iterator<Item = &PackItem> {
        let own = self.contents.iter().flat_map(|c| &c.items);
        own.chain(&self.memory)
    }

    /// Searches all files for secrets.
    fn hunt(&self, context: &Context) -> Hunt {
        let targets = self.items().map(|item| RedactTarget {
            path: item.path.clone(),
            is_transcript: item.is_transcript,
            is_shared: false,
            what: "file",
            session: None,
            len: fs_err::metadata(&item.path).map_or(0, |m| m.len()),
        });
        let mut hunt = Hunt::new(targets.collect(), Scanner::new());
        hunt.search_all(context);
        hunt
    }

    fn manifest(
        &self,
        context: &Context,
        packer: &mut Packer<'_>,
        masking: Option<Masking<'_>>,
    ) -> Result<Manifest, CliError> {
        let mut manifest = new_manifest(context, BundleKind::Bundle);
        manifest.redacted = masking.is_some();
        for (contents, found) in self.contents.iter().zip(&self.sessions) {
            let mut session = contents.session.clone();
            session.title = title(found, masking);
            manifest.sessions.push(session);
        }
        for item in self.items() {
            packer.add(&mut manifest, item)?;
        }
        Ok(manifest)
    }
}

/// Returns a manifest of this machine without sessions and files.
pub(super) fn new_manifest(context: &Context, kind: BundleKind) -> Manifest {
    let text = |path: &Path| path.to_string_lossy().into_owned();
    let source = SourceMachine {
        os: std::env::consts::OS.to_owned(),
        home: context.home.as_deref().map(text),
        config: text(context.config.root()),
    };
    let now = jiff::Timestamp::try_from(context.now);
    Manifest::new(kind, now.unwrap_or(jiff::Timestamp::UNIX_EPOCH), source)
}

/// Returns the title of a session, or its first prompt, without secrets if those are replaced.
pub(super) fn title(found: &Located, masking: Option<Masking<'_>>) -> String {
    let name = glance(&found.path).map(|o| o.name().into_raw());
    let name = fit(&name.unwrap_or_default(), 120);
    let Some(masking) = masking else {
        return name;
    };
    let found = masking.scanner.scan_file(Form::Text, name.as_bytes());
    let safe = masking.ledger.replaced(name.as_bytes(), &found);
    String::from_utf8_lossy(&safe).into_owned()
}

fn sessions(args: &BundleArgs, context: &mut Context) -> Result<Vec<Located>, CliError> {
    let which = &args.which;
    let is_named = !which.sessions.is_empty() || which.older_than.is_some() || which.grep.is_some();
    if is_named || which.all {
        return which.find(context, "bundle");
    }
    names::require_data(context)?;
    let newest = SessionArg { session: None };
    let found = names::find(context, &newest)?;
    let session = names::open(context, &found)?;
    names::say_which(context, &newest, &found, &session);
    Ok(vec![found])
}

fn output(args: &BundleArgs, context: &Context, found: &[Located]) -> PathBuf {
    let name = || match found {
        [one] => format!(
            "session-{}.ccbundle",
            one.id.chars().take(8).collect::<String>()
        ),
        _ => "sessions.ccbundle".to_owned(),
    };
    let named = args.output.clone();
    named.unwrap_or_else(|| context.working_folder.join(name()))
}

fn check_output(args: &BundleArgs, context: &Context, output: &Path) -> Result<(), CliError> {
    if output == Path::new("-") {
        if context.json || std::io::stdout().is_terminal() && !args.dry_run {
            return Err(CliError::usage(
                ErrorKind::Usage,
                "a bundle cannot be written to a terminal or beside a JSON document",
                "name a file with -o FILE, or write to a pipe",
            ));
        }
        return Ok(());
    }
    if !args.force && !args.dry_run && output.symlink_metadata().is_ok() {
        let path = output.to_owned();
        return Err(PublishError::Exists { path }.into());
    }
    Ok(())
}

fn to_stdout(
    context: &mut Context,
    packer: Packer<'_>,
    manifest: &Manifest,
    passphrase: Option<&Passphrase>,
    report: &Report,
) -> Result<ExitCode, CliError> {
    packer.write(manifest, std::io::stdout().lock(), passphrase)?;
    let masked = report.masked_line();
    context.tell(&masked);
    Ok(ExitCode::SUCCESS)
}

/// What is reported, and the document that `--json` prints.
#[derive(Serialize)]
struct Report {
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
    fn new(
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
    fn masked_line(&self) -> String {
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

    fn end(mut self, context: &mut Context, packed: Option<Packed>) -> Result<ExitCode, CliError> {
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
            let id: String = row.session_id.chars().take(8).collect();
            let room = context.columns.saturating_sub(50).max(16);
            let name = fit(&context.words(&row.title), room);
            let project = row.project.as_deref().unwrap_or_default();
            let project = clean(&short_path(Path::new(project), home.as_deref(), 40));
            lines.push(format!("  {}  “{name}”  {project}", clean(&id)));
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
