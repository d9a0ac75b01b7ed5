//! Before and after, entry by entry: as words for people, or as the JSON itself.

use std::fmt::Write as _;

use serde_json::Value;
use similar::{ChangeTag, TextDiff};

use crate::human::count;
use crate::session::Session;
use crate::transcript::{Kind, LineState};
use crate::view::entry_text;
use crate::window::recorded_window;

use super::secrets::mask;
use super::style::{BOLD, DIM, GREEN, RED, paint};
use super::text::{clean_lines, fit};

/// How many lines of one text are shown in words.
const LINES: usize = 12;

/// How long a line of JSON is shown.
const WIDE: usize = 400;

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
    /// The words that go and come, long ones shortened. Entries that only changed their parents have none; an
    /// answer whose usage is set right has what it says.
    pub fn words(&self) -> String {
        let mut out = String::new();
        for fate in self.fates() {
            let (old, new) = match fate {
                Fate::Dropped(line) => (self.prompt_as_typed(self.before, line), String::new()),
                Fate::Edited(old, new) => (
                    self.prompt_as_typed(self.before, old) + &recorded(self.before, old),
                    self.prompt_as_typed(self.after, new) + &recorded(self.after, new),
                ),
                Fate::Inserted(line) => (String::new(), self.prompt_as_typed(self.after, line)),
            };
            if old == new {
                continue;
            }
            let _ = writeln!(out, "{}", paint(BOLD, self.heading(&fate)));
            let diff = TextDiff::from_lines(&old, &new);
            let goes: Vec<String> = lines_of(&diff, ChangeTag::Delete);
            let comes: Vec<String> = lines_of(&diff, ChangeTag::Insert);
            self.lines(&mut out, "- ", &goes);
            self.lines(&mut out, "+ ", &comes);
        }
        out
    }

    /// A unified diff of the JSON, one value a line.
    pub fn raw(&self) -> String {
        let mut out = String::new();
        for fate in self.fates() {
            let (old, new) = match fate {
                Fate::Dropped(line) => (pretty(self.before.document().text(line)), String::new()),
                Fate::Edited(old, new) => (
                    pretty(self.before.document().text(old)),
                    pretty(self.after.document().text(new)),
                ),
                Fate::Inserted(line) => (String::new(), pretty(self.after.document().text(line))),
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
                    let line = self.safe(change.value().trim_end_matches('\n'));
                    let _ = writeln!(
                        out,
                        "{}",
                        paint(style, format!("{sign}{}", fit(&line, WIDE)))
                    );
                }
            }
        }
        out
    }

    /// What became of the lines that did not stay as they were, in the order of the result.
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

    fn prompt_as_typed(&self, session: &Session, line: usize) -> String {
        match session.lines()[line] {
            LineState::Entry(i) => entry_text(session, &session.entries()[i as usize]),
            LineState::Blank => String::new(),
            LineState::Opaque => {
                String::from_utf8_lossy(session.document().text(line)).into_owned()
            }
        }
    }

    fn lines(&self, out: &mut String, sign: &str, lines: &[String]) {
        let style = if sign == "- " { RED } else { GREEN };
        for line in lines.iter().take(LINES) {
            let line = fit(&self.safe(line), self.columns.saturating_sub(4));
            let _ = writeln!(out, "  {}", paint(style, format!("{sign}{line}")));
        }
        if lines.len() > LINES {
            let _ = writeln!(
                out,
                "  {}",
                paint(DIM, format!("  … {} more lines", lines.len() - LINES))
            );
        }
    }

    fn safe(&self, text: &str) -> String {
        let masked = if self.show_secrets {
            text.into()
        } else {
            mask(text)
        };
        clean_lines(&masked)
    }
}

/// What an answer's line says of the window at its request, as a line of its own.
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

/// A line of JSON with one value a line; what is no JSON as it is.
fn pretty(text: &[u8]) -> String {
    let value =
        serde_json::from_slice::<Value>(text).and_then(|v| serde_json::to_string_pretty(&v));
    let mut text = value.unwrap_or_else(|_| String::from_utf8_lossy(text).into_owned());
    text.push('\n');
    text
}
