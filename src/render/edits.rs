//! Edits of files as line diffs.

use similar::{ChangeTag, TextDiff};

use crate::view::FileEdit;

use super::presenter::Presenter;
use super::style::{DIM, GREEN, RED, paint};
use super::table::counted;
use super::text::fit;

/// Returns the lines that a call changes in files; `None` if it changes none.
pub(super) fn edit_lines(
    presenter: Presenter,
    edits: &[FileEdit],
    columns: usize,
    limit: usize,
) -> Option<Vec<String>> {
    if edits.is_empty() {
        return None;
    }
    let mut out = Vec::new();
    for edit in edits {
        let (old, new) = (presenter.lines(&edit.old), presenter.lines(&edit.new));
        diff_lines(&old, &new, columns, &mut out);
    }
    if out.len() > limit.saturating_add(1) {
        let left = out.len() - limit;
        out.truncate(limit);
        let note = format!("… {}", counted(left as u64, "more line", "more lines"));
        out.push(paint(DIM, note));
    }
    Some(out)
}

/// Adds the lines of a diff with two lines of context.
pub(super) fn diff_lines(old: &str, new: &str, columns: usize, out: &mut Vec<String>) {
    let diff = TextDiff::from_lines(old, new);
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
            let line = change.value().trim_end_matches('\n');
            out.push(paint(style, fit(&format!("{sign} {line}"), columns)));
        }
    }
}
