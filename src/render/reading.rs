//! Turns to read: Markdown, a line for each call, edits as diffs, results shortened.

use std::fmt::Write as _;
use std::path::Path;

use anstyle::Style;

use crate::human::{bytes, duration, tokens};
use crate::view::{
    CallItem, ItemContent, MediaItem, SessionText, TurnContent, TurnItem, note_heading,
};

use super::edits::{change_counts, edit_lines};
use super::markdown::MarkdownText;
use super::presenter::Untrusted;
use super::screen::Screen;
use super::style::{BOLD, DIM, GREEN, RED, YELLOW, paint};
use super::table::counted;
use super::text::{fit, short_id, short_path, width, wrap};

/// How many lines of a result, of thinking, of an edit and of a note are shown, unless all are.
const RESULT: usize = 8;
const THINKING: usize = 6;
const EDIT: usize = 20;
const NOTE: usize = 3;

/// The columns at the right that the id of a message takes, and the narrowest screen that has room for it.
const ID_ROOM: usize = 10;
const ROOM_FOR_IDS: usize = 76;

/// The widest that headings and ids reach, so that they stay near the text on a wide screen.
const WIDEST: usize = 110;

/// Lays out turns to read.
#[derive(Debug, Clone, Copy)]
pub struct Reading<'a> {
    /// The screen.
    pub screen: Screen<'a>,
    /// Whether results, inputs and thinking are shown whole.
    pub full: bool,
    /// The beginning of the command that shows a subagent, to which its id is added.
    pub agent_command: &'a str,
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
        let mut out = self.heading(content);
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

    /// Returns the line above a turn: its number, when it began, how long it took, and its tokens.
    fn heading(&self, content: &TurnContent) -> String {
        let title = match content.turn {
            0 => "before the first prompt".to_owned(),
            n => format!("turn {n}"),
        };
        let took = content.time_ms.zip(content.ended_ms);
        let took = took.map(|(from, to)| to.saturating_sub(from).max(0) as u64 / 1000);
        let facts = [
            content.time_ms.and_then(|time| self.screen.time_of(time)),
            took.filter(|&seconds| seconds > 0).map(duration),
            content
                .tokens
                .filter(|&n| n > 0)
                .map(|n| format!("~{} tokens", tokens(n))),
            content
                .window_tokens
                .map(|n| format!("context {}", tokens(n))),
            content.model.as_ref().map(|model| self.screen.line(model)),
        ];
        let columns = self.columns().min(WIDEST);
        let mut line = format!("── {title}");
        let mut shown = paint(BOLD, &line);
        for fact in facts.into_iter().flatten() {
            if width(&line) + width(&fact) + 3 > columns {
                break;
            }
            line = format!("{line} · {fact}");
            shown = format!("{shown}{}", paint(DIM, format!(" · {fact}")));
        }
        let rule = columns.saturating_sub(width(&line) + 1);
        if self.screen.is_pipe {
            format!("{shown}\n")
        } else {
            format!("{shown} {}\n", paint(DIM, "─".repeat(rule)))
        }
    }

    fn item(&self, item: &TurnItem, out: &mut String) {
        let id = item.uuid.as_deref().map(short_id).unwrap_or_default();
        match &item.content {
            ItemContent::Prompt { text } => self.prompt(text, &id, out),
            ItemContent::Answer { text } => {
                self.with_id(&self.markdown(text, self.text_columns()), &id, out);
                out.push('\n');
            }
            ItemContent::Thinking { text } if text.raw().trim().is_empty() => {
                let _ = writeln!(out, "{}\n", paint(DIM, "✻ (thinking, redacted)"));
            }
            ItemContent::Thinking { text } => {
                let margin = self.margin("✻ ", "  ", DIM.italic(), THINKING);
                self.shortened(&self.wrapped(text, 2), &margin, out);
                out.push('\n');
            }
            ItemContent::Call(call) => self.call(call, out),
            ItemContent::Result { text, error, .. } => self.result(text, *error, out),
            ItemContent::Image(media) => self.media("image", media, out),
            ItemContent::Document(media) => self.media("document", media, out),
            ItemContent::Compaction { trigger, tokens } => self.compaction(trigger, *tokens, out),
            ItemContent::Summary { text } => {
                let _ = writeln!(out, "{}", paint(DIM, "summary of what came before:"));
                let rows = self.markdown(text, self.text_columns().saturating_sub(2));
                let rows: Vec<Vec<String>> = rows.into_iter().map(|row| vec![row]).collect();
                let margin = self.margin("  ", "  ", Style::new(), RESULT);
                self.shortened(&rows, &margin, out);
                out.push('\n');
            }
            ItemContent::Note { what, text } => {
                let what = format!("[{}] ", self.screen.line(note_heading(what)));
                let rest = " ".repeat(width(&what));
                let margin = self.margin(&what, &rest, DIM, NOTE);
                self.shortened(&self.wrapped(text.raw().trim(), rest.len()), &margin, out);
            }
        }
    }

    fn prompt(&self, text: &SessionText, id: &str, out: &mut String) {
        out.push('\n');
        let safe = self.screen.presenter.lines(text);
        let columns = self.text_columns().saturating_sub(2).max(10);
        let rows = safe.split('\n').flat_map(|line| wrap(line, columns));
        let rows = rows.enumerate().map(|(i, row)| {
            let mark = match i {
                0 => paint(GREEN.bold(), "❯ "),
                _ => "  ".to_owned(),
            };
            format!("{mark}{}", paint(BOLD, row))
        });
        self.with_id(&rows.collect::<Vec<_>>(), id, out);
        out.push('\n');
    }

    fn call(&self, call: &CallItem, out: &mut String) {
        let (id, name) = (self.screen.line(&call.id), self.screen.line(&call.tool));
        let counts = change_counts(self.screen.presenter, &call.edits);
        let used = width(&name) + width(&id) + width(&counts.0) + 9;
        let room = self.columns().saturating_sub(used);
        // On a narrow screen the id gets a line of its own.
        let own_line = room < 24;
        let room = if own_line { room + width(&id) } else { room };
        let gist = self.call_gist(call, room.max(8));
        let line = format!("{} {}  {gist}", paint(YELLOW, "●"), paint(BOLD, &name));
        let line = format!("{}{}", line.trim_end(), counts.1);
        let gap = if own_line { "\n    " } else { "  " };
        let line = format!("{line}{gap}{}", paint(DIM, id));
        let _ = writeln!(out, "{}", line.trim_end());
        let columns = self.columns().saturating_sub(4).max(10);
        let limit = self.limit(EDIT);
        let edit = edit_lines(&self.screen, &call.edits, columns, limit);
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
        if let Some(agent) = &call.agent_id {
            let agent = self.screen.line(agent);
            let short: String = agent.chars().take(12).collect();
            let note = format!("↳ subagent: {} --agent {short}", self.agent_command);
            for row in wrap(&note, columns) {
                let _ = writeln!(out, "    {}", paint(DIM, row));
            }
        }
    }

    /// Returns what a call does in at most `room` columns.
    fn call_gist(&self, call: &CallItem, room: usize) -> String {
        let gist = self.screen.line(&call.gist);
        if self.full || self.screen.is_pipe {
            gist
        } else if gist.starts_with('/') && !gist.contains(' ') {
            // The end of a path says more than its beginning.
            fit(&short_path(Path::new(&gist), self.screen.home, room), room)
        } else {
            fit(&gist, room)
        }
    }

    fn result(&self, text: &SessionText, error: bool, out: &mut String) {
        let style = if error { RED } else { DIM };
        let margin = self.margin("  ⎿ ", "    ", style, RESULT);
        let text = text.raw().trim_end();
        if text.trim().is_empty() {
            self.shortened(&[vec!["(nothing)".to_owned()]], &margin, out);
        } else {
            self.shortened(&self.wrapped(text, 4), &margin, out);
        }
        out.push('\n');
    }

    /// Writes a line for an image or a document: `[image 640×480 png 84 KB]`.
    fn media(&self, what: &str, media: &MediaItem, out: &mut String) {
        let mut line = format!("[{what}");
        if !media.title.is_empty() {
            let _ = write!(line, " “{}”", self.screen.line(&media.title));
        }
        if let (Some(w), Some(h)) = (media.width, media.height) {
            let _ = write!(line, " {w}×{h}");
        }
        let format = self.screen.line(&media.format);
        let _ = writeln!(
            out,
            "  {}\n",
            paint(DIM, format!("{line} {format} {}]", bytes(media.bytes)))
        );
    }

    fn compaction(&self, trigger: &SessionText, before: Option<u64>, out: &mut String) {
        let how = match trigger.raw() {
            "auto" => "compacted automatically".to_owned(),
            "manual" => "compacted by /compact".to_owned(),
            "" => "compacted".to_owned(),
            _ => format!("compacted ({})", self.screen.line(trigger)),
        };
        let before = before.map_or(String::new(), |n| format!(" at {} tokens", tokens(n)));
        let line = format!("┄┄ {how}{before}: the model is shown a summary of what precedes ┄┄");
        for row in wrap(&line, self.columns()) {
            let _ = writeln!(out, "{}", paint(YELLOW, row));
        }
        out.push('\n');
    }

    /// Returns a Markdown text as rows; in a pipe as it is.
    fn markdown(&self, text: &SessionText, columns: usize) -> Vec<String> {
        let safe = self.screen.presenter.lines(text);
        if self.screen.is_pipe {
            return safe.trim_end().split('\n').map(str::to_owned).collect();
        }
        MarkdownText::rows(&self.screen, &safe, columns)
    }

    /// Writes rows, and at the end of the first one the id of their message.
    fn with_id(&self, rows: &[String], id: &str, out: &mut String) {
        for (i, row) in rows.iter().enumerate() {
            if i > 0 || id.is_empty() || !self.has_ids() {
                let _ = writeln!(out, "{row}");
                continue;
            }
            if self.screen.is_pipe {
                let _ = writeln!(out, "{row}  [{id}]");
                continue;
            }
            let taken = width(&strip(row)) + width(id);
            let gap = self.columns().min(WIDEST).saturating_sub(taken).max(2);
            let _ = writeln!(out, "{row}{}{}", " ".repeat(gap), paint(DIM, id));
        }
    }

    fn has_ids(&self) -> bool {
        self.screen.is_pipe || self.screen.columns >= ROOM_FOR_IDS
    }

    /// The width of the screen; in a pipe it has no limit.
    fn columns(&self) -> usize {
        if self.screen.is_pipe {
            usize::MAX / 2
        } else {
            self.screen.columns
        }
    }

    /// The width of prompts and answers, which leave room for ids.
    fn text_columns(&self) -> usize {
        match (self.screen.is_pipe, self.has_ids()) {
            (false, true) => self.columns().min(WIDEST) - ID_ROOM,
            _ => self.columns(),
        }
    }

    fn limit(&self, limit: usize) -> usize {
        if self.full || self.screen.is_pipe {
            usize::MAX
        } else {
            limit
        }
    }

    fn margin<'m>(&self, first: &'m str, rest: &'m str, style: Style, limit: usize) -> Margin<'m> {
        Margin {
            first,
            rest,
            style,
            limit: self.limit(limit),
        }
    }

    /// Returns the lines of a text, each wrapped to fit after an indentation.
    fn wrapped(&self, text: impl Untrusted, indent: usize) -> Vec<Vec<String>> {
        let columns = self.columns().saturating_sub(indent).max(10);
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

/// Returns a painted row without its colours and links.
fn strip(row: &str) -> String {
    let mut out = String::new();
    let mut rest = row;
    while let Some(at) = rest.find('\x1b') {
        out.push_str(&rest[..at]);
        let sequence = &rest[at + 1..];
        let end = if sequence.starts_with(']') {
            sequence.find("\x1b\\").map(|end| end + 2)
        } else {
            sequence.find('m').map(|end| end + 1)
        };
        rest = end.map_or("", |end| &sequence[end..]);
    }
    out + rest
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
