//! Shows a session before and after an operation: as text, or as a unified diff of the transcripts.

use std::fmt::Write as _;

use similar::{ChangeTag, TextDiff};

use crate::document::{Document, Ending, LineIx};
use crate::human::count;
use crate::session::Session;
use crate::transcript::{Kind, LineState};
use crate::view::entry_text;
use crate::window::recorded_window;

use super::presenter::Presenter;
use super::style::{BOLD, DIM, GREEN, RED, paint};
use super::table::counted;
use super::text::{fit, json_text};

/// How many lines of one text are shown in words.
const LINES: usize = 12;

/// What an operation did to a line.
enum Fate {
    Dropped(LineIx),
    Edited(LineIx, LineIx),
    Inserted(LineIx),
}

/// How many lines around a change a unified diff shows. Lines are long.
const CONTEXT: usize = 1;

/// What happened to a line, for a unified diff; lines by their numbers, of the result where there is one.
#[derive(Clone, Copy)]
enum LineOp {
    Same(LineIx),
    Dropped(LineIx),
    Inserted(LineIx),
}

/// Adds the lines before and after of some operations to a count.
fn counted_lines(mut count: (usize, usize), ops: &[LineOp]) -> (usize, usize) {
    for op in ops {
        count.0 += usize::from(!matches!(op, LineOp::Inserted(_)));
        count.1 += usize::from(!matches!(op, LineOp::Dropped(_)));
    }
    count
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
    /// Returns the removed and added text, shortened. Entries whose parent alone changed are left out; for an
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

    /// Returns a unified diff of the two transcripts, for `patch` and for tools that colour diffs.
    ///
    /// It applies to the transcript, except that secrets are masked, and characters that a terminal would obey are
    /// spelt as escapes.
    pub fn raw(&self) -> String {
        let ops = self.line_ops();
        let is_change = |op: &LineOp| !matches!(op, LineOp::Same(_));
        let mut out = String::from("--- before.jsonl\n+++ after.jsonl\n");
        let mut at = 0;
        let mut before = (0, 0);
        while let Some(next) = ops[at..].iter().position(is_change) {
            let start = (at + next).saturating_sub(CONTEXT).max(at);
            let mut end = at + next + 1;
            // Changes whose contexts meet are one hunk.
            while let Some(gap) = ops[end..].iter().take(2 * CONTEXT + 1).position(is_change) {
                end += gap + 1;
            }
            let stop = (end + CONTEXT).min(ops.len());
            before = counted_lines(before, &ops[at..start]);
            self.hunk(&ops[start..stop], before, &mut out);
            before = counted_lines(before, &ops[start..stop]);
            at = stop;
        }
        out
    }

    /// Writes a hunk; `before` are the numbers of lines before it in both transcripts.
    fn hunk(&self, ops: &[LineOp], before: (usize, usize), out: &mut String) {
        let (old, new) = counted_lines((0, 0), ops);
        let first = ops.iter().find_map(|op| match *op {
            LineOp::Same(_) => None,
            LineOp::Dropped(line) => Some(self.heading(&Fate::Dropped(line))),
            LineOp::Inserted(line) => Some(self.heading(&Fate::Inserted(line))),
        });
        let heading = first.unwrap_or_default();
        let heading = heading.split_once(' ').map_or("", |h| h.1);
        // Without lines on one side, a hunk names the line before it.
        let range = |before: usize, lines: usize| match lines {
            0 => format!("{before},0"),
            lines => format!("{},{lines}", before + 1),
        };
        let header = format!(
            "@@ -{} +{} @@ {heading}",
            range(before.0, old),
            range(before.1, new)
        );
        let _ = writeln!(out, "{}", paint(DIM, header.trim_end()));
        for op in ops {
            let (style, sign, session, line) = match *op {
                LineOp::Same(line) => (DIM, ' ', self.after, line),
                LineOp::Dropped(line) => (RED, '-', self.before, line),
                LineOp::Inserted(line) => (GREEN, '+', self.after, line),
            };
            let text = self.raw_line(session, line);
            let _ = writeln!(out, "{}", paint(style, format!("{sign}{text}")));
            if session.document().lines()[line].ending() == Ending::None {
                let _ = writeln!(out, "\\ No newline at end of file");
            }
        }
    }

    /// Returns what happened to every line, removals before additions.
    fn line_ops(&self) -> Vec<LineOp> {
        let (before, after) = (self.before.document(), self.after.document());
        let lines = after.map_from_file(before.lines().len());
        let mut out = Vec::with_capacity(after.lines().len());
        let mut next_old = LineIx::default();
        for (new, source) in after.numbers().zip(lines.sources()) {
            let Some(old) = source.old_line().filter(|&old| old >= next_old) else {
                out.push(LineOp::Inserted(new));
                continue;
            };
            out.extend(next_old.up_to(old).map(LineOp::Dropped));
            next_old = old.plus(1);
            let ending = |document: &Document, line: LineIx| document.lines()[line].ending();
            if before.text(old) == after.text(new) && ending(before, old) == ending(after, new) {
                out.push(LineOp::Same(new));
            } else {
                out.push(LineOp::Dropped(old));
                out.push(LineOp::Inserted(new));
            }
        }
        out.extend(before.numbers().skip(next_old.index()).map(LineOp::Dropped));
        out
    }

    /// Returns a line as it is in the file, masked and safe for a terminal.
    fn raw_line(&self, session: &Session, line: LineIx) -> String {
        let text = String::from_utf8_lossy(session.document().text(line));
        let cr = match session.document().lines()[line].ending() {
            Ending::CrLf => "\r",
            _ => "",
        };
        match session.lines()[line] {
            LineState::Opaque => self.presenter().lines(&*text),
            _ => format!("{}{cr}", json_text(&self.presenter().masked_json(&text))),
        }
    }

    /// Returns the lines that were dropped, edited or inserted, in the order of the result.
    fn fates(&self) -> Vec<Fate> {
        let (before, after) = (self.before.document(), self.after.document());
        let lines = after.map_from_file(before.lines().len());
        let mut out = Vec::new();
        let mut next_old = LineIx::default();
        for (new, source) in after.numbers().zip(lines.sources()) {
            let Some(old) = source.old_line() else {
                out.push(Fate::Inserted(new));
                continue;
            };
            out.extend(next_old.up_to(old).map(Fate::Dropped));
            next_old = old.plus(1);
            if before.text(old) != after.text(new) {
                out.push(Fate::Edited(old, new));
            }
        }
        out.extend(before.numbers().skip(next_old.index()).map(Fate::Dropped));
        out
    }

    fn heading(&self, fate: &Fate) -> String {
        let (sign, session, line, number) = match *fate {
            Fate::Dropped(line) => ("−", self.before, line, Some(line)),
            Fate::Edited(line, _) => ("~", self.before, line, Some(line)),
            Fate::Inserted(line) => ("+", self.after, line, None),
        };
        let place = number.map_or("new line".to_owned(), |n| format!("line {}", n.from_one()));
        let LineState::Entry(i) = session.lines()[line] else {
            return format!("{sign} {place}");
        };
        let entry = session.entry(i);
        let turn = session.turns().of(session.graph(), i).filter(|&t| t > 0);
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

    fn line_text(&self, session: &Session, line: LineIx) -> String {
        match session.lines()[line] {
            LineState::Entry(i) => entry_text(session, session.entry(i)).into_raw(),
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
}

/// Returns the context size that an answer records, as a line of its own.
fn recorded(session: &Session, line: LineIx) -> String {
    let window = match session.lines()[line] {
        LineState::Entry(i) => recorded_window(session, session.entry(i)),
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
