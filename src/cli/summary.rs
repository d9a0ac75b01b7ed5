//! Reads summaries from files and commands.

use std::io::{Read as _, Write as _};
use std::path::{Path, PathBuf};
use std::process::Stdio;

use crate::ops::Summarizer;
use crate::surgery::{Refusal, Why};

use super::shell::run_line;

/// Where a summary comes from, other than the options themselves.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum SummarySource {
    /// A file; `-` is standard input.
    File(PathBuf),
    /// A command's output.
    Command(String),
}

impl Summarizer for SummarySource {
    fn summary(&self, text: &dyn Fn() -> String) -> Result<String, Refusal> {
        match self {
            Self::File(path) => read(path),
            Self::Command(command) => ask(command, &text()),
        }
    }
}

fn failed(kind: &'static str, message: impl Into<String>, hint: &str) -> Refusal {
    Refusal {
        why: Why::Failed,
        ..Refusal::new(kind, message, hint)
    }
}

/// Reads a summary from a file or from standard input.
fn read(path: &Path) -> Result<String, Refusal> {
    let mut text = String::new();
    let outcome = if path.as_os_str() == "-" {
        std::io::stdin().read_to_string(&mut text).map(drop)
    } else {
        fs_err::read_to_string(path).map(|t| text = t)
    };
    outcome.map_err(|e| {
        failed(
            "summary",
            format!("the summary cannot be read: {e}"),
            "give a text file, or - for standard input",
        )
    })?;
    if text.trim().is_empty() {
        return Err(failed(
            "empty-summary",
            "the summary is empty",
            "nothing was written",
        ));
    }
    Ok(text.trim_end().to_owned())
}

/// Runs a command in the shell with the text of the turns on its standard input, and returns what it prints.
fn ask(command: &str, text: &str) -> Result<String, Refusal> {
    let spawned = run_line(command, None)
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn();
    let mut child = spawned.map_err(|e| {
        failed(
            "summarizer",
            format!("the summarizer cannot be started: {e}"),
            "nothing was written",
        )
    })?;
    let stdin = child.stdin.take();
    let output = std::thread::scope(|scope| {
        // A command may end without reading all of its input.
        scope.spawn(move || stdin.map(|mut pipe| pipe.write_all(text.as_bytes())));
        child.wait_with_output()
    });
    let output = output.map_err(|e| {
        failed(
            "summarizer",
            format!("the summarizer failed: {e}"),
            "nothing was written",
        )
    })?;
    let stderr = String::from_utf8_lossy(&output.stderr).trim().to_owned();
    if !output.status.success() {
        return Err(failed(
            "summarizer",
            format!("the summarizer failed ({})\n{stderr}", output.status),
            "nothing was written",
        ));
    }
    let summary = String::from_utf8_lossy(&output.stdout).trim().to_owned();
    if summary.is_empty() {
        return Err(failed(
            "summarizer",
            format!("the summarizer printed nothing\n{stderr}"),
            "nothing was written",
        ));
    }
    Ok(summary)
}
