//! Summaries that come from a file or a command.

use std::io::{Read as _, Write as _};
use std::path::PathBuf;
use std::process::{Command, Stdio};

use crate::ops::{Compact, summarised_text};
use crate::session::Session;
use crate::surgery::{Detail, Plan, Refusal, Transform, Why};

/// Where a summary comes from, other than the command line itself.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum SummarySource {
    /// The options say it, or a digest is made.
    Options,
    /// A file; `-` is standard input.
    File(PathBuf),
    /// A command's output.
    Summarizer(String),
}

impl SummarySource {
    pub(super) fn new(file: Option<PathBuf>, command: Option<String>) -> Self {
        match (file, command) {
            (Some(file), _) => Self::File(file),
            (None, Some(command)) => Self::Summarizer(command),
            (None, None) => Self::Options,
        }
    }
}

/// A compaction whose summary is fetched when its turns are known.
#[derive(Debug)]
pub(super) struct CompactWith {
    pub(super) options: Compact,
    pub(super) source: SummarySource,
}

impl Transform for CompactWith {
    fn name(&self) -> &'static str {
        "compact"
    }

    fn plan(&self, session: &Session, _: Detail) -> Result<Plan, Refusal> {
        let upto = self.options.last_summarised(session)?;
        let mut options = self.options.clone();
        // Where there is nothing to summarise, nobody is asked for a summary.
        if upto > 0 {
            match &self.source {
                SummarySource::Options => {}
                SummarySource::File(path) => options.summary = Some(read(path)?),
                SummarySource::Summarizer(command) => {
                    options.summary = Some(ask(command, &summarised_text(session, upto))?);
                }
            }
        }
        options.plan(session, Detail::Full)
    }
}

fn failed(kind: &'static str, message: impl Into<String>, hint: &str) -> Refusal {
    Refusal {
        why: Why::Failed,
        ..Refusal::new(kind, message, hint)
    }
}

fn read(path: &std::path::Path) -> Result<String, Refusal> {
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

/// Runs a command through the shell, the turns' text on its standard input.
fn ask(command: &str, text: &str) -> Result<String, Refusal> {
    let (shell, flag) = if cfg!(windows) {
        ("cmd", "/C")
    } else {
        ("sh", "-c")
    };
    let spawned = Command::new(shell)
        .args([flag, command])
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
        // A command need not read all of its input.
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
