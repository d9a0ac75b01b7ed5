//! Gives each section its room, so that the whole budget is used and no more.

use super::text::{one_line, shorten};
use std::fmt::Write as _;

/// One thing that a section lists.
#[derive(Debug, Clone, Default)]
pub(super) struct Item {
    /// Its text. Lines after the first are indented when it is printed.
    pub(super) text: String,
    /// How much longer it may be than an item of weight 1.
    pub(super) weight: usize,
    /// Which items are kept where not all fit: those of the highest rank.
    pub(super) rank: i64,
}

impl Item {
    pub(super) fn new(text: impl Into<String>, weight: usize, rank: i64) -> Self {
        Self {
            text: text.into(),
            weight: weight.max(1),
            rank,
        }
    }

    /// What it takes at most where an item of weight 1 may have `limit` bytes.
    fn size(&self, limit: usize) -> usize {
        self.text.len().min(limit.saturating_mul(self.weight)) + ITEM
    }
}

/// What an item takes beside its text: a bullet and line breaks.
const ITEM: usize = 5;

/// What a section takes beside its items, except for its heading.
const SECTION: usize = 30;

/// The room below which a section is left out.
const LEAST: usize = 40;

/// The longest that an item of weight 1 ever is.
const LONGEST: usize = 1 << 20;

/// A heading and its items, in the order in which they are printed.
#[derive(Debug, Default)]
pub(super) struct Section {
    pub(super) heading: &'static str,
    /// Its part of the budget, in comparison with the other sections.
    pub(super) share: usize,
    /// The length below which items are left out rather than shortened.
    pub(super) floor: usize,
    /// Whether long items lose their end, not their middle.
    pub(super) cut_ends: bool,
    /// Whether it is there even in the smallest digest.
    pub(super) essential: bool,
    /// Whether its items are printed in full, whatever the budget is.
    pub(super) whole: bool,
    pub(super) items: Vec<Item>,
}

impl Section {
    /// The size with every item in full.
    fn full(&self) -> usize {
        let items: usize = self.items.iter().map(|i| i.size(LONGEST)).sum();
        items + self.heading.len() + SECTION
    }

    /// Prints every item in full.
    pub(super) fn in_full(&self) -> String {
        let mut out = format!("\n## {}\n", self.heading);
        for item in &self.items {
            let _ = writeln!(out, "- {}", indented(item.text.trim()));
        }
        out
    }

    /// The numbers of the items, those of the highest rank first.
    fn ranked(&self) -> Vec<usize> {
        let mut ranked: Vec<usize> = (0..self.items.len()).collect();
        ranked.sort_by_key(|&i| std::cmp::Reverse((self.items[i].rank, i)));
        ranked
    }
}

impl Measured<'_> {
    fn of(section: &Section) -> Measured<'_> {
        Measured {
            section,
            whole: section.whole.then(|| section.in_full()),
            full: section.full(),
            ranked: section.ranked(),
        }
    }

    /// The items that fit at the shortest, those of the highest rank first, in their own order.
    fn kept(&self, room: usize) -> Vec<&Item> {
        let section = self.section;
        let mut left = room;
        let mut kept = Vec::new();
        for (n, &i) in self.ranked.iter().enumerate() {
            // The most important item is kept, however short it becomes.
            let first = n == 0 && room > LEAST;
            if left < ITEM && !first {
                break;
            }
            let size = section.items[i].size(section.floor);
            if size <= left || first {
                left = left.saturating_sub(size);
                kept.push(i);
            }
        }
        kept.sort_unstable();
        kept.into_iter().map(|i| &section.items[i]).collect()
    }

    /// Prints the section in at most `room` bytes; nothing if that is too little.
    fn render(&self, room: usize) -> String {
        if let Some(whole) = &self.whole {
            return whole.clone();
        }
        let room = room.saturating_sub(self.section.heading.len() + SECTION);
        let kept = self.kept(room);
        if kept.is_empty() {
            return String::new();
        }
        let fits = |limit: usize| kept.iter().map(|i| i.size(limit)).sum::<usize>() <= room;
        let limit = largest(1, LONGEST, fits);
        let mut out = format!("\n## {}\n", self.section.heading);
        if kept.len() < self.section.items.len() {
            let _ = writeln!(
                out,
                "(… {} left out)",
                self.section.items.len() - kept.len()
            );
        }
        for item in kept {
            let limit = limit.saturating_mul(item.weight);
            let text = if self.section.cut_ends {
                one_line(&item.text, limit)
            } else {
                shorten(&item.text, limit)
            };
            let _ = writeln!(out, "- {}", indented(&text));
        }
        out
    }
}

/// Indents all lines but the first, so that they belong to their item.
fn indented(text: &str) -> String {
    text.replace('\n', "\n  ")
}

/// A section with what every attempt to print it needs.
struct Measured<'a> {
    section: &'a Section,
    /// The section as it is printed, if it is printed in full whatever the budget is.
    whole: Option<String>,
    /// The size with every item in full.
    full: usize,
    /// The numbers of the items, those of the highest rank first.
    ranked: Vec<usize>,
}

/// Prints the introduction and the sections in at most `room` bytes, beside the sections that are printed in full.
pub(super) fn lay_out(introduction: &str, sections: &[Section], room: usize) -> String {
    let measured: Vec<Measured> = sections.iter().map(Measured::of).collect();
    let whole = measured.iter().filter_map(|s| s.whole.as_ref());
    let most = room + whole.map(String::len).sum::<usize>();
    let print = |budget: usize| {
        let rooms = rooms(&measured, budget.saturating_sub(introduction.len()));
        let parts = measured.iter().zip(rooms).map(|(s, room)| s.render(room));
        let text = parts.fold(introduction.to_owned(), |text, part| text + &part);
        text.trim_end().to_owned()
    };
    // Shortening leaves gaps: a budget a little larger than asked for may still fit.
    let fits = |more: usize| print(most + more).len() <= most;
    let text = print(most + largest(0, room * 2, fits));
    if text.len() <= most || most > room {
        return text;
    }
    let end = (0..=most).rfind(|&at| text.is_char_boundary(at));
    text[..end.unwrap_or(0)].trim_end().to_owned()
}

/// Shares what the sections that are printed in full leave of a budget: a section that needs less than its share leaves the rest to the others.
fn rooms(sections: &[Measured<'_>], budget: usize) -> Vec<usize> {
    let mut rooms = vec![0; sections.len()];
    let whole = sections.iter().filter_map(|s| s.whole.as_ref());
    let mut left = budget.saturating_sub(whole.map(String::len).sum());
    let mut open: Vec<usize> = (0..sections.len())
        .filter(|&i| sections[i].whole.is_none())
        .collect();
    while !open.is_empty() {
        let shares: usize = open.iter().map(|&i| sections[i].section.share).sum();
        let share = |i: usize| left * sections[i].section.share / shares.max(1);
        let (content, hungry): (Vec<usize>, Vec<usize>) =
            open.iter().partition(|&&i| sections[i].full <= share(i));
        if content.is_empty() {
            for i in hungry {
                rooms[i] = share(i);
            }
            break;
        }
        for i in content {
            rooms[i] = sections[i].full;
            left -= sections[i].full.min(left);
        }
        open = hungry;
    }
    rooms
}

/// Returns the largest number from `low` to `high` for which `fits` holds; `low` if it holds for none.
pub(super) fn largest(low: usize, high: usize, fits: impl Fn(usize) -> bool) -> usize {
    if fits(high) {
        return high;
    }
    let (mut low, mut high) = (low, high);
    while low + 1 < high {
        let middle = low.midpoint(high);
        if fits(middle) {
            low = middle;
        } else {
            high = middle;
        }
    }
    low
}
