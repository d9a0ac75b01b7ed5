//! What a search found.

use std::fmt::Write as _;
use std::ops::Range;

use anstyle::Style;
use rayon::prelude::*;
use unicode_width::UnicodeWidthChar as _;

use crate::human::count;
use crate::view::{FoundSession, Hit, Pattern, TextKind, Whereabouts};

use super::screen::Screen;
use super::style::{BOLD, DIM, RED, YELLOW, paint};
use super::text::{clean, clean_lines, fit, pad, short_id, short_path, width};

/// Below this width a match has two lines: where it is, and the text.
const NARROW: usize = 72;

/// Lays out what a search found.
#[derive(Debug, Clone, Copy)]
pub struct HitList<'a> {
    /// The screen.
    pub screen: Screen<'a>,
    /// What was searched for, to highlight it.
    pub pattern: &'a Pattern,
    /// Whether the project is named for each session.
    pub with_project: bool,
}

impl HitList<'_> {
    /// Returns a session's name and its matches.
    pub fn session(&self, found: &FoundSession) -> String {
        let mut out = self.heading(found);
        let hits = found.hits.par_iter();
        let (places, whats): (Vec<String>, Vec<String>) =
            hits.map(|hit| (place(hit), self.what(hit))).unzip();
        let widest = |column: &[String]| column.iter().map(|c| width(c)).max().unwrap_or(0);
        let (place_width, what_width) = (widest(&places), widest(&whats));
        let hits = found.hits.par_iter().zip(places.par_iter().zip(&whats));
        let rows = hits.map(|(hit, (place, what))| {
            let id = hit.uuid.as_deref().map(short_id).unwrap_or_default();
            let style = match hit.standing {
                Whereabouts::Abandoned => YELLOW,
                Whereabouts::Hidden => DIM,
                _ => Style::new(),
            };
            let start = format!(
                "  {}  {}  {}",
                paint(style, pad(place, place_width as i32)),
                pad(what, what_width as i32),
                paint(DIM, pad(&clean(&id), 8))
            );
            let indent = 2 + place_width + 2 + what_width + 2 + 8 + 2;
            if self.screen.table_columns < NARROW {
                let text = self.text(hit, self.screen.table_columns.saturating_sub(4));
                format!("{start}\n    {text}\n")
            } else {
                let room = self.screen.table_columns.saturating_sub(indent).max(20);
                format!("{start}  {}\n", self.text(hit, room))
            }
        });
        out.extend(rows.collect::<Vec<String>>());
        let left = found.matches - found.hits.len() as u64;
        if left > 0 {
            let lines = if left == 1 { "line" } else { "lines" };
            let more = format!("  … {} more {lines}", count(left));
            let _ = writeln!(out, "{}", paint(DIM, more));
        }
        out
    }

    fn heading(&self, found: &FoundSession) -> String {
        let mut heading = self.screen.session_heading(&found.session_id, &found.title);
        if let Some(project) = found.project.as_ref().filter(|_| self.with_project) {
            let room = self.screen.table_columns.saturating_sub(10);
            let path = short_path(project.as_ref(), self.screen.home, room);
            let _ = writeln!(heading, "{}", paint(DIM, format!("          {path}")));
        }
        heading
    }

    /// Returns what a hit is, with the tool.
    fn what(&self, hit: &Hit) -> String {
        let kind = match hit.kind {
            TextKind::Prompt => "prompt",
            TextKind::Answer => "answer",
            TextKind::Thinking => "thinking",
            TextKind::Call => "call",
            TextKind::Result => "result",
            TextKind::Note => "note",
        };
        match &hit.tool {
            Some(tool) => format!("{} {kind}", fit(&self.screen.line(tool), 20)),
            None => kind.to_owned(),
        }
    }

    /// Returns the line that matches, cut so that its first match can be seen, with the matches highlighted.
    fn text(&self, hit: &Hit, room: usize) -> String {
        let line = if self.screen.presenter.show_secrets {
            clean_lines(hit.text.raw())
        } else {
            clean_lines(hit.text.masked().raw())
        };
        let line = line.trim();
        let first = self.pattern.matches_in(line).into_iter().next();
        let shown = around(line, first.map_or(0, |m| m.start), room);
        let mut out = String::new();
        let mut at = 0;
        for Range { start, end } in self.pattern.matches_in(&shown) {
            if start < end {
                out.push_str(&shown[at..start]);
                out.push_str(&paint(RED.bold(), &shown[start..end]));
                at = end;
            }
        }
        out.push_str(&shown[at..]);
        out
    }
}

/// Returns where a hit is.
fn place(hit: &Hit) -> String {
    let turn = hit.turn.map(|t| format!("turn {t}"));
    match (hit.standing, turn) {
        (Whereabouts::Subagent, _) => match &hit.agent_id {
            Some(agent) => format!("agent {}", fit(&clean(agent), 8)),
            None => "subagent".to_owned(),
        },
        (Whereabouts::Abandoned, _) => "abandoned".to_owned(),
        (Whereabouts::Hidden, Some(turn)) => format!("{turn}, hidden"),
        (Whereabouts::Hidden, None) => "hidden".to_owned(),
        (Whereabouts::Shown, turn) => turn.unwrap_or_default(),
    }
}

/// Cuts a line to `room` columns so that the byte at `at` is in it, with an ellipsis where it was cut.
fn around(line: &str, at: usize, room: usize) -> String {
    if width(line) <= room {
        return line.to_owned();
    }
    // A third of the room shows what comes before.
    let before = room / 3;
    if width(&line[..at]) <= before {
        return fit(line, room);
    }
    let mut start = at;
    let mut taken = 1;
    for (i, c) in line[..at].char_indices().rev() {
        taken += c.width().unwrap_or(0);
        if taken > before {
            break;
        }
        start = i;
    }
    fit(&format!("…{}", &line[start..]), room)
}

/// Returns a session in one line, with the number of its matches.
pub fn counted_session(screen: &Screen<'_>, found: &FoundSession) -> String {
    let number = pad(&count(found.matches), -7);
    let heading = screen.session_heading(&found.session_id, &found.title);
    format!("{}  {heading}", paint(BOLD, number))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn hit_line_is_cut_around_its_match() {
        assert_eq!(around("short", 3, 20), "short");
        assert_eq!(around("needle in a very long line", 0, 12), "needle in a…");
        let line = "something before it, then the needle and more";
        let cut = around(line, line.find("needle").expect("it"), 20);
        assert_eq!(cut, "… the needle and mo…");
        let wide = around("日本語日本語日本語x日本語日本語", 27, 10);
        assert!(wide.contains('x') && width(&wide) <= 10, "{wide}");
    }
}
