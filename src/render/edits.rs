//! Edits of files as line diffs.

use similar::{ChangeTag, TextDiff};

use crate::view::FileEdit;

use super::presenter::Presenter;
use super::screen::Screen;
use super::style::{DIM, GREEN, RED, paint};
use super::table::counted;
use super::text::{fit, wrap};

/// How a diff is laid out.
#[derive(Clone, Copy)]
pub(super) struct DiffLayout {
    /// The width of the rows.
    pub(super) columns: usize,
    /// Whether long lines are cut; else they are wrapped.
    pub(super) cut: bool,
    /// The numbers of the first lines, before and after.
    pub(super) first: Option<(u32, u32)>,
}

/// Returns the lines that a call changes in files; `None` if it changes none.
pub(super) fn edit_lines(
    screen: &Screen<'_>,
    edits: &[FileEdit],
    columns: usize,
    limit: usize,
) -> Option<Vec<String>> {
    if edits.is_empty() {
        return None;
    }
    let mut out = Vec::new();
    for (i, edit) in edits.iter().enumerate() {
        if i > 0 {
            out.push(paint(DIM, "⋯"));
        }
        let (old, new) = texts(screen.presenter, edit);
        let layout = DiffLayout {
            columns,
            cut: limit != usize::MAX,
            first: edit.lines,
        };
        diff_lines(&old, &new, layout, &mut out);
    }
    if out.len() > limit.saturating_add(1) {
        let left = out.len() - limit;
        out.truncate(limit);
        let note = format!("… {}", counted(left as u64, "more line", "more lines"));
        out.push(paint(DIM, note));
    }
    Some(out)
}

/// Returns how many lines some edits add and remove, plain and painted: `  +3 −1`.
pub(super) fn change_counts(presenter: Presenter, edits: &[FileEdit]) -> (String, String) {
    let (mut added, mut removed) = (0, 0);
    for edit in edits {
        let (old, new) = texts(presenter, edit);
        let diff = TextDiff::from_lines(&old, &new);
        for change in diff.iter_all_changes() {
            added += u64::from(change.tag() == ChangeTag::Insert);
            removed += u64::from(change.tag() == ChangeTag::Delete);
        }
    }
    let (mut plain, mut painted) = (String::new(), String::new());
    let counts = [(added, "+", GREEN), (removed, "−", RED)];
    for (n, sign, style) in counts.into_iter().filter(|c| c.0 > 0) {
        let gap = if plain.is_empty() { "  " } else { " " };
        let text = format!("{sign}{}", crate::human::count(n));
        plain = format!("{plain}{gap}{text}");
        painted = format!("{painted}{gap}{}", paint(style, text));
    }
    (plain, painted)
}

/// Returns both texts of an edit, masked whole, and each ending with a line break.
fn texts(presenter: Presenter, edit: &FileEdit) -> (String, String) {
    let text = |text: &crate::view::SessionText| {
        let mut safe = presenter.lines(text);
        if !safe.is_empty() && !safe.ends_with('\n') {
            safe.push('\n');
        }
        safe
    };
    (text(&edit.old), text(&edit.new))
}

/// Adds the lines of a diff with two lines of context.
pub(super) fn diff_lines(old: &str, new: &str, layout: DiffLayout, out: &mut Vec<String>) {
    let diff = TextDiff::from_lines(old, new);
    let last = |first: u32, text: &str| first as usize + text.lines().count();
    let digits = layout.first.map_or(0, |(a, b)| {
        let widest = last(a, old).max(last(b, new));
        widest.to_string().len()
    });
    for (i, hunk) in diff
        .unified_diff()
        .context_radius(2)
        .iter_hunks()
        .enumerate()
    {
        if i > 0 {
            out.push(paint(DIM, "⋯"));
        }
        for change in hunk.iter_changes() {
            let (style, sign) = match change.tag() {
                ChangeTag::Delete => (RED, '-'),
                ChangeTag::Insert => (GREEN, '+'),
                ChangeTag::Equal => (DIM, ' '),
            };
            let number = layout.first.map(|(a, b)| match change.old_index() {
                Some(i) if sign == '-' => a as usize + i,
                _ => b as usize + change.new_index().unwrap_or(0),
            });
            let lead = number.map_or(String::new(), |n| format!("{n:>digits$} "));
            let line = change.value().trim_end_matches('\n');
            let room = layout.columns.saturating_sub(lead.len() + 2).max(8);
            let rows = if layout.cut {
                vec![fit(line, room)]
            } else {
                wrap(line, room)
            };
            for (i, row) in rows.iter().enumerate() {
                let lead = match i {
                    0 => lead.clone(),
                    _ => " ".repeat(lead.len()),
                };
                let text = paint(style, format!("{sign} {row}").trim_end());
                out.push(format!("{}{text}", paint(DIM, lead)));
            }
        }
    }
}
