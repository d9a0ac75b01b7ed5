//! Errors as people and scripts see them, and exit codes.

mod convert;
mod kind;
mod usage;

use std::fmt::Write as _;
use std::io::{self, Write};
use std::process::ExitCode;

use serde_json::{Value, json};

use crate::render::{BOLD, RED, YELLOW, clean_lines, json_text, paint, wrap_message};

use super::context::message_columns;

use convert::{io_hint, io_kind};
pub(super) use kind::ErrorKind;
pub(super) use usage::usage;

/// Why a run did not do what it was asked to do.
#[derive(Debug)]
pub(super) struct CliError {
    /// What sort of error it is, for scripts.
    pub(super) kind: ErrorKind,
    /// What failed, and where. May have several lines.
    pub(super) message: String,
    /// What to do next, the best advice first.
    pub(super) hints: Vec<String>,
    /// The sessions that may have been meant.
    pub(super) candidates: Vec<Candidate>,
    /// 1 failed, 2 usage, 3 refused, 101 a bug.
    pub(super) code: u8,
    /// What led to it, innermost cause last.
    source: Option<anyhow::Error>,
}

/// A session that may have been meant: a line for people and a document for scripts.
#[derive(Debug)]
pub(super) struct Candidate {
    /// The line, safe to print.
    pub(super) line: String,
    /// The document.
    pub(super) document: Value,
}

impl CliError {
    /// Something went wrong (exit code 1).
    pub(super) fn failed(
        kind: impl Into<ErrorKind>,
        message: impl Into<String>,
        hint: impl Into<String>,
    ) -> Self {
        let hint = hint.into();
        Self {
            kind: kind.into(),
            message: message.into(),
            hints: if hint.is_empty() {
                Vec::new()
            } else {
                vec![hint]
            },
            candidates: Vec::new(),
            code: 1,
            source: None,
        }
    }

    /// The program refuses on purpose (exit code 3).
    pub(super) fn refused(
        kind: impl Into<ErrorKind>,
        message: impl Into<String>,
        hint: impl Into<String>,
    ) -> Self {
        Self {
            code: 3,
            ..Self::failed(kind, message, hint)
        }
    }

    /// The command line or a plan file is wrong (exit code 2).
    pub(super) fn usage(
        kind: impl Into<ErrorKind>,
        message: impl Into<String>,
        hint: impl Into<String>,
    ) -> Self {
        Self {
            code: 2,
            ..Self::failed(kind, message, hint)
        }
    }

    /// A defect of the program itself (exit code 101).
    fn bug(error: impl Into<anyhow::Error>, hint: impl Into<String>) -> Self {
        Self {
            code: 101,
            ..Self::caused_by(ErrorKind::Bug, error, hint)
        }
    }

    /// A failure (exit code 1) with the message and the causes of `error`.
    pub(super) fn caused_by(
        kind: ErrorKind,
        error: impl Into<anyhow::Error>,
        hint: impl Into<String>,
    ) -> Self {
        let error = error.into();
        Self {
            source: Some(error),
            ..Self::failed(kind, String::new(), hint)
        }
        .with_message_of_source()
    }

    fn with_message_of_source(mut self) -> Self {
        if let Some(source) = &self.source {
            self.message = source.to_string();
        }
        self
    }

    /// A file that cannot be read (exit code 1).
    pub(super) fn unreadable(error: io::Error) -> Self {
        let (kind, hint) = (io_kind(&error, ErrorKind::Unreadable), io_hint(&error));
        Self::caused_by(kind, error, hint)
    }

    /// Adds more advice.
    pub(super) fn hint(mut self, hint: impl Into<String>) -> Self {
        self.hints.push(hint.into());
        self
    }

    /// Returns what led to the error, outermost first, without the message itself.
    fn causes(&self) -> Vec<String> {
        let chain = self.source.iter().flat_map(anyhow::Error::chain);
        let mut causes: Vec<String> = chain.map(ToString::to_string).collect();
        causes.dedup();
        causes.retain(|cause| *cause != self.message);
        causes
    }

    /// Whether the reader of the output is gone.
    pub(super) fn is_broken_pipe(&self) -> bool {
        let mut chain = self.source.iter().flat_map(anyhow::Error::chain);
        // A result that cannot be written has another kind, and is always a failure.
        self.kind == ErrorKind::Io
            && chain.any(|cause| {
                let io = cause.downcast_ref::<io::Error>();
                io.is_some_and(|e| e.kind() == io::ErrorKind::BrokenPipe)
            })
    }
}

/// Prints an error, and returns its exit code.
pub(super) fn report(error: &CliError, json: bool, err: &mut impl Write) -> ExitCode {
    if json {
        let document = document(error).to_string();
        let _ = writeln!(anstream::stdout(), "{}", json_text(&document));
    } else {
        let text = wrap_message(&text(error), message_columns());
        let _ = err.write_all(text.as_bytes());
    }
    ExitCode::from(error.code)
}

/// Returns the error as scripts see it.
fn document(error: &CliError) -> Value {
    let candidates: Vec<&Value> = error.candidates.iter().map(|c| &c.document).collect();
    json!({"schema": 1, "error": {
        "kind": error.kind.word(), "message": error.message, "hint": error.hints.join("\n"),
        "causes": error.causes(), "candidates": candidates,
    }})
}

/// Returns the error as people see it: what failed, why, which sessions may have been meant, what to do next.
fn text(error: &CliError) -> String {
    let (word, style) = match error.code {
        3 => ("Refused:", YELLOW),
        _ => ("Error:", RED),
    };
    let mut text = paint(style.bold(), word);
    let _ = writeln!(text, " {}", clean_lines(error.message.trim_end()));
    let mut shown = error.message.clone();
    for cause in error.causes() {
        // Many messages end with their cause already.
        if !shown.contains(&cause) {
            let _ = writeln!(text, "{} {}", paint(BOLD, "Cause:"), clean_lines(&cause));
            shown.push_str(&cause);
        }
    }
    for candidate in &error.candidates {
        let _ = writeln!(text, "  {}", candidate.line);
    }
    for hint in &error.hints {
        let _ = writeln!(text, "{} {}", paint(BOLD, "Hint:"), clean_lines(hint));
    }
    text
}

#[cfg(test)]
mod tests {
    use anyhow::Context as _;

    use super::*;

    fn denied() -> io::Error {
        io::Error::new(io::ErrorKind::PermissionDenied, "not for you")
    }

    #[test]
    fn error_causes_are_kept_and_shown_once() {
        let error = Err::<(), _>(denied()).context("cannot read `x`");
        let error = CliError::from(error.expect_err("an error")).hint("ask the owner");
        assert_eq!(error.kind, ErrorKind::Permission);
        assert_eq!(error.causes(), ["not for you"]);
        let document = document(&error);
        assert_eq!(document["schema"], 1);
        assert_eq!(document["error"]["kind"], "permission-denied");
        assert_eq!(document["error"]["message"], "cannot read `x`");
        assert_eq!(document["error"]["causes"], json!(["not for you"]));
        assert_eq!(document["error"]["candidates"], json!([]));
        assert_eq!(text(&error).matches("not for you").count(), 1);
        assert_eq!(text(&error).matches("Hint:").count(), 2);
    }

    #[test]
    fn error_of_a_closed_pipe_is_known_through_its_context() {
        let pipe = io::Error::from(io::ErrorKind::BrokenPipe);
        let error = Err::<(), _>(pipe).context("cannot print");
        assert!(CliError::from(error.expect_err("an error")).is_broken_pipe());
        assert!(!CliError::from(denied()).is_broken_pipe());
    }
}
