//! The rows of a preview: what is removed, changed and added.

use std::collections::BTreeMap;
use std::fmt::Write as _;

use crate::human::{count, signed_bytes, tokens};
use crate::surgery::{Action, Change, ChangeKind};
use crate::view::{SessionText, prompt_as_typed};

use super::super::style::{DIM, GREEN, RED, YELLOW, paint};
use super::super::table::counted;
use super::super::text::{fit, pad, width, wrap};
use super::Preview;

/// How many rows are shown before the rest is summed up.
const ROWS: usize = 12;

impl Preview<'_> {
    pub(super) fn rows(&self, out: &mut String) {
        let mut groups: BTreeMap<(u8, &ChangeKind), (u32, i64)> = BTreeMap::new();
        let mut named = Vec::new();
        for change in self.changes {
            let (is_parent, action) = match change.what {
                // A warning reports it.
                ChangeKind::Usage => continue,
                ChangeKind::Parent => (true, Action::Edit),
                _ => (false, change.action),
            };
            if !is_parent && (self.verbose || self.is_of_the_conversation(change)) {
                named.push(change);
                continue;
            }
            let slot = groups.entry((action as u8, &change.what)).or_default();
            slot.0 += change.count;
            slot.1 += if is_parent { 0 } else { change.bytes };
        }
        let many = named.iter().map(|c| c.count as usize).sum::<usize>() > ROWS;
        let named = if self.verbose || !many {
            named.into_iter().cloned().collect()
        } else {
            self.by_turn(&named)
        };
        self.named_rows(&named, out);
        for ((action, what), (n, size)) in groups {
            let sign =
                [paint(RED, "−"), paint(YELLOW, "~"), paint(GREEN, "+")][action as usize].clone();
            let size = match size {
                0 => String::new(),
                size => format!("  {}", signed_bytes(size)),
            };
            let what = self.words(what.label(n.into()).as_str());
            let _ = writeln!(out, "  {sign} {what}{size}");
        }
        if self.renamed > 0 {
            let ids = counted(self.renamed as u64, "entry", "entries");
            // The note takes room in the file, which the rows above do not account for.
            let what =
                format!("new ids for {ids}, each with a note of its origin (about 120 bytes)");
            let rows = wrap(&what, self.columns.saturating_sub(4).max(20));
            let _ = writeln!(out, "  {} {}", paint(YELLOW, "~"), rows.join("\n    "));
        }
    }

    /// Writes the rows with the largest changes, and one that sums up the others.
    fn named_rows(&self, named: &[Change], out: &mut String) {
        let mut shown: Vec<&Change> = named.iter().collect();
        if !self.verbose {
            shown.sort_by_key(|c| -c.bytes.abs());
            shown.truncate(ROWS);
        }
        shown.sort_by_key(|c| (c.line.unwrap_or(u32::MAX), c.turn));
        let layout = self.layout(&shown);
        for change in &shown {
            let _ = writeln!(out, "  {}", self.row(change, &layout));
        }
        if named.len() > shown.len() {
            let rest = (named.len() - shown.len()) as u64;
            let sum = |all: &mut dyn Iterator<Item = i64>| all.sum::<i64>();
            let bytes =
                sum(&mut named.iter().map(|c| c.bytes)) - sum(&mut shown.iter().map(|c| c.bytes));
            let window =
                sum(&mut named.iter().map(|c| c.shown)) - sum(&mut shown.iter().map(|c| c.shown));
            let tokens = layout.weight(window);
            let gap = if tokens.is_empty() { "" } else { "  " };
            let line = format!(
                "… and {} more, {}{gap}{tokens}",
                count(rest),
                signed_bytes(bytes)
            );
            let _ = writeln!(out, "  {}", paint(DIM, line));
        }
    }

    fn layout(&self, shown: &[&Change]) -> RowLayout {
        let turns = shown.iter().filter_map(|c| turn_of(c));
        let turn = turns.map(|t| width(&t)).max();
        let unit = self.unit();
        // On a wide screen there is room for the turns of most sessions, so that their previews are aligned alike.
        let turn = turn.map_or(0, |w| if unit.is_empty() { w } else { w.max(9) });
        let others = turn + unit.len() + 22;
        let room = self.columns.saturating_sub(others).max(8);
        let what = shown.iter().map(|c| width(&self.what_of(c))).max();
        RowLayout {
            turn: turn as i32,
            what: what.unwrap_or(0).min(room) as i32,
            unit,
            tokens_per_byte: self.tokens_per_byte(),
        }
    }

    fn row(&self, change: &Change, layout: &RowLayout) -> String {
        let (style, sign) = match change.action {
            Action::Drop => (RED, "−"),
            Action::Edit => (YELLOW, "~"),
            Action::Insert => (GREEN, "+"),
        };
        let turn = turn_of(change).unwrap_or_default();
        let turn = match layout.turn {
            0 => turn,
            width => pad(&turn, width + 1),
        };
        let head = format!(
            "{turn}{} {} {}",
            pad(
                &fit(&self.what_of(change), layout.what as usize),
                layout.what
            ),
            pad(&signed_bytes(change.bytes), -9),
            pad(
                &layout.weight(change.shown),
                -(6 + layout.unit.len() as i32)
            )
        );
        let room = self.columns.saturating_sub(width(&head) + 9);
        let gist = prompt_as_typed(change.gist.read(self.source).raw());
        let gist = self.words(SessionText::from(gist));
        let gist = if gist.is_empty() || room < 12 {
            String::new()
        } else {
            format!("  “{}”", fit(&gist, room))
        };
        format!(
            "{} {}{}",
            paint(style, sign),
            head.trim_end(),
            paint(DIM, gist)
        )
    }

    /// What a change concerns, in words; tool names are session text.
    fn what_of(&self, change: &Change) -> String {
        let text = match change.count {
            0 | 1 => change.what.to_string(),
            n => change.what.label(n.into()),
        };
        self.words(text.as_str())
    }

    /// Returns how many tokens a byte that leaves or enters the context window counts for.
    ///
    /// It is the total of the heading divided among the changes, so that the rows add up to it. It is 0 where the
    /// changes do not explain the total: an operation that brings back hidden turns has no such ratio.
    fn tokens_per_byte(&self) -> f64 {
        let tokens = self.after.tokens as f64 - self.before.tokens as f64;
        let bytes = self.changes.iter().map(|c| c.shown).sum::<i64>() as f64;
        if bytes == 0.0 {
            0.0
        } else {
            (tokens / bytes).max(0.0)
        }
    }

    /// Groups the changes of one kind in a turn into one row, so that the preview of a large session fits a screen.
    fn by_turn(&self, changes: &[&Change]) -> Vec<Change> {
        let mut groups: Vec<Change> = Vec::new();
        for change in changes {
            let same = |c: &Change| {
                (c.turn, c.action, &c.what) == (change.turn, change.action, &change.what)
            };
            match groups.iter_mut().rev().take(32).find(|c| same(c)) {
                Some(group) => {
                    group.bytes += change.bytes;
                    group.shown += change.shown;
                    if group.gist.is_none() {
                        group.gist = change.gist.read(self.source).into();
                    }
                    group.count += change.count;
                }
                None => {
                    let gist = change.gist.read(self.source).into();
                    groups.push(Change {
                        gist,
                        ..(*change).clone()
                    });
                }
            }
        }
        groups
    }

    /// Returns whether a change concerns the conversation, so that it gets a row of its own.
    fn is_of_the_conversation(&self, change: &Change) -> bool {
        change.shown != 0 || !change.gist.read(self.source).is_empty()
    }
}

/// What the rows of one preview have in common.
struct RowLayout {
    turn: i32,
    what: i32,
    unit: &'static str,
    tokens_per_byte: f64,
}

impl RowLayout {
    /// Returns the tokens of some bytes of the context window; empty if there are none.
    fn weight(&self, bytes: i64) -> String {
        match (bytes as f64 * self.tokens_per_byte).abs().round() as u64 {
            0 => String::new(),
            1 if !self.unit.is_empty() => "~1 token".to_owned(),
            n => format!("~{}{}", tokens(n), self.unit),
        }
    }
}

/// Returns the turn of a change, for a row.
fn turn_of(change: &Change) -> Option<String> {
    change.turn.filter(|&t| t > 0).map(|t| format!("turn {t}"))
}
