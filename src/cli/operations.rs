//! Operations of the journal, as people name and read them.

use std::path::Path;

use crate::render::{age, bytes, clean, count, fit, short_path};
use crate::store::{JournalError, Operation, State, Step, UnusableRecord, glance};
use crate::view::SessionText;

use super::context::Context;
use super::error::CliError;

/// What is wanted of an operation.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Wanted {
    Undo,
    Redo,
}

impl Wanted {
    /// Returns the command's name.
    pub(super) fn verb(self) -> &'static str {
        match self {
            Self::Undo => "undo",
            Self::Redo => "redo",
        }
    }

    fn state(self) -> State {
        match self {
            Self::Undo => State::Committed,
            Self::Redo => State::Undone,
        }
    }
}

/// Returns the operation that was named; without a name, the newest one that can be undone, or the one undone last.
pub(super) fn pick(
    context: &Context,
    name: Option<&str>,
    wanted: Wanted,
) -> Result<Operation, CliError> {
    let records = context.journal.records()?;
    let all = records.operations;
    let Some(name) = name else {
        let found = next(&all, wanted);
        refuse_unusable(records.unusable, found, wanted)?;
        return found.cloned().ok_or_else(|| {
            CliError::failed(
                "nothing",
                format!("there is nothing to {}", wanted.verb()),
                "see what was done with: ccsurgery history",
            )
        });
    };
    let named = named(&all, name);
    if let ([], Some(unusable)) = (
        &named[..],
        records
            .unusable
            .into_iter()
            .find(|u| u.id == name || u.id.ends_with(name)),
    ) {
        return Err(error_of(unusable));
    }
    match named[..] {
        [one] if one.state == wanted.state() => Ok(one.clone()),
        [one] => {
            let state = match one.state {
                State::Undone => "undone already",
                State::Committed => "not undone",
                _ => "not finished yet",
            };
            Err(CliError::refused(
                "wrong-state",
                format!("{} is {state}", one.id),
                "see: ccsurgery history",
            ))
        }
        [] => Err(CliError::failed(
            "not-found",
            format!("no operation is called `{name}`"),
            "see: ccsurgery history",
        )),
        _ => Err(CliError::failed(
            "ambiguous",
            format!("`{name}` could be any of {} operations", named.len()),
            "give more of its name",
        )),
    }
}

/// Returns the operation that is undone or redone if none is named.
pub(super) fn next(all: &[Operation], wanted: Wanted) -> Option<&Operation> {
    let mut fitting = all.iter().filter(|o| o.state == wanted.state());
    match wanted {
        Wanted::Undo => fitting.next_back(),
        Wanted::Redo => fitting.max_by_key(|o| o.changed.as_str()),
    }
}

/// Fails if a record that cannot be used may be the one that is meant.
fn refuse_unusable(
    unusable: Vec<UnusableRecord>,
    found: Option<&Operation>,
    wanted: Wanted,
) -> Result<(), CliError> {
    let is_newer = |u: &UnusableRecord| {
        wanted == Wanted::Redo || found.is_none_or(|found| u.id.as_str() > found.id.as_str())
    };
    match unusable.into_iter().rfind(is_newer) {
        Some(record) => Err(error_of(record)),
        None => Ok(()),
    }
}

fn error_of(record: UnusableRecord) -> CliError {
    let UnusableRecord { path, fault, .. } = record;
    JournalError::Record { path, fault }.into()
}

/// Returns the operations that a name may mean: the beginning of the whole name, or its last letters.
fn named<'o>(all: &'o [Operation], name: &str) -> Vec<&'o Operation> {
    let exact: Vec<&Operation> = all.iter().filter(|o| o.id == name).collect();
    if !exact.is_empty() {
        return exact;
    }
    let letters: Vec<&Operation> = all.iter().filter(|o| o.letters() == name).collect();
    if !letters.is_empty() {
        return letters;
    }
    all.iter().filter(|o| o.id.starts_with(name)).collect()
}

/// Returns the shortest name that means only this operation: its last letters, or all of it.
pub(super) fn short_name<'o>(all: &[Operation], operation: &'o Operation) -> &'o str {
    match named(all, operation.letters())[..] {
        [_] => operation.letters(),
        _ => &operation.id,
    }
}

/// Returns when an operation began.
pub(super) fn time_of(operation: &Operation) -> std::time::SystemTime {
    operation.time.parse::<jiff::Timestamp>().map_or(
        std::time::SystemTime::UNIX_EPOCH,
        std::time::SystemTime::from,
    )
}

/// Describes what undo or redo does, one line for each file that matters.
pub(super) fn describe(
    context: &Context,
    wanted: Wanted,
    operation: &Operation,
    steps: &[Step],
) -> String {
    let title = title(operation).map_or_else(String::new, |t| format!("  “{}”", context.words(&t)));
    let heading = format!(
        "{} {}  {}  {}{title}",
        wanted.verb(),
        clean(&operation.operation),
        clean(operation.letters()),
        age(time_of(operation), context.now),
    );
    let mut lines = vec![fit(&heading, context.columns)];
    let (own, beside): (Vec<&Step>, Vec<&Step>) =
        steps.iter().partition(|s| is_shown(operation, s));
    lines.extend(own.iter().map(|step| line(context, wanted, step)));
    lines.extend(sum_of(operation, wanted, &beside));
    lines.join("\n")
}

/// Returns the title of the session that resulted, or of the one that was operated on.
pub(super) fn title(operation: &Operation) -> Option<SessionText> {
    let name = |path: &Path| {
        let overview = glance(path).ok()?;
        let name = overview.name();
        (!name.is_empty()).then_some(name)
    };
    name(&operation.target).or_else(|| name(&operation.source))
}

/// Returns whether a step gets a line of its own: what happens to transcripts, not to the files beside them.
fn is_shown(operation: &Operation, step: &Step) -> bool {
    let (Step::Replace { path, .. }
    | Step::Create { path, .. }
    | Step::Remove { path, .. }
    | Step::Leave { path }) = step;
    *path == operation.target || operation.replaced.iter().any(|r| r.path == *path)
}

/// Screens of fewer columns show a path on a line of its own.
const NARROW: usize = 56;

fn line(context: &Context, wanted: Wanted, step: &Step) -> String {
    let is_undo = wanted == Wanted::Undo;
    let (verb, path, what) = match step {
        Step::Replace { path, from, to } => {
            let verb = if is_undo { "restores" } else { "rewrites" };
            (verb, path, format!("{} → {}", bytes(*from), bytes(*to)))
        }
        Step::Create { path, len } if is_undo => (
            "restores",
            path,
            format!("{}, which was deleted", bytes(*len)),
        ),
        Step::Create { path, len } => ("creates", path, bytes(*len)),
        Step::Remove { path, len } => ("removes", path, bytes(*len)),
        Step::Leave { path } => ("keeps", path, "needs no change".to_owned()),
    };
    let shown = |room| clean(&short_path(path, context.home.as_deref(), room));
    if context.columns < NARROW {
        let path = shown(context.columns.saturating_sub(4));
        return format!("  {verb}  {what}\n    {path}");
    }
    format!("  {verb}  {}  {what}", shown(context.columns - 36))
}

/// Describes what happens to the files beside a transcript.
fn sum_of(operation: &Operation, wanted: Wanted, steps: &[&Step]) -> Vec<String> {
    let sum = |of: &dyn Fn(&Step) -> Option<u64>| {
        let lens = steps.iter().filter_map(|step| of(step));
        lens.fold((0, 0), |(number, total), len| (number + 1, total + len))
    };
    let removed = sum(&|step| match step {
        Step::Remove { len, .. } => Some(*len),
        _ => None,
    });
    let created = sum(&|step| match step {
        Step::Create { len, .. } => Some(*len),
        _ => None,
    });
    let restores = wanted == Wanted::Undo && !operation.removed.is_empty();
    let verb = if restores { "restores" } else { "creates" };
    let beside = if operation.removed.is_empty() {
        " beside it"
    } else {
        ""
    };
    [(verb, created), ("removes", removed)]
        .into_iter()
        .filter(|(_, (number, _))| *number > 0)
        .map(|(verb, (number, total))| {
            let files = plural(number, "file", "files");
            format!("  {verb}  {files}{beside}  {}", bytes(total))
        })
        .collect()
}

/// Returns a number with the right form of its noun: `1 file`, `12,345 files`.
pub(super) fn plural(number: u64, one: &str, many: &str) -> String {
    format!("{} {}", count(number), if number == 1 { one } else { many })
}
