//! The differences between two sessions, for people.

use std::collections::BTreeMap;
use std::fmt::Write as _;

use crate::human::{bytes, count};
use crate::transcript::EntryIx;
use crate::view::{Changed, Compared, Comparison, SessionText, entry_summary, entry_text};

use super::screen::Screen;
use super::style::{BOLD, DIM, GREEN, RED, YELLOW, paint};
use super::text::{fit, pad, width, wrap_message};
use super::word_diff::changed_lines;

/// Lays out a comparison.
#[derive(Debug, Clone, Copy)]
pub struct ComparisonText<'a> {
    /// The screen.
    pub screen: Screen<'a>,
    /// The first session.
    pub a: Compared<'a>,
    /// The second session.
    pub b: Compared<'a>,
    /// What differs.
    pub comparison: &'a Comparison,
}

/// Something that differs.
#[derive(Clone, Copy)]
enum Row<'c> {
    OnlyA(EntryIx),
    OnlyB(EntryIx),
    Changed(&'c Changed),
}

/// Returns how many entries of a turn are only in A, only in B, and changed.
fn counts(rows: &[Row<'_>]) -> String {
    let count_of = |is: fn(&Row<'_>) -> bool| rows.iter().filter(|r| is(r)).count() as u64;
    let parts = [
        (count_of(|r| matches!(r, Row::OnlyA(_))), "only in A"),
        (count_of(|r| matches!(r, Row::OnlyB(_))), "only in B"),
        (count_of(|r| matches!(r, Row::Changed(_))), "changed"),
    ];
    let parts: Vec<String> = parts
        .iter()
        .filter(|p| p.0 > 0)
        .map(|(n, what)| format!("{} {what}", count(*n)))
        .collect();
    paint(DIM, format!("  {}", parts.join(", ")))
}

/// Entries of the same kind that are only counted.
type Tally = BTreeMap<(u8, String), (u64, u64)>;

impl<'a> ComparisonText<'a> {
    /// Returns the differences turn by turn.
    pub fn render(&self) -> String {
        let c = self.comparison;
        let mut out = String::new();
        if let Some((old, new)) = &c.titles {
            let titles = format!(
                "title: {} → {}",
                self.title(old.as_ref()),
                self.title(new.as_ref())
            );
            let titles = wrap_message(&titles, self.screen.table_columns);
            let _ = writeln!(out, "{}", paint(DIM, titles));
        }
        if c.is_empty() {
            let _ = writeln!(
                out,
                "{}",
                if self.a.path == self.b.path {
                    "No differences: they are the same file."
                } else {
                    "No differences except ids."
                }
            );
            return out;
        }
        let _ = writeln!(out, "{} {}", paint(BOLD, "Entries:"), self.summary());
        for (turn, rows) in self.by_turn() {
            let title = match turn {
                None => "off the live path, and metadata".to_owned(),
                Some(0) => "before the first prompt".to_owned(),
                Some(n) => format!("turn {n}"),
            };
            let _ = writeln!(out, "\n{}{}", paint(BOLD, title), counts(&rows));
            self.rows(&rows, &mut out);
        }
        out
    }

    fn title(&self, title: Option<&SessionText>) -> String {
        title.map_or("none".to_owned(), |t| format!("“{}”", self.screen.line(t)))
    }

    fn summary(&self) -> String {
        let c = self.comparison;
        let parts = [
            (c.only_a.len(), "only in A"),
            (c.only_b.len(), "only in B"),
            (c.changed.len(), "changed"),
            (c.unreadable.0, "unreadable only in A"),
            (c.unreadable.1, "unreadable only in B"),
        ];
        let parts: Vec<String> = parts
            .iter()
            .filter(|p| p.0 > 0)
            .map(|(n, what)| format!("{} {what}", count(*n as u64)))
            .collect();
        format!("{}; {} the same", parts.join(", "), count(c.same as u64))
    }

    /// Groups what differs by turn: by the turn of the first session where the entry is in it.
    fn by_turn(&self) -> Vec<(Option<u32>, Vec<Row<'a>>)> {
        let turn =
            |side: &Compared<'_>, i: EntryIx| side.session.turns().of(side.session.graph(), i);
        let mut rows: BTreeMap<u32, Vec<(EntryIx, Row<'a>)>> = BTreeMap::new();
        // Entries that are in no turn come last.
        let mut add = |turn: Option<u32>, entry: EntryIx, row: Row<'a>| {
            let group = rows.entry(turn.unwrap_or(u32::MAX)).or_default();
            group.push((entry, row));
        };
        for &i in &self.comparison.only_a {
            add(turn(&self.a, i), i, Row::OnlyA(i));
        }
        for changed in &self.comparison.changed {
            add(turn(&self.a, changed.a), changed.a, Row::Changed(changed));
        }
        for &i in &self.comparison.only_b {
            add(turn(&self.b, i), i, Row::OnlyB(i));
        }
        let sorted = rows.into_iter().map(|(turn, mut rows)| {
            rows.sort_by_key(|r| r.0);
            let rows = rows.into_iter().map(|r| r.1).collect();
            ((turn != u32::MAX).then_some(turn), rows)
        });
        sorted.collect()
    }

    /// Writes the rows of one turn; metadata is counted.
    fn rows(&self, rows: &[Row<'_>], out: &mut String) {
        let mut tally = Tally::new();
        for row in rows {
            match *row {
                Row::OnlyA(i) => self.only(&self.a, i, true, &mut tally, out),
                Row::OnlyB(i) => self.only(&self.b, i, false, &mut tally, out),
                Row::Changed(changed) => self.changed(changed, &mut tally, out),
            }
        }
        self.tally(tally, out);
    }

    fn only(
        &self,
        side: &Compared<'_>,
        i: EntryIx,
        in_a: bool,
        tally: &mut Tally,
        out: &mut String,
    ) {
        let e = side.session.entry(i);
        let (what, gist) = entry_summary(side.session, e);
        let what = self.screen.line(what);
        let size = side.session.text(e).len() as u64;
        if !e.is_message() {
            let slot = tally.entry((u8::from(!in_a), what)).or_default();
            *slot = (slot.0 + 1, slot.1 + size);
            return;
        }
        let (style, sign) = if in_a { (RED, "−") } else { (GREEN, "+") };
        let room = self.screen.table_columns.saturating_sub(36);
        let gist = paint(DIM, fit(&self.screen.line(gist), room));
        let head = format!("{}  {}", pad(&what, 18), pad(&bytes(size), -9));
        let line = format!("  {} {head}  {gist}", paint(style, sign));
        let _ = writeln!(out, "{}", line.trim_end());
    }

    fn changed(&self, changed: &Changed, tally: &mut Tally, out: &mut String) {
        let ea = self.a.session.entry(changed.a);
        let eb = self.b.session.entry(changed.b);
        let old = entry_text(self.a.session, ea);
        let new = entry_text(self.b.session, eb);
        let (what, _) = entry_summary(self.a.session, ea);
        let what = self.screen.line(what);
        if old == new {
            let fields = self.screen.line(changed.fields.join(", "));
            tally.entry((2, format!("{what}: {fields}"))).or_default().0 += 1;
            return;
        }
        let _ = writeln!(out, "  {} {what}", paint(YELLOW, "~"));
        for line in changed_lines(&self.screen, &old, &new) {
            let _ = writeln!(out, "      {line}");
        }
    }

    fn tally(&self, tally: Tally, out: &mut String) {
        let signs = [paint(RED, "−"), paint(GREEN, "+"), paint(YELLOW, "~")];
        for ((order, what), (n, size)) in tally {
            let what = match n {
                1 => what,
                n => format!("{} × {what}", count(n)),
            };
            let sign = &signs[order as usize];
            let _ = if size == 0 {
                writeln!(out, "  {sign} {what}")
            } else {
                let what = pad(&what, width(&what).max(18) as i32);
                writeln!(out, "  {sign} {what}  {}", pad(&bytes(size), -9))
            };
        }
    }
}
