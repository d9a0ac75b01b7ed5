//! What fills a session's context window and its file, for people.

use std::fmt::Write as _;

use crate::human::{bytes, percent, round_tokens, signed_bytes, tokens};
use crate::view::{Growth, Inspection, LargeEntry, Suggestion, WindowUse};
use crate::window::Category;

use super::chart::{bar, sparkline};
use super::screen::Screen;
use super::style::{BOLD, DIM, GREEN, YELLOW, paint};
use super::table::{Cell, Column, Table, counted};
use super::text::{clean, fit, pad, width, wrap, wrap_message};

/// Lays out an inspection.
#[derive(Debug, Clone, Copy)]
pub struct InspectionText<'a> {
    /// The screen.
    pub screen: Screen<'a>,
    /// What is shown.
    pub inspection: &'a Inspection,
}

impl InspectionText<'_> {
    /// Returns the whole page.
    pub fn render(&self) -> String {
        let i = self.inspection;
        let mut out = self.screen.session_heading(&i.session_id, &i.title);
        let compacted = match i.compactions {
            0 => String::new(),
            n => format!(", compacted {n}×"),
        };
        let summary = format!(
            "{}, {}, {}{compacted}",
            counted(i.turns, "turn", "turns"),
            counted(i.entries, "entry", "entries"),
            bytes(i.file.bytes)
        );
        let summary = wrap_message(&summary, self.screen.columns);
        let _ = writeln!(out, "{}", paint(DIM, summary));
        let about = if i.window.recorded.is_some() {
            ""
        } else {
            "about "
        };
        let (total, limit) = (tokens(i.window.tokens), round_tokens(i.window.limit));
        let share = percent(i.window.tokens, i.window.limit);
        let title = format!("Context window: {about}{total} of {limit} tokens ({share} full)");
        heading(&mut out, &wrap_message(&title, self.screen.columns));
        let parts = i.window.parts.iter().map(|p| (&p.category, p.tokens));
        self.chart(&mut out, &parts.collect::<Vec<_>>(), &tokens);
        self.remark(&mut out, &accuracy(&i.window));
        heading(&mut out, &format!("File: {}", bytes(i.file.bytes)));
        let parts = i.file.parts.iter().map(|p| (&p.category, p.bytes));
        self.chart(&mut out, &parts.collect::<Vec<_>>(), &bytes);
        self.remark(&mut out, &self.hidden());
        self.growth(&mut out, &i.growth);
        self.largest(&mut out, &i.largest);
        self.suggestions(&mut out, &i.operations);
        out
    }

    /// Returns how much of the file the model is not shown, and why.
    fn hidden(&self) -> String {
        let i = self.inspection;
        let why = match (i.compactions > 0, i.has_branches) {
            (true, true) => "before the last compaction, on other branches, or metadata",
            (true, false) => "before the last compaction, or metadata",
            (false, true) => "on other branches, or metadata",
            (false, false) => "metadata",
        };
        let size = bytes(i.file.not_shown);
        format!("{size} of it in lines that the model is not shown: {why}")
    }

    /// Writes a sentence below a chart.
    fn remark(&self, out: &mut String, text: &str) {
        for line in wrap(text, self.screen.columns.saturating_sub(2)) {
            let _ = writeln!(out, "  {}", paint(DIM, line));
        }
    }

    /// Writes a bar for each part.
    fn chart(&self, out: &mut String, parts: &[(&Category, u64)], text: &dyn Fn(u64) -> String) {
        let whole: u64 = parts.iter().map(|p| p.1).sum();
        let top = parts.iter().map(|p| p.1).max().unwrap_or(0);
        let widest = self.screen.columns.saturating_sub(21).clamp(12, 28);
        let name = |p: &(&Category, u64)| fit(&self.screen.line(p.0.name()), widest);
        let names: Vec<String> = parts.iter().map(name).collect();
        let name_width = names.iter().map(|n| width(n)).max().unwrap_or(0);
        let room = self.screen.columns.saturating_sub(name_width + 21).min(60);
        for (name, (_, size)) in names.iter().zip(parts) {
            let share = percent(*size, whole);
            let row = format!(
                "  {}  {}  {}",
                pad(name, name_width as i32),
                pad(&text(*size), -9),
                pad(&share, -4)
            );
            // A bar of a few columns compares nothing.
            let bar = match room {
                0..4 => String::new(),
                _ => format!("  {}", paint(GREEN, bar(*size, top, room))),
            };
            let _ = writeln!(out, "{row}{bar}");
        }
    }

    /// Writes the context window at the last request of each turn as a curve.
    fn growth(&self, out: &mut String, turns: &[Growth]) {
        let mut last = 0;
        let values: Vec<u64> = turns
            .iter()
            .map(|t| {
                last = t.window_tokens.unwrap_or(last);
                last
            })
            .collect();
        let highest = values.iter().copied().max().unwrap_or(0);
        if highest == 0 || values.len() < 2 {
            return;
        }
        let columns = self.screen.columns.saturating_sub(4).min(values.len());
        heading(
            out,
            &format!("Growth by turn: at most {} tokens", tokens(highest)),
        );
        let _ = writeln!(out, "  {}", paint(GREEN, sparkline(&values, columns)));
        let mut marks = vec![' '; columns];
        for (i, _) in turns.iter().enumerate().filter(|(_, t)| t.compacted) {
            marks[i * columns / values.len()] = '▲';
        }
        if marks.contains(&'▲') {
            let line: String = marks.into_iter().collect();
            let line = paint(YELLOW, line.trim_end());
            let _ = writeln!(out, "  {line}  {}", paint(DIM, "▲ compacted"));
        }
    }

    fn largest(&self, out: &mut String, largest: &[LargeEntry]) {
        heading(out, "Largest entries");
        let columns = [
            Column::left(""),
            Column::right(""),
            Column::right(""),
            Column::left("").at_most(22).optional(1),
            Column::left(""),
        ];
        let mut table = Table::new(&columns, 24);
        for large in largest {
            let turn = match large.turn {
                Some(0) => "start".to_owned(),
                Some(n) => format!("turn {n}"),
                None => "–".to_owned(),
            };
            let weight = match large.tokens {
                0 => "not shown".to_owned(),
                n => format!("~{}", tokens(n)),
            };
            table.push(vec![
                format!("  {turn}").into(),
                bytes(large.bytes).into(),
                weight.into(),
                self.screen.line(large.part.name()).into(),
                Cell::painted(DIM, self.screen.line(&large.gist)),
            ]);
        }
        out.push_str(&table.render(self.screen.table_columns));
    }

    fn suggestions(&self, out: &mut String, suggestions: &[Suggestion]) {
        if suggestions.is_empty() {
            return;
        }
        heading(out, "How to free some of it");
        let whole = self.inspection.window.tokens.max(1) as f64;
        for s in suggestions {
            let share = (s.tokens as f64 / whole * 100.0).min(100.0);
            let context = match s.tokens {
                0 => String::new(),
                n => format!("context −{} ({share:.0}%), ", tokens(n)),
            };
            let file = signed_bytes(-s.bytes);
            let saved = format!("{context}file {file}: {}", clean(&s.what));
            let _ = writeln!(out, "  {}", clean(&s.command));
            for line in wrap(&saved, self.screen.columns.saturating_sub(4)) {
                let _ = writeln!(out, "    {}", paint(DIM, line));
            }
        }
        let added = bytes(self.inspection.entries * NOTE_OF_ORIGIN);
        let note = format!(
            "The sizes are those with --in-place. A new session has about {added} more, because each entry gets a note of its origin. `ccsurgery trim --to 50%` combines these steps, the least harmful first."
        );
        for line in wrap(&note, self.screen.columns.saturating_sub(2)) {
            let _ = writeln!(out, "  {}", paint(DIM, line));
        }
    }
}

/// How many bytes the note takes that a copy adds to each entry.
const NOTE_OF_ORIGIN: u64 = 120;

fn heading(out: &mut String, text: &str) {
    let _ = writeln!(out, "\n{}", paint(BOLD, text));
}

/// Returns how accurate the numbers are.
fn accuracy(w: &WindowUse) -> String {
    let ratio = format!("{:.1} bytes per token", w.bytes_per_token);
    let requests = |n: usize| counted(n as u64, "request", "requests");
    match (w.recorded, w.error) {
        (Some(recorded), Some(error)) if w.measured => format!(
            "measured on {}: {ratio}; at the last one {} tokens were recorded, the estimate is {:.1}% off",
            requests(w.records),
            tokens(recorded),
            error.abs() * 100.0
        ),
        (Some(recorded), None) if w.measured => format!(
            "{} tokens were recorded last; {ratio}, measured on {} before it",
            tokens(recorded),
            requests(w.records.saturating_sub(1))
        ),
        (Some(recorded), _) => format!(
            "{} tokens were recorded at the last request; the parts assume {ratio}, because its {} cannot be compared",
            tokens(recorded),
            counted(w.records as u64, "record", "records")
        ),
        (None, _) => format!("nothing was recorded for the present state; estimated at {ratio}"),
    }
}
