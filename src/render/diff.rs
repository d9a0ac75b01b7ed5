//! A session before and after an operation, entry by entry: as text, or as the JSON itself.

use std::fmt::Write as _;

use serde_json::Value;
use similar::{ChangeTag, TextDiff};

use crate::human::count;
use crate::session::Session;
use crate::transcript::{Kind, LineState};
use crate::view::entry_text;
use crate::window::recorded_window;

use super::presenter::Presenter;
use super::style::{BOLD, DIM, GREEN, RED, paint};
use super::table::counted;
use super::text::{clean_lines, fit};

/// How many lines of one text are shown in words.
const LINES: usize = 12;

/// How a line came out.
enum Fate {
    Dropped(usize),
    Edited(usize, usize),
    Inserted(usize),
}

/// The differences between a session and what is made of it.
#[derive(Debug)]
pub struct SessionDiff<'a> {
    /// The session.
    pub before: &'a Session,
    /// What is made of it.
    pub after: &'a Session,
    /// Columns of the terminal.
    pub columns: usize,
    /// Whether keys and tokens are shown.
    pub show_secrets: bool,
}

impl SessionDiff<'_> {
    /// Returns the removed and added text, shortened. Entries of which only the parent changed are left out; for an
    /// answer whose recorded usage was lowered, the usage is shown.
    pub fn words(&self) -> String {
        let mut out = String::new();
        for fate in self.fates() {
            let (old, new) = match fate {
                Fate::Dropped(line) => (self.line_text(self.before, line), String::new()),
                Fate::Edited(old, new) => (
                    self.line_text(self.before, old) + &recorded(self.before, old),
                    self.line_text(self.after, new) + &recorded(self.after, new),
                ),
                Fate::Inserted(line) => (String::new(), self.line_text(self.after, line)),
            };
            if old == new {
                continue;
            }
            let _ = writeln!(out, "{}", paint(BOLD, self.heading(&fate)));
            // Masked whole: a key that spans lines is not recognised line by line.
            let (old, new) = (self.presenter().lines(&old), self.presenter().lines(&new));
            let diff = TextDiff::from_lines(&old, &new);
            let removed: Vec<String> = lines_of(&diff, ChangeTag::Delete);
            let added: Vec<String> = lines_of(&diff, ChangeTag::Insert);
            self.lines(&mut out, "- ", &removed);
            self.lines(&mut out, "+ ", &added);
        }
        out
    }

    /// Returns a unified diff of the JSON with one value per line.
    pub fn raw(&self) -> String {
        let mut out = String::new();
        for fate in self.fates() {
            let (old, new) = match fate {
                Fate::Dropped(line) => (self.pretty(self.before, line), String::new()),
                Fate::Edited(old, new) => {
                    (self.pretty(self.before, old), self.pretty(self.after, new))
                }
                Fate::Inserted(line) => (String::new(), self.pretty(self.after, line)),
            };
            let _ = writeln!(out, "{}", paint(BOLD, self.heading(&fate)));
            let diff = TextDiff::from_lines(&old, &new);
            for hunk in diff.unified_diff().context_radius(2).iter_hunks() {
                let _ = writeln!(out, "{}", paint(DIM, hunk.header()));
                for change in hunk.iter_changes() {
                    let (style, sign) = match change.tag() {
                        ChangeTag::Delete => (RED, '-'),
                        ChangeTag::Insert => (GREEN, '+'),
                        ChangeTag::Equal => (DIM, ' '),
                    };
                    let line = clean_lines(change.value().trim_end_matches('\n'));
                    let _ = writeln!(out, "{}", paint(style, format!("{sign}{line}")));
                }
            }
        }
        out
    }

    /// Returns the lines that were dropped, edited or inserted, in the order of the result.
    fn fates(&self) -> Vec<Fate> {
        let (before, after) = (self.before.document(), self.after.document());
        let lines = after.map_from_file(before.lines().len());
        let mut out = Vec::new();
        let mut next_old = 0;
        for (new, source) in lines.sources().iter().enumerate() {
            let Some(old) = source.old_line() else {
                out.push(Fate::Inserted(new));
                continue;
            };
            out.extend((next_old..old).map(Fate::Dropped));
            next_old = old + 1;
            if before.text(old) != after.text(new) {
                out.push(Fate::Edited(old, new));
            }
        }
        out.extend((next_old..before.lines().len()).map(Fate::Dropped));
        out
    }

    fn heading(&self, fate: &Fate) -> String {
        let (sign, session, line, number) = match *fate {
            Fate::Dropped(line) => ("−", self.before, line, Some(line)),
            Fate::Edited(line, _) => ("~", self.before, line, Some(line)),
            Fate::Inserted(line) => ("+", self.after, line, None),
        };
        let place = number.map_or("new line".to_owned(), |n| format!("line {}", n + 1));
        let LineState::Entry(i) = session.lines()[line] else {
            return format!("{sign} {place}");
        };
        let entry = &session.entries()[i as usize];
        let turn = session
            .turns()
            .of(session.graph(), i as usize)
            .filter(|&t| t > 0);
        let turn = turn.map_or(String::new(), |t| format!("turn {t}, "));
        let kind = match entry.kind {
            Kind::User => "user",
            Kind::Assistant => "assistant",
            Kind::System => "system",
            Kind::Attachment => "attachment",
            _ => "metadata",
        };
        format!("{sign} {turn}{place}, {kind}")
    }

    fn line_text(&self, session: &Session, line: usize) -> String {
        match session.lines()[line] {
            LineState::Entry(i) => entry_text(session, &session.entries()[i as usize]).into_raw(),
            LineState::Blank => String::new(),
            LineState::Opaque => {
                String::from_utf8_lossy(session.document().text(line)).into_owned()
            }
        }
    }

    fn lines(&self, out: &mut String, sign: &str, lines: &[String]) {
        let style = if sign == "- " { RED } else { GREEN };
        for line in lines.iter().take(LINES) {
            let line = fit(line, self.columns.saturating_sub(4));
            let _ = writeln!(out, "  {}", paint(style, format!("{sign}{line}")));
        }
        if lines.len() > LINES {
            let left = (lines.len() - LINES) as u64;
            let note = format!("  … {}", counted(left, "more line", "more lines"));
            let _ = writeln!(out, "  {}", paint(DIM, note));
        }
    }

    fn presenter(&self) -> Presenter {
        Presenter {
            show_secrets: self.show_secrets,
        }
    }

    /// Returns a line of JSON, masked, with one value per line; a line that is not JSON as it is.
    fn pretty(&self, session: &Session, line: usize) -> String {
        let text = String::from_utf8_lossy(session.document().text(line));
        let value = serde_json::from_str::<Value>(&self.presenter().masked_json(&text))
            .and_then(|v| serde_json::to_string_pretty(&v));
        let mut text = value.unwrap_or_else(|_| self.presenter().masked(&text).into_owned());
        text.push('\n');
        text
    }
}

/// Returns the context size that an answer records, as a line of its own.
fn recorded(session: &Session, line: usize) -> String {
    let window = match session.lines()[line] {
        LineState::Entry(i) => recorded_window(session, &session.entries()[i as usize]),
        LineState::Blank | LineState::Opaque => None,
    };
    window.map_or_else(String::new, |n| format!("\nusage: {} tokens\n", count(n)))
}

fn lines_of(diff: &TextDiff<'_, '_, str>, tag: ChangeTag) -> Vec<String> {
    let changes = diff.iter_all_changes().filter(|c| c.tag() == tag);
    changes
        .map(|c| c.value().trim_end_matches('\n').to_owned())
        .collect()
}
