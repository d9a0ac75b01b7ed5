//! Replaces secrets in the sessions themselves.

use std::fmt::Write as _;
use std::process::ExitCode;

use uuid::Uuid;

use crate::document::Source;
use crate::ops::Redact;
use crate::render::clean;
use crate::secrets::{Form, Ledger, Scanner};
use crate::session::Session;
use crate::store::{
    self, HeldRecord, Provenance, RedactTarget, Redaction, Stamp, Sweep, clean_records,
    held_records, search_all,
};
use crate::surgery::Surgery;

use super::super::super::context::Context;
use super::super::super::error::CliError;
use super::super::super::operations::plural;
use super::super::super::progress::Progress;
use super::super::super::question::Question;
use super::report::{Done, Report};
use super::{Hunt, RedactArgs, write_page};

/// Where the secrets are besides the files that were searched.
pub(super) struct Elsewhere {
    pub(super) sweep: Sweep,
    pub(super) records: Vec<HeldRecord>,
}

pub(super) fn run(
    context: &mut Context,
    args: &RedactArgs,
    mut hunt: Hunt,
) -> Result<ExitCode, CliError> {
    let live = refuse_live(context, args, &mut hunt)?;
    let scanner = everywhere(&hunt);
    let records = held_records(&context.journal, scanner.as_ref().unwrap_or(&hunt.scanner))?;
    let before = elsewhere(context, &hunt)?;
    let has_records = hunt.is_all && !records.is_empty();
    let found = Report::new(context, &hunt, false).text(context, &before, None);
    if hunt.vault.is_empty() && !has_records {
        write_page(context, args, &found)?;
        Report::new(context, &hunt, false).show(context, &before, None)?;
        return Ok(ExitCode::SUCCESS);
    }
    if !context.json && !context.quiet {
        Report::new(context, &hunt, false).show(context, &before, None)?;
    }
    confirm(context, args, &hunt, &records)?;
    let progress = Progress::start(context.progress, "replacing secrets");
    let ledger = Ledger::new(hunt.vault.clone());
    let files = replace(context, args, &hunt, &ledger)?;
    if hunt.is_all {
        clean_records(&context.journal, &records, &hunt.scanner, &ledger)?;
    }
    hunt.vault = ledger.into_vault();
    progress.done();
    let after = elsewhere(context, &hunt)?;
    let forgotten = if hunt.is_all { records.len() } else { 0 };
    let is_clean = after.sweep.left.is_empty() && after.records.is_empty() && live.is_empty();
    let done = Done {
        files,
        forgotten,
        live,
        is_kept: args.keep_undo,
    };
    let report = Report::new(context, &hunt, false);
    write_page(
        context,
        args,
        &(found + &report.text(context, &after, Some(&done))),
    )?;
    let printed = report.show(context, &after, Some(&done));
    context.end_report(printed);
    Ok(ExitCode::from(u8::from(hunt.is_all && !is_clean)))
}

/// Returns a scanner that finds the secrets of a run, and nothing else; for all sessions the rules count as well.
fn everywhere(hunt: &Hunt) -> Option<Scanner> {
    (!hunt.is_all).then(|| Scanner::of_known(&hunt.vault))
}

/// Searches the whole config folder and the state folder for the secrets that were found.
pub(super) fn elsewhere(context: &Context, hunt: &Hunt) -> Result<Elsewhere, CliError> {
    if hunt.vault.is_empty() {
        return Ok(Elsewhere {
            sweep: Sweep::default(),
            records: Vec::new(),
        });
    }
    let progress = Progress::start(context.progress, "searching everything again");
    let known = Scanner::of_known(&hunt.vault);
    let done = progress.count_to(0);
    let sweep = search_all(&context.config, &context.journal, &known, &done);
    let records = held_records(&context.journal, &known)?;
    progress.done();
    Ok(Elsewhere { sweep, records })
}

/// Refuses to rewrite a session that a running client has open; among all sessions, such ones are left out. Returns
/// these.
fn refuse_live(
    context: &Context,
    args: &RedactArgs,
    hunt: &mut Hunt,
) -> Result<Vec<String>, CliError> {
    if args.in_place.allow_live {
        return Ok(Vec::new());
    }
    if let Some(session) = &hunt.session {
        let Some(live) = store::live(&context.config, &session.id) else {
            return Ok(Vec::new());
        };
        return Err(CliError::refused(
            "live",
            format!(
                "session {} is open in Claude Code (process {})",
                session.id, live.pid
            ),
            "leave Claude Code first, or leave out --in-place to write a new session; --allow-live overrides",
        ));
    }
    let with_secrets = hunt.searched.found.iter().map(|f| f.target);
    let sessions = with_secrets.filter_map(|n| hunt.targets[n].session.clone());
    let mut live: Vec<String> = sessions.collect();
    live.sort();
    live.dedup();
    live.retain(|id| store::live(&context.config, id).is_some());
    let is_live = |target: &RedactTarget| target.session.as_ref().is_some_and(|s| live.contains(s));
    let targets = &hunt.targets;
    hunt.searched.found.retain(|f| !is_live(&targets[f.target]));
    Ok(live)
}

fn confirm(
    context: &mut Context,
    args: &RedactArgs,
    hunt: &Hunt,
    records: &[HeldRecord],
) -> Result<(), CliError> {
    let files = plural(changed_targets(hunt).len() as u64, "file", "files");
    let way_back = if args.keep_undo {
        "The old bytes are kept for `ccsurgery undo`, secrets included."
    } else {
        "No old bytes are kept: this cannot be undone."
    };
    let mut text = format!("Replace secrets in {files}? {way_back}");
    if hunt.is_all && !records.is_empty() {
        let operations = plural(
            records.len() as u64,
            "earlier operation holds",
            "earlier operations hold",
        );
        let _ = write!(
            text,
            " {operations} secrets, and can no longer be undone then."
        );
    }
    let question = Question {
        yes: args.in_place.yes,
        reason: "--in-place rewrites sessions",
        otherwise: "-n to see what would be replaced",
        text: &text,
    };
    question.ask(context)
}

/// Returns the files that have secrets, by their numbers.
fn changed_targets(hunt: &Hunt) -> Vec<usize> {
    let sure = hunt
        .searched
        .found
        .iter()
        .filter(|f| !f.finding.is_suggestion());
    let mut all: Vec<usize> = sure.map(|f| f.target).collect();
    all.dedup();
    all
}

/// Replaces the secrets in all files that have some. Returns how many files that are.
fn replace(
    context: &Context,
    args: &RedactArgs,
    hunt: &Hunt,
    ledger: &Ledger,
) -> Result<usize, CliError> {
    let provenance = Provenance {
        operation: "redact".to_owned(),
        command: context.command_line.clone(),
        now: context.now,
        random: Uuid::new_v4(),
    };
    let changed = changed_targets(hunt);
    if changed.is_empty() {
        return Ok(0);
    }
    let known = Scanner::of_known(&ledger.vault());
    let session = hunt
        .session
        .as_ref()
        .map(|s| (s.path.as_path(), s.id.as_str()));
    let mut redaction = Redaction::begin(&context.journal, &provenance, session, args.keep_undo)?;
    for &n in &changed {
        let target = &hunt.targets[n];
        let stamp = Stamp::of(&target.path)?;
        if target.is_transcript {
            let redact = Redact {
                scanner: &hunt.scanner,
                ledger,
                only: hunt.only.clone(),
            };
            let session = Session::open(&target.path)?;
            let operated = Surgery::on(session).then(redact).operate()?;
            redaction.add_transcript(&target.path, stamp, &operated.verify()?)?;
        } else {
            let scanner = if target.is_shared && !hunt.is_all {
                &known
            } else {
                &hunt.scanner
            };
            let source = Source::open(&target.path)?;
            let found = scanner.scan_file(Form::of(&target.path), source.bytes());
            let after = ledger.replaced(source.bytes(), &found);
            redaction.add_bytes(&target.path, stamp, &after)?;
        }
    }
    redaction.commit().map_err(|error| {
        let error = CliError::from(error);
        error.hint(format!(
            "some files may be replaced already; the next command that writes finishes it, or run: ccsurgery {}",
            clean(&context.command_line[1..].join(" "))
        ))
    })?;
    Ok(changed.len())
}
