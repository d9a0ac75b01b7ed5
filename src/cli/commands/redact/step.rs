//! Redaction as a step of a plan.

use std::sync::Arc;

use crate::ops::Redact;
use crate::secrets::{Form, Ledger};
use crate::store::session_targets;

use super::super::super::commit_flow::Job;
use super::super::super::context::Context;
use super::super::super::error::{CliError, ErrorKind};
use super::{Hunt, RedactOptions, safe_title, sources, warn_about_original};

/// Adds the replacement of secrets to a job that writes a new session.
pub(in crate::cli) fn add_to(
    options: RedactOptions,
    context: &mut Context,
    job: &mut Job<'_>,
) -> Result<(), CliError> {
    if job.in_place.in_place {
        return Err(CliError::usage(
            ErrorKind::Usage,
            "a plan with a `redact` step cannot be run in place: its undo would keep the secrets",
            "run `ccsurgery redact --in-place` by itself, or leave out --in-place to write a new session",
        ));
    }
    let scanner = sources::scanner(context, &options)?;
    let only = options.only.selector();
    let targets = session_targets(&context.config, &job.found, &job.session)?;
    let mut hunt = Hunt::new(targets, scanner).limited(&only, &job.found)?;
    hunt.search_all(context);
    if !job.write.dry_run && !context.quiet {
        warn_about_original(context, &job.found.id, hunt.vault.secrets().len());
    }
    let ledger = Arc::new(Ledger::new(hunt.vault));
    let scanner = Arc::new(hunt.scanner);
    if job.write.title.is_none() && job.write.output.is_none() {
        let title = safe_title(&job.session, job.operation, &scanner, &ledger);
        job.write.title = Some(title);
    }
    let redact = Redact {
        scanner: Arc::clone(&scanner),
        ledger: Arc::clone(&ledger),
        only,
    };
    if redact.only.is_empty() {
        let work = job.for_subagents.get_or_insert_default();
        work.add(redact.clone(), None);
        work.redact = Some(Box::new(move |path, bytes| {
            ledger.replace_in(&scanner, Form::of(path), bytes)
        }));
    }
    job.transforms.push(Box::new(redact));
    Ok(())
}
