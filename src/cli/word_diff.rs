//! The words that changed between two texts.

use std::fmt::Write as _;

use similar::{ChangeTag, TextDiff};

use crate::render::{DIM, GREEN, RED, paint, wrap};

use super::context::Context;

/// Words of context on either side of a change.
const AROUND: usize = 6;

/// Lines that one entry's changes may take.
const LINES: usize = 8;

/// Texts longer than this are compared by lines: words would take too long, and say too little.
const BY_WORDS: usize = 16 << 10;

/// What became of a stretch of words.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Op {
    Same,
    Gone,
    New,
}

impl Op {
    pub(super) fn name(self) -> &'static str {
        match self {
            Op::Same => "same",
            Op::Gone => "gone",
            Op::New => "new",
        }
    }
}

/// A stretch of words with one fate.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Segment {
    pub(super) op: Op,
    pub(super) text: String,
}

/// The two texts as one, cut where the fate of the words changes.
pub(super) fn segments(old: &str, new: &str) -> Vec<Segment> {
    let by_words = old.len().max(new.len()) <= BY_WORDS;
    let diff = if by_words {
        TextDiff::from_words(old, new)
    } else {
        TextDiff::from_lines(old, new)
    };
    let mut out = Vec::new();
    let (mut same, mut gone, mut new) = (String::new(), String::new(), String::new());
    let mut push = |op: Op, text: &mut String| {
        if !text.is_empty() {
            out.push(Segment {
                op,
                text: std::mem::take(text),
            });
        }
    };
    for change in diff.iter_all_changes() {
        match change.tag() {
            ChangeTag::Delete => gone.push_str(change.value()),
            ChangeTag::Insert => new.push_str(change.value()),
            // Blanks between words that changed changed with them.
            ChangeTag::Equal
                if change.value().trim().is_empty() && !(gone.is_empty() && new.is_empty()) =>
            {
                gone.push_str(change.value());
                new.push_str(change.value());
                continue;
            }
            ChangeTag::Equal => {
                push(Op::Gone, &mut gone);
                push(Op::New, &mut new);
                same.push_str(change.value());
                continue;
            }
        }
        push(Op::Same, &mut same);
    }
    push(Op::Same, &mut same);
    push(Op::Gone, &mut gone);
    push(Op::New, &mut new);
    out
}

/// The changes as lines for a person: what is the same is cut to a few words around them.
pub(super) fn changed_words(context: &Context, old: &str, new: &str) -> Vec<String> {
    let all = segments(old, new);
    let mut text = String::new();
    for (i, segment) in all.iter().enumerate() {
        let words = context.words(&segment.text);
        let (before, after) = (
            segment.text.starts_with(char::is_whitespace),
            segment.text.ends_with(char::is_whitespace),
        );
        if before && !text.is_empty() && !text.ends_with(' ') {
            text.push(' ');
        }
        match segment.op {
            Op::Same => text.push_str(&shortened(&words, i == 0, i + 1 == all.len())),
            Op::Gone | Op::New if words.is_empty() => {}
            Op::Gone => {
                let _ = write!(text, "[-{words}-]");
            }
            Op::New => {
                let _ = write!(text, "{{+{words}+}}");
            }
        }
        if after && !text.ends_with(' ') {
            text.push(' ');
        }
    }
    let mut lines = wrap(text.trim(), context.columns.saturating_sub(6).max(20));
    let more = lines.len().saturating_sub(LINES);
    lines.truncate(LINES);
    let mut lines = coloured(&lines);
    if more > 0 {
        lines.push(paint(DIM, format!("… {more} more lines")));
    }
    lines
}

/// A few words at the ends that touch a change.
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

/// Colours what is between the marks, across the ends of lines.
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
