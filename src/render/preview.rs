//! The preview of an operation: one screen, whatever the size of the session.

mod files;
mod rows;

use std::fmt::Write as _;
use std::path::PathBuf;

use serde::Serialize;

use crate::surgery::{Change, Figures};

use super::presenter::{Presenter, Untrusted};
use super::style::{BOLD, DIM, GREEN, YELLOW, paint};
use super::text::{clean, fit, pad, short_id, short_path, width, wrap};
use crate::human::{bytes, count, tokens};
use crate::view::SessionText;

/// How a file beside the transcript is made.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "lowercase")]
#[allow(missing_docs)]
pub enum FileAction {
    Write,
    Copy,
    Link,
    Remove,
}

/// A file that an operation makes.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct FileRow {
    /// Its path.
    #[serde(serialize_with = "crate::view::shown_path")]
    pub path: PathBuf,
    /// How it is made.
    pub action: FileAction,
    /// Its size.
    #[serde(skip)]
    pub len: u64,
    /// What it is.
    #[serde(skip)]
    pub what: &'static str,
}

/// Everything that the preview shows.
#[derive(Debug)]
pub struct Preview<'a> {
    /// The operation's name.
    pub operation: &'a str,
    /// The session's id.
    pub session_id: &'a str,
    /// Its title or first prompt.
    pub title: &'a SessionText,
    /// The folder that it was held in.
    pub project: &'a str,
    /// Its figures before.
    pub before: Figures,
    /// Its figures after.
    pub after: Figures,
    /// The steps that the program chose by itself, as text with colours; empty if the person chose them.
    pub steps: &'a str,
    /// What is changed.
    pub changes: &'a [Change],
    /// The bytes that the session was read from, for the excerpts of changes.
    pub source: &'a [u8],
    /// How many entries get fresh ids.
    pub renamed: usize,
    /// Files that are made.
    pub files: &'a [FileRow],
    /// Notes for the person.
    pub warnings: &'a [String],
    /// The home folder, to shorten paths.
    pub home: Option<&'a std::path::Path>,
    /// Columns of the terminal.
    pub columns: usize,
    /// Whether every change gets a row.
    pub verbose: bool,
    /// Whether keys and tokens are shown as they are.
    pub show_secrets: bool,
}

impl Preview<'_> {
    /// Returns the preview as text with colours.
    pub fn render(&self) -> String {
        let mut out = String::new();
        self.heading(&mut out);
        if !self.steps.is_empty() {
            let _ = writeln!(out, "{}", self.steps);
        }
        self.figures(&mut out);
        self.rows(&mut out);
        self.file_rows(&mut out);
        for warning in self.warnings {
            let words = wrap(&clean(warning), self.columns.saturating_sub(6));
            for (i, line) in words.iter().enumerate() {
                let margin = if i == 0 {
                    paint(YELLOW, "note:")
                } else {
                    "     ".to_owned()
                };
                let _ = writeln!(out, "{margin} {line}");
            }
        }
        out
    }

    fn heading(&self, out: &mut String) {
        let id = short_id(self.session_id);
        let room = self
            .columns
            .saturating_sub(width(self.operation) + width(&id) + 6)
            .max(8);
        let _ = writeln!(
            out,
            "{}  {}  “{}”",
            paint(BOLD, self.operation),
            id,
            fit(&self.words(self.title), room)
        );
        let project = short_path(
            std::path::Path::new(self.project),
            self.home,
            self.columns.saturating_sub(9),
        );
        let _ = writeln!(out, "{}\n", paint(DIM, format!("project  {project}")));
    }

    fn figures(&self, out: &mut String) {
        let (b, a) = (self.before, self.after);
        let about = |n: u64| format!("~{}", tokens(n));
        let grid = [
            (
                "turns",
                count(b.turns),
                count(a.turns),
                difference(b.turns, a.turns, &|n| count(n)),
            ),
            (
                "entries",
                count(b.entries),
                count(a.entries),
                difference(b.entries, a.entries, &|n| count(n)),
            ),
            (
                "size",
                bytes(b.bytes),
                bytes(a.bytes),
                difference(b.bytes, a.bytes, &|n| bytes(n)),
            ),
            (
                "window",
                about(b.tokens),
                about(a.tokens),
                difference(b.tokens, a.tokens, &|n| tokens(n) + self.unit()),
            ),
        ];
        let before_width = grid.iter().map(|r| width(&r.1)).max().unwrap_or(0) as i32;
        let after_width = grid.iter().map(|r| width(&r.2)).max().unwrap_or(0) as i32;
        for (name, before, after, difference) in grid {
            let line = format!(
                "{}  {} → {}  {difference}",
                pad(name, 7),
                pad(&before, -before_width),
                pad(&after, -after_width)
            );
            let _ = writeln!(out, "  {}", line.trim_end());
        }
        out.push('\n');
    }

    /// Returns the unit of tokens, for which a narrow screen has no room.
    fn unit(&self) -> &'static str {
        if self.columns < 56 { "" } else { " tokens" }
    }

    fn words(&self, text: impl Untrusted) -> String {
        let presenter = Presenter {
            show_secrets: self.show_secrets,
        };
        presenter.line(text)
    }
}

fn difference(before: u64, after: u64, text: &dyn Fn(u64) -> String) -> String {
    match after.cmp(&before) {
        std::cmp::Ordering::Equal => String::new(),
        std::cmp::Ordering::Greater => paint(YELLOW, format!("+{}", text(after - before))),
        std::cmp::Ordering::Less => paint(GREEN, format!("−{}", text(before - after))),
    }
}
