//! Writes what a job made.

use std::io::{self, BufWriter, Write as _};

use uuid::Uuid;

use crate::cli::context::Context;
use crate::cli::error::CliError;
use crate::render::{YELLOW, clean, paint};
use crate::store::{self, Provenance, Published, Sessions};
use crate::surgery::{FreshIds, Verified};

use super::job::{Destination, Task};
use super::outcome::Outcome;

/// How many bytes are collected before they are written to standard output.
const STREAM_BUFFER: usize = 1 << 20;

/// Writes the transcript to standard output.
pub(super) fn stream(verified: &Verified, ids: Option<&FreshIds<'_>>) -> Result<(), CliError> {
    let mut out = BufWriter::with_capacity(STREAM_BUFFER, io::stdout());
    store::write_stream(&mut out, verified, ids)?;
    out.flush()?;
    Ok(())
}

/// Writes the result to where it goes.
pub(super) fn publish(
    context: &mut Context,
    task: &Task<'_>,
    verified: &Verified,
    outcome: &Outcome<'_>,
) -> Result<Option<Published>, CliError> {
    let provenance = Provenance {
        operation: task.operation.to_owned(),
        command: context.command_line.clone(),
        now: context.now,
        random: Uuid::new_v4(),
    };
    if matches!(task.destination, Destination::New(_) | Destination::InPlace) {
        context.recover()?;
    }
    let sessions = Sessions::new(&context.journal);
    match (&task.destination, outcome.copy()) {
        (Destination::Stdout, _) => {
            stream(verified, outcome.ids())?;
            Ok(None)
        }
        (Destination::File(path), _) => {
            store::write_file(path, verified, outcome.ids())?;
            Ok(None)
        }
        (Destination::New(_), Some(copy)) => {
            let project = task.project.as_deref().unwrap_or(&context.project);
            Ok(Some(sessions.create(
                &task.found,
                copy,
                project,
                &provenance,
            )?))
        }
        (Destination::InPlace | Destination::New(_), _) => Ok(Some(sessions.replace_with(
            &task.found,
            task.stamp,
            verified,
            &outcome.subagents,
            outcome.beside(),
            &provenance,
        )?)),
    }
}

/// Returns what a person should know of what was published.
pub(super) fn notes_of(published: Option<&Published>) -> Vec<String> {
    let Some(published) = published else {
        return Vec::new();
    };
    let kept = published.quarantine.as_ref().map(|path| {
        format!(
            "what could not be read is kept in {}",
            clean(&path.to_string_lossy())
        )
    });
    let listed = published.not_in_index.as_ref().map(|why| {
        format!(
            "{} the new session is not in sessions-index.json yet: {}",
            paint(YELLOW, "note:"),
            clean(why)
        )
    });
    kept.into_iter().chain(listed).collect()
}
