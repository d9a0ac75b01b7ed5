//! The page of `--report`: what an operation did, or would do.

use std::path::Path;

use crate::export::{
    OperationPage, OperationSide, PrivateNames, Redactor, TurnFill, operation_page, text_page,
};
use crate::render::{ComparisonText, Screen, SessionDiff, YELLOW, clean, paint};
use crate::session::Session;
use crate::store::{Candidate, PublishError};
use crate::surgery::{Change, Figures, Verified};
use crate::view::{Compared, Comparison, TurnStats};
use crate::window::{Calibration, EntryWeights};

use super::commit_flow::Task;
use super::context::Context;
use super::error::CliError;

/// The columns for which differences are laid out.
const COLUMNS: usize = 160;

/// Refuses to replace a file.
pub(super) fn refuse_existing(path: Option<&Path>) -> Result<(), CliError> {
    match path.filter(|path| path.symlink_metadata().is_ok()) {
        Some(path) => Err(PublishError::Exists {
            path: path.to_owned(),
        }
        .into()),
        None => Ok(()),
    }
}

/// Writes the page of an operation, if one was asked for.
pub(super) fn write_operation(
    context: &mut Context,
    task: &Task<'_>,
    verified: &Verified,
    figures: (Figures, Figures),
    changes: &[Change],
    warnings: &[String],
) -> Result<(), CliError> {
    let Some(path) = &task.write.report else {
        return Ok(());
    };
    let after = verified.session();
    let before = verified.operated().original().unwrap_or(after);
    // One calibration for both, so that the bars can be compared.
    let calibration = Calibration::of(before);
    let side = |session, figures| OperationSide {
        figures,
        turns: turn_fills(session, &calibration),
    };
    let diff = SessionDiff {
        before,
        after,
        columns: COLUMNS,
        show_secrets: context.show_secrets,
    };
    let result = if task.write.dry_run {
        "nothing was written: a dry run".to_owned()
    } else {
        task.destination.words()
    };
    let page = OperationPage {
        operation: task.operation,
        title: &task.overview.name(),
        session_id: &task.found.id,
        result,
        before: side(before, figures.0),
        after: side(after, figures.1),
        changes,
        warnings,
        differences: diff.words(),
    };
    let redactor = Redactor::new(context.show_secrets, PrivateNames::default());
    write(context, path, &operation_page(&page, &redactor))
}

/// Returns what each turn adds to the context window.
fn turn_fills(session: &Session, calibration: &Calibration) -> Vec<TurnFill> {
    let stats = TurnStats::all(session, &EntryWeights::of(session)).into_iter();
    let turns = stats.filter(|turn| turn.number > 0);
    let fill = |turn: TurnStats| TurnFill {
        turn: turn.number,
        tokens: if turn.shown {
            calibration.tokens(turn.weight).max(0.0) as u64
        } else {
            0
        },
        compacted: turn.compacted,
    };
    turns.map(fill).collect()
}

/// Writes what a command did, as a page of the text that describes it, if one was asked for. If the command has changed
/// something, a page that cannot be written must not look like a failure of that.
pub(super) fn write_text(
    context: &mut Context,
    path: Option<&Path>,
    title: &str,
    text: &str,
    is_done: bool,
) -> Result<(), CliError> {
    let Some(path) = path else {
        return Ok(());
    };
    match write(context, path, &text_page(title, text)) {
        Err(error) if is_done => {
            let note = paint(YELLOW, "warning:");
            context.tell(&format!(
                "{note} the report was not written: {}",
                error.message
            ));
            Ok(())
        }
        written => written,
    }
}

/// Returns what differs between a file's session before and after, for a page.
pub(super) fn differences(
    context: &Context,
    path: &Path,
    before: &Session,
    after: &Session,
) -> String {
    let id = path.file_stem().unwrap_or_default().to_string_lossy();
    let compared = |session| Compared {
        session,
        session_id: &id,
        path,
    };
    let text = ComparisonText {
        screen: Screen {
            columns: COLUMNS,
            table_columns: COLUMNS,
            ..context.screen()
        },
        a: compared(before),
        b: compared(after),
        comparison: &Comparison::of(before, after),
    };
    text.render()
}

/// Writes a page, private and only if no file has its name.
pub(super) fn write(context: &mut Context, path: &Path, text: &str) -> Result<(), CliError> {
    let candidate = Candidate::write(path, |out, _| {
        std::io::Write::write_all(out, text.as_bytes())
    })?;
    candidate.create()?;
    context.tell(&format!(
        "The report is in {}",
        clean(&path.to_string_lossy())
    ));
    Ok(())
}
