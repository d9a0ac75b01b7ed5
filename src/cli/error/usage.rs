//! Errors in the command line itself.

use std::io::Write as _;
use std::process::ExitCode;

use clap::builder::StyledStr;
use clap::error::{ContextKind, ContextValue, ErrorKind as ClapKind};

use super::super::context::columns;
use super::super::help::footer;
use super::{CliError, ErrorKind, report};

/// Reports an error of the argument parser. Help and version texts are printed as they are.
pub(in crate::cli) fn usage(mut error: clap::Error, json: bool) -> ExitCode {
    let tips = tips(&error);
    if json && error.use_stderr() {
        let text = error.render().to_string();
        let message = text.trim().trim_start_matches("error: ").to_owned();
        let mut usage = CliError::usage(ErrorKind::Usage, message, "see ccsurgery --help");
        usage.hints.splice(0..0, tips);
        return report(&usage, true, &mut anstream::stderr());
    }
    if !tips.is_empty() {
        let styled = tips.into_iter().map(StyledStr::from).collect();
        error.insert(ContextKind::Suggested, ContextValue::StyledStrs(styled));
    }
    let _ = error.print();
    if error.kind() == ClapKind::DisplayHelp {
        let footer = footer(&error.render().to_string(), columns().min(100));
        let _ = footer.map(|footer| writeln!(std::io::stdout(), "\n{footer}"));
    }
    let _ = std::io::stdout().flush();
    ExitCode::from(error.exit_code() as u8)
}

/// What people type for things that have another name here.
const OTHER_NAMES: [(&str, &str); 9] = [
    ("cp", "to copy a session: ccsurgery clone SESSION"),
    (
        "mv",
        "after a project's folder has moved: ccsurgery move OLD NEW",
    ),
    (
        "remove",
        "to remove a session: ccsurgery rm SESSION; to remove a part of one: ccsurgery delete",
    ),
    ("find", "to find text in sessions: ccsurgery grep PATTERN"),
    (
        "view",
        "to read a session: ccsurgery show SESSION --turns 1..",
    ),
    (
        "cat",
        "to read a session: ccsurgery show SESSION --turns 1..",
    ),
    (
        "resume",
        "to resume a session: claude --resume ID; `ccsurgery ls` lists the ids",
    ),
    ("revert", "to take an operation back: ccsurgery undo"),
    ("version", "to print the version: ccsurgery --version"),
];

/// Returns advice that the argument parser cannot give.
fn tips(error: &clap::Error) -> Vec<String> {
    let text = |kind| match error.get(kind) {
        Some(ContextValue::String(text)) => Some(text.as_str()),
        _ => None,
    };
    match error.kind() {
        ClapKind::InvalidSubcommand => {
            let typed = text(ContextKind::InvalidSubcommand).unwrap_or_default();
            let known = OTHER_NAMES.iter().filter(|(name, _)| *name == typed);
            known.map(|(_, tip)| (*tip).to_owned()).collect()
        }
        ClapKind::UnknownArgument => {
            let typed = text(ContextKind::InvalidArg).unwrap_or_default();
            let usage = error.get(ContextKind::Usage).map(ToString::to_string);
            let takes_session = usage.is_some_and(|usage| usage.contains("SESSION"));
            if typed.starts_with('-') || !takes_session {
                return Vec::new();
            }
            vec![format!(
                "a title with spaces needs quotes, for example 'fix the {typed}'"
            )]
        }
        _ => Vec::new(),
    }
}
