mod in_place;
mod limit;
mod report;
mod sources;
mod step;
mod suggestions;

pub(in crate::cli) use step::add_to;

use std::collections::BTreeSet;
use std::path::PathBuf;
use std::process::ExitCode;
use std::sync::atomic::AtomicU64;

use clap::Args;

use crate::export::text_page;
use crate::ops::{Redact, Selector};
use crate::render::{YELLOW, clean, count, paint};
use crate::secrets::{Form, Ledger, Scanner, Vault};
use crate::session::Session;
use crate::store::{self, Found, Located, RedactTarget, Searched, all_targets, session_targets};
use crate::surgery::title_for;
use crate::view::Overview;

use super::super::args::{InPlaceArgs, SessionArg, WriteArgs};
use super::super::commit_flow::{self, Job};
use super::super::context::Context;
use super::super::error::CliError;
use super::super::names;
use super::super::plan_file::{PlanStep, StepOptions};
use super::super::progress::Progress;
use super::super::report_page;
use super::super::selector_args::SelectorArgs;
use limit::Limit;
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
    after_help = "Examples:\n  ccsurgery redact --check                    is there any secret? exit code 1 if so\n  ccsurgery redact --all -n                   what would be replaced in all sessions\n  ccsurgery redact 3d73 --in-place            replace the secrets of one session\n  ccsurgery redact --all --in-place           of all sessions, and of the journal\n  ccsurgery redact --from .env --in-place     also the values of an environment file\n  ccsurgery redact --turns 3..5 --in-place    only those of turns 3 to 5",
    mut_arg("in_place", |arg| arg.help("Rewrite the session itself, and keep no old bytes"))
)]
pub(crate) struct RedactArgs {
    #[command(flatten)]
    session: SessionArg,
    /// Search all sessions of all projects, and clean the journal too
    #[arg(long, conflicts_with_all = ["session", "output", "title", "diff", "selectors"])]
    all: bool,
    /// Only report; exit code 1 if there are secrets
    #[arg(long, conflicts_with_all = ["in_place", "output", "title", "diff"])]
    check: bool,
    #[command(flatten)]
    options: RedactOptions,
    /// Keep the old bytes, secrets included, so that `ccsurgery undo` can restore them
    #[arg(long, help_heading = None::<&str>)]
    keep_undo: bool,
    #[command(flatten, next_help_heading = None::<&str>)]
    write: WriteArgs,
    #[command(flatten)]
    in_place: InPlaceArgs,
}

/// The options of the operation, on the command line and in plan files.
#[derive(Debug, Args)]
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
    #[command(flatten, next_help_heading = "Replace secrets only in")]
    only: SelectorArgs,
}

impl StepOptions for RedactOptions {
    fn step(self) -> PlanStep {
        PlanStep::Redact(Box::new(self))
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
    /// The part of the session to which the search is limited.
    limit: Option<Limit>,
    /// The selector of that part.
    pub(super) only: Selector,
}

pub(crate) fn run(args: RedactArgs, context: &mut Context) -> Result<ExitCode, CliError> {
    let scanner = sources::scanner(context, &args.options)?;
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
    let mut hunt = Hunt::new(targets, scanner);
    if let Some(found) = &session {
        hunt = hunt.limited(&args.options.only.selector(), found)?;
    }
    hunt.session = session;
    hunt.is_all = args.all;
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
            limit: None,
            only: Selector::default(),
        }
    }

    /// Limits the search to what a selector names in the transcript of a session.
    fn limited(mut self, only: &Selector, found: &Located) -> Result<Self, CliError> {
        if !only.is_empty() {
            self.limit = Some(Limit::new(only, found)?);
            self.only = only.clone();
            self.targets.retain(|target| target.path == found.path);
        }
        Ok(self)
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
        let limit = self.limit.as_ref();
        let within = |found: &Found| limit.is_none_or(|limit| limit.holds(found));
        let mut first = store::search(&self.targets, own, done);
        first.found.retain(within);
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
            self.searched.found.retain(within);
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

/// Writes a new session without the secrets.
fn copy(context: &mut Context, args: RedactArgs, hunt: Hunt) -> Result<ExitCode, CliError> {
    let Some(session) = &hunt.session else {
        return Err(CliError::usage("usage", "--all needs --in-place", ""));
    };
    let dry_run = args.write.dry_run;
    let code = with_job(context, args, &hunt, commit_flow::run)?;
    if !dry_run {
        warn_about_original(context, &session.id, hunt.vault.secrets().len());
    }
    Ok(code)
}

/// Reports that the session from which a new one was made still has its secrets.
fn warn_about_original(context: &mut Context, id: &str, secrets: usize) {
    let (noun, them) = match secrets {
        0 => return,
        1 => ("secret", "it"),
        _ => ("secrets", "them"),
    };
    let id = clean(id);
    let note = format!(
        "{} the original session {id} still has {} {noun}. To remove {them} there: ccsurgery redact {id} --in-place",
        paint(YELLOW, "warning:"),
        count(secrets as u64),
    );
    let _ = std::io::Write::write_fmt(&mut context.err, format_args!("{note}\n"));
}

/// Makes the job that writes a new session without the secrets that were found.
fn with_job<T>(
    context: &mut Context,
    args: RedactArgs,
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
        only: hunt.only.clone(),
    };
    let name = Some(session.path.to_string_lossy().into_owned());
    let arg = SessionArg { session: name };
    let mut job = Job::new(context, &arg, "redact", args.write, args.in_place)?;
    if job.write.title.is_none() && job.write.output.is_none() {
        let title = safe_title(&job.session, "redact", &hunt.scanner, &ledger);
        job.write.title = Some(title);
    }
    if hunt.only.is_empty() {
        let work = job.for_subagents.get_or_insert_default();
        work.add(redact.clone(), None);
        work.redact = Some(Box::new(|path, bytes| {
            ledger.replace_in(&hunt.scanner, Form::of(path), bytes)
        }));
    }
    then(context, job.with(redact))
}

/// Returns the title of a result, with the secrets in it replaced.
fn safe_title(session: &Session, operation: &str, scanner: &Scanner, ledger: &Ledger) -> String {
    let title = title_for(&Overview::of(session), operation);
    let found = scanner.scan(title.as_bytes());
    let safe = ledger.replaced(title.as_bytes(), &found);
    String::from_utf8_lossy(&safe).into_owned()
}
