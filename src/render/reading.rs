//! Turns to read: text, a line for each call, edits as diffs, results shortened.

use std::fmt::Write as _;

use anstyle::Style;

use crate::human::bytes;
use crate::view::{CallItem, ItemContent, SessionText, TurnContent, TurnItem};

use super::edits::edit_lines;
use super::presenter::Untrusted;
use super::screen::Screen;
use super::style::{BOLD, DIM, GREEN, RED, YELLOW, paint};
use super::table::counted;
use super::text::{fit, width, wrap};

/// How many lines of a result, of thinking, of an edit and of a note are shown, unless all are.
const RESULT: usize = 8;
const THINKING: usize = 6;
const EDIT: usize = 16;
const NOTE: usize = 3;

/// Lays out turns to read.
#[derive(Debug, Clone, Copy)]
pub struct Reading<'a> {
    /// The screen.
    pub screen: Screen<'a>,
    /// Whether results, inputs and thinking are shown whole.
    pub full: bool,
}

/// How a text with a margin is laid out.
struct Margin<'a> {
    first: &'a str,
    rest: &'a str,
    style: Style,
    limit: usize,
}

impl Reading<'_> {
    /// Returns a turn under its heading.
    pub fn turn(&self, content: &TurnContent) -> String {
        let title = match content.turn {
            0 => "before the first prompt".to_owned(),
            n => format!("turn {n}"),
        };
        let rule = self.screen.columns.saturating_sub(title.len() + 4).min(60);
        let mut out = format!(
            "{} {}\n",
            paint(BOLD, format!("── {title}")),
            paint(DIM, "─".repeat(rule))
        );
        for item in &content.items {
            self.item(item, &mut out);
        }
        out.truncate(out.trim_end().len());
        out + "\n"
    }

    /// Returns prompts and answers as plain text with a blank line between them, and a line for each call.
    pub fn plain<'i>(&self, items: impl Iterator<Item = &'i TurnItem>) -> String {
        let mut out = String::new();
        for item in items {
            match &item.content {
                ItemContent::Prompt { text } | ItemContent::Answer { text } => {
                    let gap = if out.is_empty() { "" } else { "\n" };
                    let text = self.screen.presenter.lines(text);
                    let _ = writeln!(out, "{gap}{}", text.trim_end());
                }
                ItemContent::Call(call) => {
                    let (tool, gist) = (self.screen.line(&call.tool), self.screen.line(&call.gist));
                    let line = format!("{tool}  {gist}");
                    let _ = writeln!(out, "{}", line.trim_end());
                }
                _ => {}
            }
        }
        out
    }

    fn item(&self, item: &TurnItem, out: &mut String) {
        match &item.content {
            ItemContent::Prompt { text } => self.prompt(text, out),
            ItemContent::Answer { text } => {
                for line in self.wrapped(text, 0).concat() {
                    let _ = writeln!(out, "{line}");
                }
                out.push('\n');
            }
            ItemContent::Thinking { text } if text.is_empty() => {
                let _ = writeln!(out, "{}\n", paint(DIM, "✻ (thinking, redacted)"));
            }
            ItemContent::Thinking { text } => {
                let margin = self.margin("✻ ", "  ", DIM.italic(), THINKING);
                self.shortened(&self.wrapped(text, 2), &margin, out);
                out.push('\n');
            }
            ItemContent::Call(call) => self.call(call, out),
            ItemContent::Result { text, error, .. } => {
                let style = if *error { RED } else { DIM };
                let margin = self.margin("  ⎿ ", "    ", style, RESULT);
                if text.raw().trim().is_empty() {
                    self.shortened(&[vec!["(nothing)".to_owned()]], &margin, out);
                } else {
                    self.shortened(&self.wrapped(text.raw().trim_end(), 4), &margin, out);
                }
                out.push('\n');
            }
            ItemContent::Image(media) | ItemContent::Document(media) => {
                let image = image(
                    &self.screen.line(&media.format),
                    media.width,
                    media.height,
                    media.bytes,
                );
                let _ = writeln!(out, "  {}\n", paint(DIM, image));
            }
            ItemContent::Compaction { trigger, .. } => self.note("compaction", trigger, out),
            ItemContent::Summary { text } => self.note("summary", text, out),
            ItemContent::Note { what, text } => self.note(&self.screen.line(what), text, out),
        }
    }

    fn note(&self, what: &str, text: &SessionText, out: &mut String) {
        let what = format!("[{what}] ");
        let rest = " ".repeat(width(&what));
        let margin = self.margin(&what, &rest, DIM, NOTE);
        self.shortened(&self.wrapped(text.raw().trim(), rest.len()), &margin, out);
    }

    fn prompt(&self, text: &SessionText, out: &mut String) {
        out.push('\n');
        for (i, line) in self.wrapped(text, 2).concat().iter().enumerate() {
            let mark = if i == 0 {
                paint(GREEN.bold(), "❯ ")
            } else {
                "  ".to_owned()
            };
            let _ = writeln!(out, "{mark}{}", paint(BOLD, line));
        }
        out.push('\n');
    }

    fn call(&self, call: &CallItem, out: &mut String) {
        let (id, name) = (self.screen.line(&call.id), self.screen.line(&call.tool));
        let used = width(&name) + width(&id) + 7;
        let room = self.screen.columns.saturating_sub(used).max(20);
        let gist = self.screen.line(&call.gist);
        let gist = if self.full { gist } else { fit(&gist, room) };
        let line = format!("{} {}  {gist}", paint(YELLOW, "●"), paint(BOLD, &name));
        let line = format!("{}  {}", line.trim_end(), paint(DIM, id));
        let _ = writeln!(out, "{}", line.trim_end());
        let columns = self.screen.columns.saturating_sub(4).max(10);
        let limit = if self.full { usize::MAX } else { EDIT };
        let edit = edit_lines(self.screen.presenter, &call.edits, columns, limit);
        if let Some(lines) = &edit {
            for line in lines {
                let _ = writeln!(out, "    {line}");
            }
        } else if self.full {
            let masked = self.screen.presenter.masked_json(call.input.raw());
            let pretty = serde_json::from_str::<serde_json::Value>(&masked)
                .and_then(|v| serde_json::to_string_pretty(&v))
                .unwrap_or_else(|_| masked.into_owned());
            let margin = self.margin("    ", "    ", DIM, usize::MAX);
            self.shortened(&self.wrapped(&pretty, 4), &margin, out);
        }
    }

    fn margin<'m>(&self, first: &'m str, rest: &'m str, style: Style, limit: usize) -> Margin<'m> {
        Margin {
            first,
            rest,
            style,
            limit: if self.full { usize::MAX } else { limit },
        }
    }

    /// Returns the lines of a text, each wrapped to fit after an indentation.
    fn wrapped(&self, text: impl Untrusted, indent: usize) -> Vec<Vec<String>> {
        let columns = self.screen.columns.saturating_sub(indent).max(10);
        let safe = self.screen.presenter.lines(text);
        safe.split('\n').map(|line| wrap(line, columns)).collect()
    }

    /// Writes as many rows as the limit allows, then how many lines of the text are left.
    fn shortened(&self, lines: &[Vec<String>], margin: &Margin<'_>, out: &mut String) {
        let rows: usize = lines.iter().map(Vec::len).sum();
        // A note that one row was left out would take as much room as the row.
        let shown = if rows <= margin.limit.saturating_add(1) {
            rows
        } else {
            margin.limit
        };
        for (i, row) in lines.iter().flatten().take(shown).enumerate() {
            let lead = if i == 0 { margin.first } else { margin.rest };
            if row.is_empty() && i > 0 {
                out.push('\n');
                continue;
            }
            let line = format!("{}{}", paint(DIM, lead), paint(margin.style, row));
            let _ = writeln!(out, "{}", line.trim_end());
        }
        if shown < rows {
            let left = lines_after(lines, shown);
            let note = match left {
                0 => "… the rest of this line".to_owned(),
                n => format!("… {}", counted(n as u64, "more line", "more lines")),
            };
            let _ = writeln!(out, "{}{}", margin.rest, paint(DIM, note));
        }
    }
}

/// Returns how many lines have none of their rows among the first `shown`.
fn lines_after(lines: &[Vec<String>], shown: usize) -> usize {
    let mut rows = 0;
    let begun = lines.iter().take_while(|line| {
        let begins_before = rows < shown;
        rows += line.len();
        begins_before
    });
    lines.len() - begun.count()
}

/// Returns a line for an image: `[image 640×480 png 84 KB]`.
fn image(format: &str, width: Option<u32>, height: Option<u32>, size: u64) -> String {
    match (width, height) {
        (Some(w), Some(h)) => format!("[image {w}×{h} {format} {}]", bytes(size)),
        _ => format!("[image {format} {}]", bytes(size)),
    }
}
