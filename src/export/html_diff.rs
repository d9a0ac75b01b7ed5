//! An edit of a file as HTML: removed and added lines.

use maud::{Markup, html};
use similar::{ChangeTag, TextDiff};

use crate::view::FileEdit;

use super::ansi::plain_text;
use super::redactor::Redactor;

/// Lines of one edit that are shown, unless all are.
const LINES: usize = 120;

/// Returns the changes of a call as HTML.
pub(super) fn edits_html(edits: &[FileEdit], redactor: &Redactor, uncut: bool) -> Markup {
    html! {
        @for edit in edits { (edit_html(edit, redactor, uncut)) }
    }
}

fn edit_html(edit: &FileEdit, redactor: &Redactor, uncut: bool) -> Markup {
    let old = plain_text(&redactor.text(&edit.old));
    let new = plain_text(&redactor.text(&edit.new));
    let diff = TextDiff::from_lines(&old, &new);
    let changes: Vec<_> = diff.iter_all_changes().collect();
    let limit = if uncut { changes.len() } else { LINES };
    html! {
        pre.diff tabindex="0" aria-label="Changed lines" {
            @for change in changes.iter().take(limit) {
                @let text = change.value().trim_end_matches('\n');
                @match change.tag() {
                    ChangeTag::Delete => del { "-" (text) "\n" },
                    ChangeTag::Insert => ins { "+" (text) "\n" },
                    ChangeTag::Equal => span { " " (text) "\n" },
                }
            }
            @if changes.len() > limit {
                span.note { "… " (changes.len() - limit) " more lines" }
            }
        }
    }
}
