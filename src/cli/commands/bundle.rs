mod report;

use std::io::IsTerminal as _;
use std::path::{Path, PathBuf};
use std::process::ExitCode;

use clap::Args;

use crate::render::fit;
use crate::secrets::{Form, Ledger, Scanner};
use crate::store::{
    BundleKind, Contents, Located, Manifest, Masking, PackItem, Packer, Passphrase, PublishError,
    RedactTarget, SourceMachine, contents_of, glance, memory_of,
};

use super::super::args::SessionArg;
use super::super::context::Context;
use super::super::error::{CliError, ErrorKind};
use super::super::names;
use super::super::passphrase::PassphraseArgs;
use super::super::question::confirm_secrets;
use super::super::selection::SelectionArgs;
use super::redact::Hunt;
use super::rm::refuse_foreign;
use report::Report;

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
