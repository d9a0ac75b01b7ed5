//! A conversation as one page of HTML that needs nothing else: no server, no network, no script to be read.

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use maud::{DOCTYPE, Markup, PreEscaped, html};
use sha2::{Digest as _, Sha256};

use crate::human::tokens;
use crate::view::{Conversation, ItemContent};

use super::ansi::plain_text;
use super::chart::window_chart;
use super::html_items::{ItemWriter, short_end, short_time};
use super::redactor::Redactor;
use super::{ExportOptions, Exportable};

const STYLE: &str = include_str!("page.css");
const SCRIPT: &str = include_str!("page.js");

/// The kinds of items that a reader can hide, with their names.
const FILTERS: [(&str, &str); 7] = [
    ("prompt", "Prompts"),
    ("answer", "Answers"),
    ("thinking", "Thinking"),
    ("call", "Calls"),
    ("image", "Images"),
    ("compaction", "Compactions"),
    ("note", "Notes"),
];

/// The longest title, and the longest text of a prompt in the index.
const INDEX_TEXT: usize = 100;

/// Returns a conversation as a page.
pub fn html_page(exported: &Exportable<'_>, options: ExportOptions, redactor: &Redactor) -> String {
    let conversation = &exported.conversation;
    let title = beginning(&plain_text(&redactor.text(&conversation.title)));
    let writer = ItemWriter {
        exported,
        options,
        redactor,
        session: exported.session,
        anchor: "",
        depth: 0,
    };
    let turns: Vec<Markup> = conversation
        .turn_contents
        .iter()
        .map(|c| writer.turn(c))
        .collect();
    let branches: Vec<Markup> = exported
        .branches
        .iter()
        .enumerate()
        .map(|(i, branch)| branch_html(writer, i, branch))
        .collect();
    let index = index(conversation, redactor);
    let header = header_html(conversation, &title, redactor);
    let body = html! {
        a.skip href="#conversation" { "Skip to the conversation" }
        (header)
        (tools())
        nav aria-label="Prompts" { details { summary { "All prompts" } (index) } }
        main id="conversation" {
            @for turn in turns { (turn) }
            @for branch in branches { (branch) }
        }
        footer { p { (redactor.summary()) } p { "Made with ccsurgery." } }
    };
    document(&title, body).into_string()
}

/// Returns a whole HTML document. Its policy lets it load nothing, and run nothing but its own script.
pub(super) fn document(title: &str, body: Markup) -> Markup {
    let policy = format!(
        "default-src 'none'; img-src data:; style-src '{}'; script-src '{}'; base-uri 'none'; form-action 'none'",
        sum_of(STYLE),
        sum_of(SCRIPT)
    );
    html! {
        (DOCTYPE)
        html lang="en" {
            head {
                meta charset="utf-8";
                meta http-equiv="Content-Security-Policy" content=(policy);
                meta name="viewport" content="width=device-width, initial-scale=1";
                meta name="referrer" content="no-referrer";
                meta name="color-scheme" content="light dark";
                title { (title) }
                style { (PreEscaped(STYLE)) }
            }
            body {
                (body)
                script { (PreEscaped(SCRIPT)) }
            }
        }
    }
}

fn sum_of(text: &str) -> String {
    format!("sha256-{}", STANDARD.encode(Sha256::digest(text)))
}

fn header_html(conversation: &Conversation, title: &str, redactor: &Redactor) -> Markup {
    let times = || {
        conversation
            .turn_contents
            .iter()
            .filter(|c| c.time.is_some())
    };
    let first = times().next().and_then(|c| c.time.as_deref());
    let last = times().next_back().and_then(|c| c.ended.as_deref());
    let mut models: Vec<&str> = Vec::new();
    for model in conversation
        .turn_contents
        .iter()
        .filter_map(|c| c.model.as_ref())
    {
        if !models.contains(&model.raw()) {
            models.push(model.raw());
        }
    }
    html! {
        header {
            h1 { (title) }
            dl {
                @if let Some(project) = &conversation.project {
                    div { dt { "Project" } dd { (plain_text(&redactor.text(project))) } }
                }
                @if let (Some(first), Some(last)) = (first, last) {
                    div { dt { "Time" } dd { time datetime=(first) { (short_time(first)) } " to " time datetime=(last) { (short_end(first, last)) } } }
                }
                @if !models.is_empty() { div { dt { "Model" } dd { (plain_text(&models.join(", "))) } } }
                div { dt { "Turns" } dd { (conversation.turns) } }
                div { dt { "Context window" } dd { (tokens(conversation.tokens)) " tokens" } }
                div { dt { "Session" } dd { code { (plain_text(&conversation.session_id)) } } }
            }
            (window_chart(conversation))
        }
    }
}

/// Returns the controls, which only a browser with scripts shows.
fn tools() -> Markup {
    html! {
        div.tools role="search" hidden {
            label { "Search " input type="search" id="search" autocomplete="off"; }
            span id="found" role="status" {}
            fieldset {
                legend { "Show" }
                @for (kind, name) in FILTERS {
                    label { input type="checkbox" checked data-filter=(kind); " " (name) }
                }
            }
            button type="button" id="unfold" { "Open all" }
            button type="button" id="fold" { "Close all" }
            span.keys { "Keys: j and k move between turns, / searches" }
        }
    }
}

fn index(conversation: &Conversation, redactor: &Redactor) -> Markup {
    html! {
        ol {
            @for content in &conversation.turn_contents {
                @let prompt = content.items.iter().find_map(|item| match &item.content {
                    ItemContent::Prompt { text } => Some(text),
                    _ => None,
                });
                @if let Some(prompt) = prompt {
                    li value=(content.turn) { a href={"#turn-" (content.turn)} { (beginning(&plain_text(&redactor.text(prompt)))) } }
                }
            }
        }
    }
}

/// Returns the beginning of a text on one line.
pub(super) fn beginning(text: &str) -> String {
    let line = text.split_whitespace().collect::<Vec<_>>().join(" ");
    if line.chars().count() <= INDEX_TEXT {
        return line;
    }
    let cut: String = line.chars().take(INDEX_TEXT).collect();
    format!("{}…", cut.trim_end())
}

fn branch_html(writer: ItemWriter<'_>, number: usize, branch: &Conversation) -> Markup {
    let anchor = format!("branch-{}-", number + 1);
    let writer = ItemWriter {
        anchor: &anchor,
        ..writer
    };
    let turns: Vec<Markup> = branch
        .turn_contents
        .iter()
        .map(|c| writer.turn(c))
        .collect();
    html! {
        details.branch id={(anchor) "top"} {
            summary { "Abandoned branch " (number + 1) }
            @for turn in turns { (turn) }
        }
    }
}
