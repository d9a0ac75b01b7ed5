//! Errors as people and scripts meet them, and exit codes.

use std::fmt::Write as _;
use std::io::{self, Write};
use std::process::ExitCode;

use serde_json::json;

use crate::render::{BOLD, RED, YELLOW, clean, json_text, paint};
use crate::session::TurnError;
use crate::store::{CommitError, JournalError, PublishError, RecordFault, SubagentError};
use crate::surgery::{Fault, PlanError, Refusal, SurgeryError, Why};

/// How a run ended, when not well.
#[derive(Debug)]
pub(super) struct CliError {
    /// A word for scripts.
    pub(super) kind: &'static str,
    /// What failed, and where. May have several lines.
    pub(super) message: String,
    /// What to do next.
    pub(super) hint: String,
    /// 1 failed, 2 usage, 3 refused.
    pub(super) code: u8,
    pub(super) broken_pipe: bool,
}

impl CliError {
    pub(super) fn failed(
        kind: &'static str,
        message: impl Into<String>,
        hint: impl Into<String>,
    ) -> Self {
        Self {
            kind,
            message: message.into(),
            hint: hint.into(),
            code: 1,
            broken_pipe: false,
        }
    }

    pub(super) fn refused(
        kind: &'static str,
        message: impl Into<String>,
        hint: impl Into<String>,
    ) -> Self {
        Self {
            code: 3,
            ..Self::failed(kind, message, hint)
        }
    }

    pub(super) fn usage(
        kind: &'static str,
        message: impl Into<String>,
        hint: impl Into<String>,
    ) -> Self {
        Self {
            code: 2,
            ..Self::failed(kind, message, hint)
        }
    }

    pub(super) fn is_broken_pipe(&self) -> bool {
        self.broken_pipe
    }
}

/// A full disk, a used-up quota and a read-only folder deserve a hint of their own.
fn io_hint(error: &io::Error) -> &'static str {
    match error.kind() {
        io::ErrorKind::StorageFull => {
            "the disk is full; free some space and run the command again. Nothing was changed"
        }
        io::ErrorKind::QuotaExceeded => {
            "your quota on this disk is used up; free some space and run the command again. Nothing was changed"
        }
        io::ErrorKind::PermissionDenied => {
            "check who owns the folder and its mode. Nothing was changed"
        }
        io::ErrorKind::ReadOnlyFilesystem => {
            "the file system is read-only; write elsewhere with -o FILE. Nothing was changed"
        }
        io::ErrorKind::NotFound => "check the path",
        _ => "nothing was changed",
    }
}

impl From<io::Error> for CliError {
    fn from(error: io::Error) -> Self {
        let broken_pipe = error.kind() == io::ErrorKind::BrokenPipe;
        Self {
            broken_pipe,
            ..Self::failed("io", error.to_string(), io_hint(&error))
        }
    }
}

impl From<TurnError> for CliError {
    fn from(error: TurnError) -> Self {
        Self::usage("bad-turn", error.message, error.hint)
    }
}

impl From<Refusal> for CliError {
    fn from(refusal: Refusal) -> Self {
        let code = match refusal.why {
            Why::Failed => 1,
            Why::Usage => 2,
            Why::Declined => 3,
        };
        Self {
            code,
            ..Self::failed(
                refusal.kind.as_str(),
                refusal.message,
                super::remedy::hint(&refusal.remedies),
            )
        }
    }
}

impl From<SurgeryError> for CliError {
    fn from(error: SurgeryError) -> Self {
        match error {
            SurgeryError::Refused(refusal) => refusal.into(),
            SurgeryError::Plan(error) => error.into(),
        }
    }
}

impl From<SubagentError> for CliError {
    fn from(error: SubagentError) -> Self {
        match error {
            SubagentError::Read { ref source, .. } => {
                let message = format!("{error}: {source}");
                Self::failed("unreadable", message, io_hint(source))
            }
            SubagentError::Surgery(error) => error.into(),
            SubagentError::Fault(fault) => fault.into(),
        }
    }
}

impl From<Fault> for CliError {
    fn from(fault: Fault) -> Self {
        let hint = match &fault {
            Fault::Finding { example, .. } => {
                format!("first case: {example}. The original is untouched; please report this")
            }
            Fault::Conversation(_) => "the original is untouched; please report this".to_owned(),
        };
        Self {
            code: 101,
            ..Self::failed("bug", fault.to_string(), hint)
        }
    }
}

impl From<PlanError> for CliError {
    fn from(error: PlanError) -> Self {
        Self {
            code: 101,
            ..Self::failed(
                "bug",
                error.to_string(),
                "the original is untouched; please report this",
            )
        }
    }
}

impl From<PublishError> for CliError {
    fn from(error: PublishError) -> Self {
        match &error {
            PublishError::Exists { .. } => Self::refused(
                "exists",
                error.to_string(),
                "a new session never overwrites a file; choose another name",
            ),
            PublishError::Folder { source, .. } | PublishError::Write { source, .. } => {
                Self::failed("write", error.to_string(), io_hint(source))
            }
        }
    }
}

impl From<JournalError> for CliError {
    fn from(error: JournalError) -> Self {
        match error {
            JournalError::Publish(error) => error.into(),
            JournalError::Io { ref source, .. } => {
                Self::failed("journal", error.to_string(), io_hint(source))
            }
            JournalError::Write { .. } => {
                Self::failed("journal", error.to_string(), "nothing was changed")
            }
            JournalError::Record { ref fault, .. } => {
                let hint = match fault {
                    RecordFault::Newer(_) => {
                        "update ccsurgery, or name an operation: ccsurgery undo OP. Nothing was changed"
                    }
                    _ => {
                        "move its folder away, or name another operation: ccsurgery undo OP. Nothing was changed, and no session is affected"
                    }
                };
                Self::failed("unusable-record", error.to_string(), hint)
            }
            JournalError::NotPrivate { ref folder, .. } => {
                let folder = folder.display().to_string();
                let hint = format!(
                    "own it and make it private (chmod 700 '{folder}'), or set CCSURGERY_STATE_DIR"
                );
                Self::refused("not-private", error.to_string(), hint)
            }
        }
    }
}

impl From<CommitError> for CliError {
    fn from(error: CommitError) -> Self {
        match error {
            CommitError::Publish(error) => error.into(),
            CommitError::Journal(error) => error.into(),
            CommitError::Io(error) => error.into(),
            CommitError::Changed { .. } => Self::refused(
                "changed",
                error.to_string(),
                "nothing was written; run the command again, or without --in-place",
            ),
            CommitError::Busy { .. } => Self::refused(
                "busy",
                error.to_string(),
                "end what has it open, or leave out --in-place to write a new session. Nothing was written",
            ),
            CommitError::ReadBack { .. } => Self {
                code: 101,
                ..Self::failed(
                    "bug",
                    error.to_string(),
                    "the original is untouched; please report this",
                )
            },
        }
    }
}

/// Prints an error and gives its exit code.
pub(super) fn report(error: &CliError, json: bool, err: &mut impl Write) -> ExitCode {
    if json {
        let document =
            json!({"error": {"kind": error.kind, "message": error.message, "hint": error.hint}});
        let _ = writeln!(anstream::stdout(), "{}", json_text(&document.to_string()));
        return ExitCode::from(error.code);
    }
    let word = if error.code == 3 {
        "Refused:"
    } else {
        "Error:"
    };
    let style = if error.code == 3 { YELLOW } else { RED };
    let mut text = String::new();
    for (i, line) in error.message.lines().enumerate() {
        let lead = if i == 0 {
            paint(style.bold(), word) + " "
        } else {
            String::new()
        };
        let _ = writeln!(text, "{lead}{}", keep_indent(line));
    }
    if !error.hint.is_empty() {
        let _ = writeln!(
            text,
            "{} {}",
            paint(BOLD, "Hint:"),
            keep_indent(&error.hint)
        );
    }
    let _ = err.write_all(text.as_bytes());
    ExitCode::from(error.code)
}

/// Cleans a line but leaves the blanks that align it.
fn keep_indent(line: &str) -> String {
    line.split("  ").map(clean).collect::<Vec<_>>().join("  ")
}

/// Clap's own errors: help and version are no errors, the rest is usage.
pub(super) fn usage(error: &clap::Error, json: bool) -> ExitCode {
    if json && error.use_stderr() {
        let text = error.render().to_string();
        let message = text
            .lines()
            .next()
            .unwrap_or_default()
            .trim_start_matches("error: ")
            .to_owned();
        let document =
            json!({"error": {"kind": "usage", "message": message, "hint": "see ccsurgery --help"}});
        let _ = writeln!(anstream::stdout(), "{}", json_text(&document.to_string()));
        return ExitCode::from(2);
    }
    let _ = error.print();
    ExitCode::from(error.exit_code() as u8)
}
