//! Edits of files as line diffs.

use serde_json::Value;
use similar::{ChangeTag, TextDiff};

use crate::view::SessionJson;

use super::presenter::Presenter;
use super::style::{DIM, GREEN, RED, paint};
use super::table::counted;
use super::text::fit;

/// Returns the lines that a call of `Edit`, `MultiEdit`, `NotebookEdit` or `Write` changes; `None` for other tools.
pub(super) fn edit_lines(
    presenter: Presenter,
    tool: &str,
    input: &SessionJson,
    columns: usize,
    limit: usize,
) -> Option<Vec<String>> {
    if !matches!(tool, "Edit" | "MultiEdit" | "NotebookEdit" | "Write") {
        return None;
    }
    let input = input.value()?;
    let text = |value: &Value, key: &str| {
        let text = value.get(key).and_then(Value::as_str).unwrap_or_default();
        presenter.lines(text)
    };
    let pairs: Vec<(String, String)> = match (tool, input.get("edits")) {
        ("Write", _) => vec![(String::new(), text(&input, "content"))],
        ("NotebookEdit", _) => vec![(String::new(), text(&input, "new_source"))],
        (_, Some(Value::Array(edits))) => edits
            .iter()
            .map(|e| (text(e, "old_string"), text(e, "new_string")))
            .collect(),
        _ => vec![(text(&input, "old_string"), text(&input, "new_string"))],
    };
    let mut out = Vec::new();
    for (old, new) in &pairs {
        diff_lines(old, new, columns, &mut out);
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
