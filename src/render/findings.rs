//! The doctor's findings about one session, as text.

use std::fmt::Write as _;

use crate::doctor::{Finding, Severity, Version, find_check};
use crate::human::count;
use crate::view::SessionText;

use super::presenter::Presenter;
use super::style::{BOLD, DIM, RED, YELLOW, paint};
use super::text::{clean, fit, short_id, width, wrap_message};

/// How many lines of a group are listed before the rest is counted.
const LINES: usize = 8;

/// The findings about one session.
#[derive(Debug)]
pub struct FindingList<'a> {
    /// The session's id.
    pub session_id: &'a str,
    /// Its title or first prompt.
    pub title: &'a SessionText,
    /// The client that the session was judged for.
    pub client: Version,
    /// What is wrong for this client.
    pub findings: &'a [Finding],
    /// What this client copes with by itself.
    pub healed: &'a [Finding],
    /// Makes text of the session safe to show.
    pub presenter: Presenter,
    /// The width of the terminal.
    pub columns: usize,
}

/// Findings of one check that hurt equally.
struct Group<'a> {
    severity: Severity,
    findings: Vec<&'a Finding>,
}

impl FindingList<'_> {
    /// Renders the list, with colours.
    pub fn render(&self) -> String {
        let mut out = String::new();
        let id = short_id(self.session_id);
        let room = self.columns.saturating_sub(width(&id) + 4).max(8);
        let title = fit(&self.presenter.line(self.title), room);
        let _ = writeln!(out, "{}  “{title}”", paint(BOLD, id));
        for group in groups(self.findings) {
            let style = match group.severity {
                Severity::Harmless => DIM,
                Severity::RefusedByTheApi => YELLOW,
                Severity::LosesHistory | Severity::StopsResume => RED,
            };
            let label = paint(style, format!("{}:", group.severity));
            self.group(&mut out, &label, &group, &group.explanation());
        }
        for group in groups(self.healed) {
            let label = paint(DIM, format!("no problem for Claude Code {}:", self.client));
            let healed_by = group.check().map_or("", |c| c.healed_by);
            let mut text = sentence(healed_by);
            if text.is_empty() {
                text = format!("Only {} suffer from it.", group.findings[0].suffers);
            }
            self.group(&mut out, &label, &group, &text);
        }
        out
    }

    /// Writes the heading of a group, and its explanation below.
    fn group(&self, out: &mut String, label: &str, group: &Group<'_>, explanation: &str) {
        let heading = format!("  {label} {}", group.heading());
        let _ = writeln!(out, "{}", wrap_message(&heading, self.columns));
        let explanation = format!("    {}", clean(explanation));
        let _ = writeln!(out, "{}", wrap_message(&explanation, self.columns));
    }
}

/// Groups findings by severity and check, the worst first, otherwise in file order.
fn groups(findings: &[Finding]) -> Vec<Group<'_>> {
    let mut groups: Vec<Group<'_>> = Vec::new();
    for finding in findings {
        let same = |g: &&mut Group<'_>| {
            g.severity == finding.severity && g.findings[0].check == finding.check
        };
        match groups.iter_mut().find(same) {
            Some(group) => group.findings.push(finding),
            None => groups.push(Group {
                severity: finding.severity,
                findings: vec![finding],
            }),
        }
    }
    groups.sort_by_key(|g| std::cmp::Reverse(g.severity));
    groups
}

impl Group<'_> {
    fn check(&self) -> Option<&'static crate::doctor::Check> {
        find_check(self.findings[0].check)
    }

    /// The check, how often it found something, and where.
    fn heading(&self) -> String {
        let mut out = self.findings[0].check.to_owned();
        if self.findings.len() > 1 {
            let _ = write!(out, " × {}", count(self.findings.len() as u64));
        }
        let mut lines: Vec<u32> = self.findings.iter().map(|f| f.line).collect();
        lines.retain(|&line| line > 0);
        lines.dedup();
        let listed: Vec<String> = lines.iter().take(LINES).map(u32::to_string).collect();
        match lines.len() {
            0 => {}
            1 => {
                let _ = write!(out, ", line {}", listed[0]);
            }
            _ => {
                let _ = write!(out, ", lines {}", listed.join(", "));
            }
        }
        if lines.len() > LINES {
            let _ = write!(out, " and {} more", count((lines.len() - LINES) as u64));
        }
        let turns = self.findings.iter().filter_map(|f| f.turn);
        let turns = turns.filter(|&t| t > 0);
        match (turns.clone().min(), turns.max()) {
            (Some(a), Some(b)) if a == b => {
                let _ = write!(out, " (turn {a})");
            }
            (Some(a), Some(b)) => {
                let _ = write!(out, " (turns {a} to {b})");
            }
            _ => {}
        }
        out
    }

    /// What is wrong, once for all findings of the group.
    fn explanation(&self) -> String {
        let first = self.findings[0];
        let alike = self.findings.iter().all(|f| f.message == first.message);
        match (first.line, self.findings.len(), alike) {
            (0, ..) => {
                let mut texts: Vec<String> = Vec::new();
                for finding in &self.findings {
                    texts.push(sentence(&finding.message));
                }
                texts.join(" ")
            }
            (line, 1, _) => sentence(&format!("line {line} {}", first.message)),
            (_, _, true) => sentence(&format!("each of these lines {}", first.message)),
            (line, n, false) => format!(
                "{} The other {} are alike.",
                sentence(&format!("line {line} {}", first.message)),
                count(n as u64 - 1)
            ),
        }
    }
}

/// Makes a sentence of a clause.
fn sentence(clause: &str) -> String {
    let mut chars = clause.chars();
    match chars.next() {
        Some(first) => format!("{}{}.", first.to_uppercase(), chars.as_str()),
        None => String::new(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::doctor::Versions;

    fn finding(line: u32, message: &str) -> Finding {
        Finding {
            check: "torn-line",
            severity: Severity::LosesHistory,
            line,
            uuid: None,
            turn: None,
            message: message.to_owned(),
            suffers: Versions::All,
            repairable: true,
            remedy: None,
        }
    }

    #[test]
    fn finding_list_groups_equal_findings() {
        let findings: Vec<Finding> = (1..=20).map(|n| finding(n * 5, "is torn")).collect();
        let list = FindingList {
            session_id: "01234567-aaaa-4bbb-8ccc-0123456789ab",
            title: &"Title".to_owned().into(),
            presenter: Presenter::default(),
            client: Version::NEWEST,
            findings: &findings,
            healed: &[],
            columns: 100,
        };
        let text = anstream::adapter::strip_str(&list.render()).to_string();
        assert_eq!(
            text,
            "01234567  “Title”\n  loses history: torn-line × 20, lines 5, 10, 15, 20, 25, 30, 35, 40 and 12 more\n    Each of these lines is torn.\n"
        );
    }

    #[test]
    fn finding_list_fits_narrow_terminals() {
        let findings = [finding(3, &"long ".repeat(40))];
        let list = FindingList {
            session_id: "01234567-aaaa-4bbb-8ccc-0123456789ab",
            title: &"A title that is longer than the terminal is wide, by a few words"
                .to_owned()
                .into(),
            presenter: Presenter::default(),
            client: Version::NEWEST,
            findings: &findings,
            healed: &findings,
            columns: 60,
        };
        let text = anstream::adapter::strip_str(&list.render()).to_string();
        assert!(text.lines().all(|l| width(l) <= 60), "{text}");
    }
}
