//! The changes between two texts, for people.

use std::fmt::Write as _;

use crate::view::{SegmentKind, SessionText, segments};

use super::edits::{DiffLayout, diff_lines};
use super::screen::Screen;
use super::style::{DIM, GREEN, RED, paint};
use super::table::counted;
use super::text::{clean, wrap};

/// Words of context on either side of a change.
const AROUND: usize = 6;

/// Rows that the changes of one entry may take.
const ROWS: usize = 12;

/// Texts with more lines than this are compared line by line.
const FEW_LINES: usize = 3;

/// Returns the changes between two texts: words of short texts, lines of longer ones.
pub(super) fn changed_lines(
    screen: &Screen<'_>,
    old: &SessionText,
    new: &SessionText,
) -> Vec<String> {
    // Masked whole: a secret that is cut into pieces is not recognised.
    let (old, new) = (screen.presenter.lines(old), screen.presenter.lines(new));
    let columns = if screen.is_pipe {
        usize::MAX / 2
    } else {
        screen.columns.saturating_sub(6).max(20)
    };
    let mut rows = if old.lines().count().max(new.lines().count()) > FEW_LINES {
        let mut rows = Vec::new();
        let layout = DiffLayout {
            columns,
            cut: !screen.is_pipe,
            first: None,
        };
        diff_lines(&old, &new, layout, &mut rows);
        rows
    } else {
        coloured(&wrap(&marked_words(&old, &new), columns))
    };
    if rows.len() > ROWS + 1 && !screen.is_pipe {
        let left = rows.len() - ROWS;
        rows.truncate(ROWS);
        let note = format!("… {}", counted(left as u64, "more line", "more lines"));
        rows.push(paint(DIM, note));
    }
    rows
}

/// Returns both texts as one line with `[-removed-]` and `{+added+}` words; what is the same is cut to a few words.
fn marked_words(old: &str, new: &str) -> String {
    let all = segments(old, new);
    let mut text = String::new();
    for (i, segment) in all.iter().enumerate() {
        let words = clean(&segment.text);
        let begins_blank = segment.text.starts_with(char::is_whitespace);
        let ends_blank = segment.text.ends_with(char::is_whitespace);
        if begins_blank && !text.is_empty() && !text.ends_with(' ') {
            text.push(' ');
        }
        let _ = match segment.op {
            SegmentKind::Same => {
                let words = shortened(&words, i == 0, i + 1 == all.len());
                write!(text, "{words}")
            }
            _ if words.is_empty() => Ok(()),
            SegmentKind::Removed => write!(text, "[-{words}-]"),
            SegmentKind::Added => write!(text, "{{+{words}+}}"),
        };
        if ends_blank && !text.ends_with(' ') {
            text.push(' ');
        }
    }
    text.trim().to_owned()
}

/// Returns a few words at the ends that touch a change.
fn shortened(words: &str, first: bool, last: bool) -> String {
    let all: Vec<&str> = words.split(' ').collect();
    if all.len() <= 2 * AROUND {
        return words.to_owned();
    }
    let head = all[..AROUND].join(" ");
    let tail = all[all.len() - AROUND..].join(" ");
    match (first, last) {
        (true, _) => format!("… {tail}"),
        (_, true) => format!("{head} …"),
        _ => format!("{head} … {tail}"),
    }
}

/// Colours the text between marks, across the ends of lines.
fn coloured(lines: &[String]) -> Vec<String> {
    let mut style = None;
    let mut out = Vec::new();
    for line in lines {
        let mut painted = String::new();
        let mut rest = line.as_str();
        loop {
            let (mark, next) = match style {
                None => match (rest.find("[-"), rest.find("{+")) {
                    (Some(a), Some(b)) if a < b => (a, Some(RED)),
                    (Some(a), None) => (a, Some(RED)),
                    (_, Some(b)) => (b, Some(GREEN)),
                    (None, None) => break,
                },
                Some(s) => match rest.find(if s == RED { "-]" } else { "+}" }) {
                    Some(end) => (end + 2, None),
                    None => break,
                },
            };
            painted.push_str(&part(&rest[..mark], style));
            rest = &rest[mark..];
            style = next;
        }
        painted.push_str(&part(rest, style));
        out.push(painted);
    }
    out
}

fn part(text: &str, style: Option<anstyle::Style>) -> String {
    match style {
        Some(style) if !text.is_empty() => paint(style, text),
        _ => text.to_owned(),
    }
}
