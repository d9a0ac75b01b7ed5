mod in_place;
mod report;
mod sources;
mod suggestions;

use std::collections::BTreeSet;
use std::path::PathBuf;
use std::process::ExitCode;
use std::sync::atomic::AtomicU64;

use clap::Args;

use crate::export::text_page;
use crate::ops::Redact;
use crate::render::{YELLOW, clean, count, paint};
use crate::secrets::{Ledger, Scanner, Vault};
use crate::store::{
    self, Found, Located, RedactTarget, Searched, SubagentWork, all_targets, session_targets,
};
use crate::surgery::title_for;
use crate::view::Overview;

use super::super::args::{InPlaceArgs, SessionArg, WriteArgs};
use super::super::commit_flow::{self, Job};
use super::super::context::Context;
use super::super::error::{CliError, ErrorKind};
use super::super::names;
use super::super::plan_file::{PlanStep, StepOptions};
use super::super::progress::Progress;
use super::super::report_page;
use report::Report;

/// Replace keys, tokens and passwords, wherever a session keeps them
///
/// Each secret becomes one placeholder, like [redacted:github-token:1], in the transcript, in all files
/// beside it, in the prompt history and in pasted texts. Thinking that contains a secret is removed,
/// because it is signed. Afterwards everything is searched again, and what is left is named.
///
/// Without --in-place the result is a new session, and the original keeps its secrets. With --in-place
/// no old bytes are kept: this cannot be undone, unless you give --keep-undo.
///
/// Secrets are found by the forms that providers give their keys, by their context (headers, URLs,
/// environment files), and by what you name. What only might be a secret is shown, and replaced only if
/// you confirm it.
#[derive(Debug, Args)]
#[command(
    after_help = "Examples:\n  ccsurgery redact --check                    is there any secret? exit code 1 if so\n  ccsurgery redact --all -n                   what would be replaced in all sessions\n  ccsurgery redact 3d73 --in-place            replace the secrets of one session\n  ccsurgery redact --all --in-place           of all sessions, and of the journal\n  ccsurgery redact --from .env --in-place     also the values of an environment file",
    mut_arg("in_place", |arg| arg.help("Rewrite the session itself, and keep no old bytes"))
)]
pub(crate) struct RedactArgs {
    #[command(flatten)]
    session: SessionArg,
    /// Search all sessions of all projects, and clean the journal too
    #[arg(long, conflicts_with_all = ["session", "output", "title", "diff"])]
    all: bool,
    /// Only report; exit code 1 if there are secrets
    #[arg(long, conflicts_with_all = ["in_place", "output", "title", "diff"])]
    check: bool,
    #[command(flatten)]
    options: RedactOptions,
    /// Keep the old bytes, secrets included, so that `ccsurgery undo` can restore them
    #[arg(long)]
    keep_undo: bool,
    #[command(flatten)]
    write: WriteArgs,
    #[command(flatten)]
    in_place: InPlaceArgs,
}

/// What else is a secret, on the command line and in plan files.
#[derive(Debug, Default, Args)]
pub(crate) struct RedactOptions {
    /// Also replace this text [repeatable]
    #[arg(long, value_name = "TEXT")]
    literal: Vec<String>,
    /// Also replace each line of this file, wherever it occurs
    #[arg(long, value_name = "FILE")]
    literal_file: Vec<PathBuf>,
    /// Also replace the values of this environment file
    #[arg(long, value_name = "FILE")]
    from: Vec<PathBuf>,
    /// Also replace what this pattern matches; of a pattern with a group, only that group
    #[arg(long, value_name = "REGEX")]
    regex: Vec<String>,
    /// Also use the rules of this file, in the form of gitleaks
    #[arg(long, value_name = "FILE")]
    rules: Vec<PathBuf>,
    /// Also look into text that is encoded in base64
    #[arg(long)]
    base64: bool,
}

impl RedactOptions {
    /// Adds what other options name.
    fn extend(&mut self, other: Self) {
        self.literal.extend(other.literal);
        self.literal_file.extend(other.literal_file);
        self.from.extend(other.from);
        self.regex.extend(other.regex);
        self.rules.extend(other.rules);
        self.base64 |= other.base64;
    }
}

impl StepOptions for RedactOptions {
    fn step(self) -> PlanStep {
        PlanStep::Redact(self)
    }
}

/// What was found, and where.
pub(super) struct Hunt {
    pub(super) targets: Vec<RedactTarget>,
    pub(super) scanner: Scanner,
    pub(super) vault: Vault,
    pub(super) searched: Searched,
    /// What only might be secrets, each value once.
    pub(super) suggestions: Vec<Found>,
    /// The session, unless all are searched.
    pub(super) session: Option<Located>,
    /// Whether shared files are searched by the rules as well.
    pub(super) is_all: bool,
}

pub(crate) fn run(args: RedactArgs, context: &mut Context) -> Result<ExitCode, CliError> {
    let scanner = sources::scanner(&args.options)?;
    // The values are secrets, so the journal does not get them.
    context.command_line = sources::without_values(&context.command_line);
    if args.all && !args.in_place.in_place && !args.check && !args.write.dry_run {
        return Err(CliError::usage(
            "usage",
            "--all replaces secrets in the sessions themselves",
            "add --in-place to do that, or -n to see what would be replaced",
        ));
    }
    report_page::refuse_existing(args.write.report.as_deref())?;
    let rewrites = args.in_place.in_place && !args.check && !args.write.dry_run;
    if rewrites {
        context.recover()?;
    }
    let mut hunt = hunt(context, &args, scanner)?;
    if args.check || args.write.dry_run && args.write.diff.is_none() {
        let sweep = in_place::elsewhere(context, &hunt)?;
        let report = Report::new(context, &hunt, true);
        write_page(context, &args, &report.text(context, &sweep, None))?;
        report.show(context, &sweep, None)?;
        let found = !hunt.vault.is_empty();
        return Ok(ExitCode::from(u8::from(args.check && found)));
    }
    if !args.in_place.yes {
        suggestions::confirm(context, &mut hunt)?;
    }
    if rewrites {
        return in_place::run(context, &args, hunt);
    }
    copy(context, args, hunt)
}

/// Writes the report as a page, if one was asked for.
fn write_page(context: &mut Context, args: &RedactArgs, text: &str) -> Result<(), CliError> {
    match &args.write.report {
        Some(path) => report_page::write(context, path, &text_page("Secrets", text)),
        None => Ok(()),
    }
}

/// Searches everything that is asked for, twice: what the first search finds is known in the second.
fn hunt(context: &mut Context, args: &RedactArgs, scanner: Scanner) -> Result<Hunt, CliError> {
    let (targets, session) = if args.all {
        names::require_data(context)?;
        (all_targets(&context.config)?, None)
    } else {
        let found = names::find(context, &args.session)?;
        let session = names::open(context, &found)?;
        names::say_which(context, &args.session, &found, &session);
        (
            session_targets(&context.config, &found, &session)?,
            Some(found),
        )
    };
    let mut hunt = Hunt {
        session,
        is_all: args.all,
        ..Hunt::new(targets, scanner)
    };
    hunt.search_all(context);
    Ok(hunt)
}

impl Hunt {
    /// Prepares a search of files that are not shared.
    pub(super) fn new(targets: Vec<RedactTarget>, scanner: Scanner) -> Self {
        Self {
            targets,
            scanner,
            vault: Vault::default(),
            searched: Searched::default(),
            suggestions: Vec::new(),
            session: None,
            is_all: false,
        }
    }

    /// Searches all files, and shows the progress.
    pub(super) fn search_all(&mut self, context: &Context) {
        let total = self.targets.iter().map(|t| t.len).sum();
        let progress = Progress::start(context.progress, "searching for secrets");
        self.search(&progress.count_to(total));
        progress.done();
    }

    fn search(&mut self, done: &AtomicU64) {
        let (is_all, scanner) = (self.is_all, &self.scanner);
        let own =
            |_: usize, target: &RedactTarget| (is_all || !target.is_shared).then_some(scanner);
        let first = store::search(&self.targets, own, done);
        for (kind, number) in &first.placeholders {
            self.vault.reserve(kind, *number);
        }
        let findings = first.found.iter().map(|f| &f.finding);
        self.vault.add_all(findings.filter(|f| !f.is_suggestion()));
        if self.vault.is_empty() {
            self.searched = first;
        } else {
            // Where the rules found nothing, only what is known can be found.
            let with_rules: BTreeSet<usize> = first.found.iter().map(|f| f.target).collect();
            let known = Scanner::of_known(&self.vault);
            self.scanner.learn(&self.vault);
            let scanner = &self.scanner;
            let learned = |n: usize, _: &RedactTarget| {
                Some(if with_rules.contains(&n) {
                    scanner
                } else {
                    &known
                })
            };
            self.searched = store::search(&self.targets, learned, done);
        }
        let mut seen = BTreeSet::new();
        self.suggestions.clear();
        for found in &self.searched.found {
            if !found.finding.is_suggestion() {
                self.vault.add(&found.finding);
            } else if seen.insert(found.finding.value_hash()) {
                self.suggestions.push(found.clone());
            }
        }
    }
}

/// Searches the session of a plan, and hands over the job that carries the plan out. Secrets are replaced last, so that
/// nothing that the other steps add keeps one.
pub(crate) fn with_plan<T>(
    context: &mut Context,
    session: SessionArg,
    operation: &'static str,
    places: (WriteArgs, InPlaceArgs),
    steps: Vec<PlanStep>,
    then: impl FnOnce(&mut Context, Job<'_>) -> Result<T, CliError>,
) -> Result<T, CliError> {
    let (write, in_place) = places;
    if in_place.in_place {
        return Err(CliError::usage(
            ErrorKind::Usage,
            "a plan with `redact` makes a new session; in place, `redact` keeps no old bytes, and runs alone",
            "leave out --in-place, or run: ccsurgery redact SESSION --in-place",
        ));
    }
    let mut options = RedactOptions::default();
    let mut others = Vec::new();
    for step in steps {
        match step {
            PlanStep::Redact(more) => options.extend(more),
            PlanStep::Change {
                subagents: Some(_), ..
            } => {
                return Err(CliError::usage(
                    ErrorKind::Usage,
                    "one plan cannot replace secrets and also remove the thinking of subagents",
                    "run two plans, one after the other",
                ));
            }
            other => others.push(other),
        }
    }
    let args = RedactArgs {
        session,
        all: false,
        check: false,
        options,
        keep_undo: false,
        write,
        in_place,
    };
    let scanner = sources::scanner(&args.options)?;
    let hunt = hunt(context, &args, scanner)?;
    let is_reported = !args.write.dry_run && !context.quiet;
    let made = with_job(context, args, operation, &hunt, |context, mut job| {
        let redact = job.transforms.pop();
        for step in others {
            step.add_to(context, &mut job)?;
        }
        job.transforms.extend(redact);
        then(context, job)
    })?;
    if let Some(session) = hunt.session.as_ref().filter(|_| is_reported) {
        warn_about_original(context, &session.id, &hunt);
    }
    Ok(made)
}

/// Writes a new session without the secrets.
fn copy(context: &mut Context, args: RedactArgs, hunt: Hunt) -> Result<ExitCode, CliError> {
    let Some(session) = &hunt.session else {
        return Err(CliError::usage("usage", "--all needs --in-place", ""));
    };
    let dry_run = args.write.dry_run;
    let code = with_job(context, args, "redact", &hunt, commit_flow::run)?;
    if !dry_run {
        warn_about_original(context, &session.id, &hunt);
    }
    Ok(code)
}

/// Reports that the session from which a new one was made still has its secrets.
fn warn_about_original(context: &mut Context, id: &str, hunt: &Hunt) {
    let (noun, them) = match hunt.vault.secrets().len() {
        0 => return,
        1 => ("secret", "it"),
        _ => ("secrets", "them"),
    };
    let id = clean(id);
    let note = format!(
        "{} the original session {id} still has {} {noun}. To remove {them} there: ccsurgery redact {id} --in-place",
        paint(YELLOW, "warning:"),
        count(hunt.vault.secrets().len() as u64),
    );
    let _ = std::io::Write::write_fmt(&mut context.err, format_args!("{note}\n"));
}

/// Makes the job that writes a new session without the secrets that were found.
fn with_job<T>(
    context: &mut Context,
    args: RedactArgs,
    operation: &'static str,
    hunt: &Hunt,
    then: impl FnOnce(&mut Context, Job<'_>) -> Result<T, CliError>,
) -> Result<T, CliError> {
    let Some(session) = &hunt.session else {
        return Err(CliError::usage("usage", "--all needs --in-place", ""));
    };
    let ledger = Ledger::new(hunt.vault.clone());
    let redact = Redact {
        scanner: &hunt.scanner,
        ledger: &ledger,
    };
    let name = Some(session.path.to_string_lossy().into_owned());
    let arg = SessionArg { session: name };
    let mut job = Job::new(context, &arg, operation, args.write, args.in_place)?.with(redact);
    if job.write.title.is_none() && job.write.output.is_none() {
        let title = title_for(&Overview::of(&job.session), operation);
        let found = hunt.scanner.scan(title.as_bytes());
        let safe = ledger.replaced(title.as_bytes(), &found);
        job.write.title = Some(String::from_utf8_lossy(&safe).into_owned());
    }
    job.for_subagents = Some(SubagentWork {
        transform: Box::new(redact),
        only: None,
        redact: Some((&hunt.scanner, &ledger)),
    });
    then(context, job)
}
