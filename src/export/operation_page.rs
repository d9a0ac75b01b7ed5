//! What an operation did, as a page: before and after, the changes, and the differences.

use maud::{Markup, html};

use crate::human::{bytes, count, tokens};
use crate::surgery::{Action, Change, Figures};
use crate::view::SessionText;

use super::ansi::{output_html, plain_text};
use super::chart::{Bar, bar_chart};
use super::cut::cut_to;
use super::page::{beginning, document};
use super::redactor::Redactor;

/// How many bytes of the differences are part of the page.
const DIFFERENCES: usize = 1 << 20;

/// A session before or after an operation.
#[derive(Debug)]
pub struct OperationSide {
    /// How large it is.
    pub figures: Figures,
    /// Its turns.
    pub turns: Vec<TurnFill>,
}

/// What a turn adds to the context window.
#[derive(Debug, Clone, Copy)]
pub struct TurnFill {
    /// Its number.
    pub turn: u32,
    /// The tokens of its messages; 0 if the model is no longer shown them.
    pub tokens: u64,
    /// Whether a compaction happened in it.
    pub compacted: bool,
}

/// What an operation did.
#[derive(Debug)]
pub struct OperationPage<'a> {
    /// The name of the command.
    pub operation: &'a str,
    /// The title of the session.
    pub title: &'a SessionText,
    /// The session.
    pub session_id: &'a str,
    /// What was made, in words.
    pub result: String,
    /// The session before the operation.
    pub before: OperationSide,
    /// The result.
    pub after: OperationSide,
    /// What was changed.
    pub changes: &'a [Change],
    /// What a person should know.
    pub warnings: &'a [String],
    /// The removed and added text, with the colours of a terminal. Secrets are masked already.
    pub differences: String,
}

/// Returns what an operation did as a page that needs nothing else.
pub fn operation_page(page: &OperationPage<'_>, redactor: &Redactor) -> String {
    let title = beginning(&plain_text(&redactor.text(page.title)));
    let heading = format!("{}: {title}", page.operation);
    let body = html! {
        header {
            h1 { (heading) }
            dl {
                div { dt { "Session" } dd { code { (plain_text(page.session_id)) } } }
                div { dt { "Result" } dd { (plain_text(&page.result)) } }
            }
        }
        main id="conversation" {
            (figures(page.before.figures, page.after.figures))
            (charts(page))
            @if !page.warnings.is_empty() {
                h2 { "Good to know" }
                ul { @for warning in page.warnings { li { (plain_text(&redactor.text(&warning.clone().into()))) } } }
            }
            h2 { "Changes" }
            (changes(page.changes))
            @if !page.differences.is_empty() {
                h2 { "Removed and added text" }
                pre tabindex="0" { (output_html(&cut_to(&page.differences, DIFFERENCES))) }
            }
        }
        footer { p { (redactor.summary()) } p { "Made with ccsurgery." } }
    };
    document(&heading, body).into_string()
}

/// Returns a text for a terminal as a page that needs nothing else. Secrets must be masked already.
pub fn text_page(title: &str, text: &str) -> String {
    let body = html! {
        header { h1 { (title) } }
        main id="conversation" { pre tabindex="0" { (output_html(text)) } }
        footer { p { "Made with ccsurgery." } }
    };
    document(title, body).into_string()
}

fn figures(before: Figures, after: Figures) -> Markup {
    let row = |name: &str, before: u64, after: u64, shown: fn(u64) -> String| {
        let less = after <= before;
        let difference = shown(before.abs_diff(after));
        html! {
            tr {
                th scope="row" { (name) }
                td.r { (shown(before)) }
                td.r { (shown(after)) }
                td.r { @if before == after { "same" } @else if less { "−" (difference) } @else { "+" (difference) } }
            }
        }
    };
    html! {
        h2 { "Before and after" }
        div.scroll tabindex="0" { table {
            tr { th scope="col" { "Size" } th.r scope="col" { "Before" } th.r scope="col" { "After" } th.r scope="col" { "Difference" } }
            (row("Tokens in the context window", before.tokens, after.tokens, tokens))
            (row("Bytes on disk", before.bytes, after.bytes, bytes))
            (row("Turns", before.turns, after.turns, count))
            (row("Records", before.entries, after.entries, count))
        } }
    }
}

/// Returns how the context window fills up with the turns that the model is shown, before and after, to one scale.
fn charts(page: &OperationPage<'_>) -> Markup {
    let (before, after) = (bars(&page.before.turns), bars(&page.after.turns));
    let all = before.iter().chain(&after);
    let largest = all.map(|b| b.tokens).max().unwrap_or(0);
    if largest == 0 {
        return html! {};
    }
    let caption = |when: &str, bars: &[Bar]| {
        let last = bars.last().map_or(0, |b| b.tokens);
        format!("{when}: up to about {} tokens of messages", tokens(last))
    };
    html! {
        h2 { "Context window, turn by turn" }
        (bar_chart(&before, largest, &caption("Before", &before), false))
        (bar_chart(&after, largest, &caption("After", &after), false))
    }
}

/// Returns a bar for each turn: the tokens of all shown turns up to it.
fn bars(turns: &[TurnFill]) -> Vec<Bar> {
    let mut sum = 0;
    let bars = turns.iter().map(|fill| {
        sum += fill.tokens;
        Bar {
            turn: fill.turn,
            tokens: sum,
            compacted: fill.compacted,
        }
    });
    bars.collect()
}

/// Returns the changes, those of a kind together.
fn changes(all: &[Change]) -> Markup {
    let mut kinds: Vec<(&Change, u64, i64)> = Vec::new();
    for change in all {
        let same = |known: &&mut (&Change, u64, i64)| {
            known.0.action == change.action && known.0.what == change.what
        };
        match kinds.iter_mut().find(same) {
            Some((_, count, bytes)) => {
                *count += u64::from(change.count);
                *bytes += change.bytes;
            }
            None => kinds.push((change, u64::from(change.count), change.bytes)),
        }
    }
    html! {
        div.scroll tabindex="0" { table {
            tr { th scope="col" { "What" } th scope="col" { "Change" } th.r scope="col" { "Bytes" } }
            @for (change, count, size) in kinds {
                tr {
                    td { (plain_text(&change.what.label(count))) }
                    td { (action(change.action)) }
                    td.r { @if size != 0 { @if size < 0 { "−" } @else { "+" } (bytes(size.unsigned_abs())) } }
                }
            }
        } }
    }
}

fn action(action: Action) -> &'static str {
    match action {
        Action::Drop => "removed",
        Action::Edit => "changed",
        Action::Insert => "added",
    }
}
