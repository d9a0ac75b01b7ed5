//! Operations of the journal, as people name and read them.

use crate::render::{bytes, clean, short_path};
use crate::store::{Operation, State};

use super::context::Context;
use super::error::CliError;

/// The operation that was named, or the last in this state.
pub(super) fn pick(
    context: &Context,
    name: Option<&str>,
    state: State,
) -> Result<Operation, CliError> {
    let all = context.journal.operations()?;
    let Some(name) = name else {
        // What was undone last is the newest by the time of its undoing; among undone ones the
        // oldest of the tail that follows the last committed one is next in line.
        let found = match state {
            State::Undone => all
                .iter()
                .filter(|o| o.state == State::Undone)
                .max_by_key(|o| o.changed.clone()),
            _ => all.iter().rfind(|o| o.state == state),
        };
        return found.cloned().ok_or_else(|| {
            let verb = if state == State::Undone {
                "redo"
            } else {
                "undo"
            };
            CliError::failed(
                "nothing",
                format!("there is nothing to {verb}"),
                "see what was done with: ccsurgery history",
            )
        });
    };
    let matches: Vec<&Operation> = all.iter().filter(|o| o.id.starts_with(name)).collect();
    match matches[..] {
        [one] if one.state == state => Ok(one.clone()),
        [one] => Err(CliError::refused(
            "wrong-state",
            format!(
                "{} is {}",
                one.id,
                if one.state == State::Undone {
                    "undone already"
                } else {
                    "not undone"
                }
            ),
            "see: ccsurgery history",
        )),
        [] => Err(CliError::failed(
            "not-found",
            format!("no operation is called `{name}`"),
            "see: ccsurgery history",
        )),
        _ => Err(CliError::failed(
            "ambiguous",
            format!("`{name}` could be any of {} operations", matches.len()),
            "give more of its name",
        )),
    }
}

/// What an operation did, and so what undoing it does.
pub(super) fn describe(context: &Context, operation: &Operation) -> String {
    let mut lines = vec![format!(
        "{}  {}  {}",
        operation.id, operation.operation, operation.time
    )];
    let path = |p: &std::path::Path| {
        short_path(
            p,
            context.home.as_deref(),
            context.columns.saturating_sub(24),
        )
    };
    for replaced in &operation.replaced {
        let after = replaced.after.as_ref().map_or(0, |a| a.len);
        lines.push(format!(
            "  ~ {}  {} → {}",
            path(&replaced.path),
            bytes(replaced.before.len),
            bytes(after)
        ));
    }
    match operation.created.split_last() {
        Some((transcript, [])) => lines.push(format!("  + {}", path(transcript))),
        Some((transcript, rest)) => {
            lines.push(format!("  + {}", path(transcript)));
            let files = if rest.len() == 1 { "file" } else { "files" };
            lines.push(format!("  + {} {files} beside it", rest.len()));
        }
        None => {}
    }
    lines
        .iter()
        .map(|l| l.split("  ").map(clean).collect::<Vec<_>>().join("  "))
        .collect::<Vec<_>>()
        .join("\n")
}
