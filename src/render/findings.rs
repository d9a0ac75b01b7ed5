//! What the doctor found, as a person reads it.

use std::collections::BTreeMap;
use std::fmt::Write as _;

use crate::doctor::{Finding, Severity};
use crate::human::count;
use crate::view::SessionText;

use super::presenter::Presenter;
use super::style::{BOLD, DIM, RED, YELLOW, paint};
use super::text::{clean, fit, pad, width};

/// How many findings of one check are shown before the rest is counted.
const ROWS: usize = 5;

/// One session's findings.
#[derive(Debug)]
pub struct FindingList<'a> {
    /// The session's id.
    pub session_id: &'a str,
    /// Its title or first prompt.
    pub title: &'a SessionText,
    /// What matters.
    pub findings: &'a [Finding],
    /// What the clients in question heal by themselves.
    pub healed: &'a [Finding],
    /// Makes text of the session safe to show.
    pub presenter: Presenter,
    /// Columns of the terminal.
    pub columns: usize,
}

impl FindingList<'_> {
    /// The list as text, with colours in it.
    pub fn render(&self) -> String {
        let mut out = String::new();
        let id: String = self.session_id.chars().take(8).collect();
        let room = self.columns.saturating_sub(width(&id) + 4).max(8);
        let _ = writeln!(
            out,
            "{}  “{}”",
            paint(BOLD, clean(&id)),
            fit(&self.presenter.line(self.title), room)
        );
        let mut seen: BTreeMap<&str, usize> = BTreeMap::new();
        let mut rows = Vec::new();
        for finding in self.findings {
            let n = seen.entry(finding.check).or_default();
            *n += 1;
            if *n <= ROWS {
                rows.push((finding, cells(finding)));
            }
        }
        let widths = [0, 1, 2, 3].map(|c| {
            rows.iter()
                .map(|(_, cells)| width(&cells[c]))
                .max()
                .unwrap_or(0)
        });
        for (finding, cells) in &rows {
            let _ = writeln!(out, "  {}", self.row(finding, cells, widths));
        }
        for (check, n) in seen.into_iter().filter(|(_, n)| *n > ROWS) {
            let _ = writeln!(
                out,
                "  {}",
                paint(
                    DIM,
                    format!("… and {} more × {check}", count((n - ROWS) as u64))
                )
            );
        }
        self.healed(&mut out);
        out
    }

    fn row(&self, finding: &Finding, cells: &[String; 4], widths: [usize; 4]) -> String {
        let style = match finding.severity {
            Severity::Waste => DIM,
            Severity::RefusedByTheApi => YELLOW,
            Severity::LosesHistory | Severity::StopsResume => RED,
        };
        let mut out = paint(style, pad(&cells[0], widths[0] as i32));
        let mut used = 2 + widths[0];
        for c in (1..4).filter(|&c| widths[c] > 0) {
            let _ = write!(out, "  {}", pad(&cells[c], widths[c] as i32));
            used += 2 + widths[c];
        }
        let mut rows = wrap(
            &clean(&finding.message),
            self.columns.saturating_sub(used + 2).max(24),
        )
        .into_iter();
        let _ = write!(out, "  {}", rows.next().unwrap_or_default());
        for row in rows {
            let _ = write!(out, "\n{}{row}", " ".repeat(used + 2));
        }
        out
    }

    fn healed(&self, out: &mut String) {
        let mut groups: BTreeMap<&str, (usize, String)> = BTreeMap::new();
        for finding in self.healed {
            groups
                .entry(finding.check)
                .or_insert((0, finding.suffers.to_string()))
                .0 += 1;
        }
        for (check, (n, suffers)) in groups {
            let _ = writeln!(
                out,
                "  {}",
                paint(
                    DIM,
                    format!(
                        "healed by the client itself: {} × {check} (it hurts {suffers})",
                        count(n as u64)
                    )
                )
            );
        }
    }
}

/// Severity, turn, line and check.
fn cells(finding: &Finding) -> [String; 4] {
    let turn = finding
        .turn
        .filter(|&t| t > 0)
        .map(|t| format!("turn {t}"))
        .unwrap_or_default();
    let line = if finding.line > 0 {
        format!("line {}", finding.line)
    } else {
        String::new()
    };
    [
        finding.severity.to_string(),
        turn,
        line,
        finding.check.to_owned(),
    ]
}

/// Breaks a text at blanks.
fn wrap(text: &str, columns: usize) -> Vec<String> {
    let mut rows: Vec<String> = Vec::new();
    for word in text.split(' ') {
        match rows.last_mut() {
            Some(row) if width(row) + 1 + width(word) <= columns => {
                row.push(' ');
                row.push_str(word);
            }
            _ => rows.push(word.to_owned()),
        }
    }
    rows
}
