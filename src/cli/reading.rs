//! Turns to read: text, calls in one line each, results shortened.

use std::fmt::Write as _;

use serde_json::{Value, json};

use crate::render::{BOLD, DIM, GREEN, RED, YELLOW, bytes, fit, paint, wrap};
use crate::view::TurnItem;

use super::context::Context;

/// How many lines of a result, of thinking and of the client's notes are shown, if not all.
const RESULT: usize = 8;
const THINKING: usize = 6;
const NOTE: usize = 3;

/// One turn.
pub(super) fn turn(context: &Context, number: u32, items: &[TurnItem], full: bool) -> String {
    let title = if number == 0 {
        "before the first prompt".to_owned()
    } else {
        format!("turn {number}")
    };
    let rule = "─".repeat(context.columns.saturating_sub(title.len() + 4).min(60));
    let mut out = format!(
        "{} {}\n",
        paint(BOLD, format!("── {title}")),
        paint(DIM, rule)
    );
    for item in items {
        item_lines(context, item, full, &mut out);
    }
    out.truncate(out.trim_end().len());
    out + "\n"
}

fn item_lines(context: &Context, item: &TurnItem, full: bool, out: &mut String) {
    let limit = |lines: usize| if full { usize::MAX } else { lines };
    match item {
        TurnItem::Prompt { text } => {
            out.push('\n');
            for (i, line) in lines(context, text, 2).iter().enumerate() {
                let mark = if i == 0 {
                    paint(GREEN.bold(), "❯ ")
                } else {
                    "  ".to_owned()
                };
                let _ = writeln!(out, "{mark}{}", paint(BOLD, line));
            }
            out.push('\n');
        }
        TurnItem::Answer { text } => {
            for line in lines(context, text, 0) {
                let _ = writeln!(out, "{line}");
            }
            out.push('\n');
        }
        TurnItem::Thinking { text } if text.is_empty() => {
            let _ = writeln!(out, "{}\n", paint(DIM, "✻ (thinking, redacted)"));
        }
        TurnItem::Thinking { text } => {
            shortened(
                out,
                &lines(context, text, 2),
                limit(THINKING),
                "✻ ",
                "  ",
                &|l| paint(DIM.italic(), l),
            );
            out.push('\n');
        }
        TurnItem::Call {
            tool, gist, input, ..
        } => {
            let tool = context.words(tool);
            let room = context
                .columns
                .saturating_sub(crate::render::width(&tool) + 5);
            let gist = context.words(gist);
            let gist = fit(&gist, if full { usize::MAX } else { room });
            let line = format!("{} {}  {gist}", paint(YELLOW, "●"), paint(BOLD, &tool));
            let _ = writeln!(out, "{}", line.trim_end());
            if full {
                let pretty = serde_json::from_str::<Value>(input)
                    .ok()
                    .and_then(|v| serde_json::to_string_pretty(&v).ok());
                shortened(
                    out,
                    &lines(context, &pretty.unwrap_or_else(|| input.clone()), 4),
                    usize::MAX,
                    "    ",
                    "    ",
                    &|l| paint(DIM, l),
                );
            }
        }
        TurnItem::Result { text, error } => {
            let style = if *error { RED } else { DIM };
            let all = lines(context, text.trim_end(), 4);
            let all = if text.trim().is_empty() {
                vec!["(nothing)".to_owned()]
            } else {
                all
            };
            shortened(out, &all, limit(RESULT), "  ⎿ ", "    ", &|l| {
                paint(style, l)
            });
            out.push('\n');
        }
        TurnItem::Image {
            format,
            width,
            height,
            bytes: size,
        } => {
            let _ = writeln!(
                out,
                "  {}\n",
                paint(DIM, image(&context.words(format), *width, *height, *size))
            );
        }
        TurnItem::Note { what, text } => {
            let what = format!("[{}] ", context.words(what));
            let all = lines(context, text.trim(), crate::render::width(&what));
            shortened(
                out,
                &all,
                limit(NOTE),
                &what,
                &" ".repeat(crate::render::width(&what)),
                &|l| paint(DIM, l),
            );
        }
    }
}

/// `[image 640×480 png 84 KB]`.
fn image(format: &str, width: Option<u32>, height: Option<u32>, size: u64) -> String {
    match (width, height) {
        (Some(w), Some(h)) => format!("[image {w}×{h} {format} {}]", bytes(size)),
        _ => format!("[image {format} {}]", bytes(size)),
    }
}

/// The lines of a text, safe and broken to fit behind an indentation.
fn lines(context: &Context, text: &str, indent: usize) -> Vec<String> {
    wrap(
        &context.lines(text),
        context.columns.saturating_sub(indent).max(10),
    )
}

fn shortened(
    out: &mut String,
    lines: &[String],
    limit: usize,
    first: &str,
    rest: &str,
    style: &dyn Fn(&str) -> String,
) {
    // One line more than is allowed is not worth a note about itself.
    let shown = if lines.len() <= limit.saturating_add(1) {
        lines.len()
    } else {
        limit
    };
    for (i, line) in lines.iter().take(shown).enumerate() {
        let lead = if i == 0 { first } else { rest };
        if line.is_empty() && i > 0 {
            out.push('\n');
            continue;
        }
        let _ = writeln!(
            out,
            "{}",
            format!("{}{}", paint(DIM, lead), style(line)).trim_end()
        );
    }
    if shown < lines.len() {
        let _ = writeln!(
            out,
            "{rest}{}",
            paint(DIM, format!("… {} more lines", lines.len() - shown))
        );
    }
}

/// Texts alone, a blank line between them; calls a line each.
pub(super) fn plain<'i>(context: &Context, items: impl Iterator<Item = &'i TurnItem>) -> String {
    let mut out = String::new();
    for item in items {
        match item {
            TurnItem::Prompt { text } | TurnItem::Answer { text } => {
                let gap = if out.is_empty() { "" } else { "\n" };
                let _ = writeln!(out, "{gap}{}", context.lines(text).trim_end());
            }
            TurnItem::Call { tool, gist, .. } => {
                let line = format!("{}  {}", context.words(tool), context.words(gist));
                let _ = writeln!(out, "{}", line.trim_end());
            }
            _ => {}
        }
    }
    out
}

/// An item as data, masked.
pub(super) fn document(context: &Context, item: &TurnItem) -> Value {
    let mut document = serde_json::to_value(item).unwrap_or_default();
    for key in ["text", "gist"] {
        if let Some(Value::String(text)) = document.get(key) {
            document[key] = json!(context.masked(text));
        }
    }
    if let TurnItem::Call { input, .. } = item {
        document["input"] = serde_json::from_str(&context.masked(input)).unwrap_or_default();
    }
    document
}
