//! The items of a turn as HTML.

use maud::{Markup, html};

use crate::human::{bytes, tokens};
use crate::session::Session;
use crate::view::{
    CallItem, Conversation, ItemContent, MediaItem, TurnContent, TurnItem, note_heading,
};

use super::ansi::{output_html, plain_text};
use super::cut::cut_output;
use super::html_diff::edits_html;
use super::html_markdown::{code_html, markdown_html};
use super::redactor::Redactor;
use super::{ExportDetail, ExportOptions, Exportable};

/// Images up to this size are part of the page.
const INLINE_IMAGE: u64 = 1 << 20;

/// The formats of images that browsers show, and that cannot hold scripts.
const FORMATS: [&str; 4] = ["png", "jpeg", "gif", "webp"];

/// How deep subagents are nested in the calls that started them.
const DEEPEST: usize = 4;

/// Writes the items of conversations.
#[derive(Clone, Copy)]
pub(super) struct ItemWriter<'a> {
    pub(super) exported: &'a Exportable<'a>,
    pub(super) options: ExportOptions,
    pub(super) redactor: &'a Redactor,
    /// The session that holds the items.
    pub(super) session: &'a Session,
    /// What the ids of turns begin with, so that they are unique in the page.
    pub(super) anchor: &'a str,
    /// How many subagents are around these items.
    pub(super) depth: usize,
}

impl ItemWriter<'_> {
    /// Returns a turn as a section with a heading.
    pub(super) fn turn(&self, content: &TurnContent) -> Markup {
        let anchor = format!("{}turn-{}", self.anchor, content.turn);
        let heading = match content.turn {
            0 => "Before the first prompt".to_owned(),
            turn => format!("Turn {turn}"),
        };
        html! {
            section.turn id=(anchor) aria-label=(heading) data-hidden[!content.shown && content.turn > 0] {
                h2 {
                    a.anchor href={"#" (anchor)} { (heading) }
                    span.facts { (facts(content)) }
                }
                (self.items(&content.items))
            }
        }
    }

    fn items(&self, items: &[TurnItem]) -> Markup {
        let mut out = Vec::new();
        let mut rest = items;
        while let [first, after @ ..] = rest {
            let belongs = |item: &&TurnItem| match (&first.content, &item.content) {
                (ItemContent::Call(call), ItemContent::Result { call_id, .. }) => {
                    call.id == *call_id
                }
                (ItemContent::Call(_), ItemContent::Image(_) | ItemContent::Document(_)) => true,
                _ => false,
            };
            // One line is enough for thinking without text, however many blocks follow each other.
            let is_silent = |item: &TurnItem| matches!(&item.content, ItemContent::Thinking { text } if text.raw().trim().is_empty());
            if is_silent(first) && after.first().is_some_and(is_silent) {
                rest = after;
                continue;
            }
            let count = after.iter().take_while(belongs).count();
            let (results, after) = after.split_at(count);
            out.push(self.item(first, results));
            rest = after;
        }
        html! { @for item in out { (item) } }
    }

    /// Returns an item; `results` are those of a call.
    fn item(&self, item: &TurnItem, results: &[TurnItem]) -> Markup {
        let detail = self.options.detail;
        let id = item.uuid.as_ref().map(|u| format!("{}m-{u}", self.anchor));
        let text = |text| self.redactor.text(text);
        match &item.content {
            ItemContent::Prompt { text: words } => html! {
                div.item.prompt data-kind="prompt" id=[&id] {
                    (label("Prompt", item, id.as_deref()))
                    div.words { (plain_text(&text(words))) }
                }
            },
            _ if detail == ExportDetail::Prompts => html! {},
            ItemContent::Answer { text: words } => html! {
                div.item.answer data-kind="answer" id=[&id] {
                    (link(id.as_deref(), "answer"))
                    (markdown_html(&text(words)))
                }
            },
            ItemContent::Call(call) => self.call(call, item, results),
            ItemContent::Result { .. } => self.results(std::slice::from_ref(item)),
            ItemContent::Image(media) => self.image(media),
            ItemContent::Document(media) => self.document(media),
            ItemContent::Compaction {
                trigger,
                tokens: before,
            } => html! {
                div.item.compaction data-kind="compaction" role="separator" id=[id] {
                    "Compacted (" (text(trigger)) ")"
                    @if let Some(before) = before { " at " (tokens(*before)) " tokens" }
                    ": the model no longer sees what comes before."
                }
            },
            _ if detail == ExportDetail::Brief => html! {},
            ItemContent::Thinking { text: words } if self.options.thinking => {
                let words = text(words);
                html! {
                    @if words.trim().is_empty() {
                        p.item.silent data-kind="thinking" id=[&id] { "Thinking (its text is not in the file)" }
                    } @else {
                        details.item.thinking data-kind="thinking" id=[id] {
                            summary { "Thinking" }
                            (markdown_html(&words))
                        }
                    }
                }
            }
            ItemContent::Thinking { .. } => html! {},
            ItemContent::Summary { text: words } => html! {
                details.item.summary data-kind="compaction" id=[id] {
                    summary { "Summary of what came before" }
                    (markdown_html(&text(words)))
                }
            },
            ItemContent::Note { what, text: words } => {
                let words = text(words);
                html! {
                    details.item.client data-kind="note" id=[id] {
                        summary { "Note: " (plain_text(&text(&note_heading(what)))) }
                        pre tabindex="0" { (output_html(&self.cut(&words))) }
                    }
                }
            }
        }
    }

    fn call(&self, call: &CallItem, item: &TurnItem, results: &[TurnItem]) -> Markup {
        let id = item.uuid.as_ref().map(|_| {
            let id: String = call
                .id
                .raw()
                .chars()
                .filter(char::is_ascii_alphanumeric)
                .collect();
            format!("{}c-{id}", self.anchor)
        });
        let failed = results
            .iter()
            .any(|r| matches!(r.content, ItemContent::Result { error: true, .. }));
        let tool = plain_text(&self.redactor.text(&call.tool));
        let gist = plain_text(&self.redactor.text(&call.gist));
        let gist: String = gist.split_whitespace().collect::<Vec<_>>().join(" ");
        let gist: String = gist.chars().take(200).collect();
        let title =
            html! { b { (tool) } " " code { (gist) } @if failed { span.failed { " failed" } } };
        if self.options.detail == ExportDetail::Brief {
            return html! { p.item.call data-kind="call" id=[id] { (title) } };
        }
        html! {
            details.item.call data-kind="call" id=[&id] open[!call.edits.is_empty()] {
                summary { (title) }
                (link(id.as_deref(), "call"))
                @if call.edits.is_empty() { (self.input(call, &tool)) }
                @else { (edits_html(&call.edits, self.redactor, self.is_full())) }
                (self.results(results))
                @if let Some(agent) = &call.agent_id { (self.subagent(agent.raw())) }
            }
        }
    }

    fn input(&self, call: &CallItem, tool: &str) -> Markup {
        let command = (tool == "Bash").then(|| call.input.value()).flatten();
        let command = command.and_then(|v| Some(v.get("command")?.as_str()?.to_owned()));
        match command {
            Some(command) => code_html("bash", &plain_text(&self.redactor.text(&command.into()))),
            None => code_html(
                "json",
                &plain_text(&self.cut(&self.redactor.json(&call.input))),
            ),
        }
    }

    fn results(&self, results: &[TurnItem]) -> Markup {
        html! {
            @for result in results {
                @match &result.content {
                    ItemContent::Result { text, error, .. } => {
                        @let text = self.redactor.text(text);
                        div.result.error[*error] data-kind="result" {
                            @if text.trim().is_empty() { p.note { "No output." } }
                            @else { pre tabindex="0" { (output_html(&self.cut(&text))) } }
                        }
                    },
                    ItemContent::Image(media) => (self.image(media)),
                    ItemContent::Document(media) => (self.document(media)),
                    _ => {},
                }
            }
        }
    }

    /// Returns the conversation of a subagent, folded.
    fn subagent(&self, id: &str) -> Markup {
        let found = self.exported.subagent(id).filter(|_| self.depth < DEEPEST);
        let Some((session, conversation)) = found else {
            return html! {};
        };
        let safe: String = id.chars().filter(char::is_ascii_alphanumeric).collect();
        let anchor = format!("agent-{safe}-");
        let writer = ItemWriter {
            session,
            anchor: &anchor,
            depth: self.depth + 1,
            ..*self
        };
        html! {
            details.subagent id={(anchor) "top"} {
                summary { "Subagent, " (count(conversation)) }
                @for content in &conversation.turn_contents { (writer.items(&content.items)) }
            }
        }
    }

    fn image(&self, media: &MediaItem) -> Markup {
        let format = media.format.raw();
        let size = match (media.width, media.height) {
            (Some(width), Some(height)) => format!("{width} × {height}, "),
            _ => String::new(),
        };
        let about = format!("Image, {size}{}", bytes(media.bytes));
        let data = media
            .data
            .filter(|_| media.bytes <= INLINE_IMAGE && FORMATS.contains(&format));
        let data = data.and_then(|(line, span)| {
            let line = self.session.document().text(line);
            let data = std::str::from_utf8(span.of(line)).ok()?.trim_matches('"');
            let is_base64 = |b: u8| b.is_ascii_alphanumeric() || b"+/=".contains(&b);
            data.bytes().all(is_base64).then_some(data)
        });
        html! {
            figure.item.image data-kind="image" {
                @if let Some(data) = data {
                    img alt=(about) loading="lazy" src={"data:image/" (format) ";base64," (data)}
                        width=[media.width] height=[media.height];
                }
                figcaption { (about) }
            }
        }
    }

    fn document(&self, media: &MediaItem) -> Markup {
        let title = plain_text(&self.redactor.text(&media.title));
        html! {
            p.item.note data-kind="image" {
                "Document " @if !title.is_empty() { "“" (title) "” " }
                "(" (plain_text(media.format.raw())) ", " (bytes(media.bytes)) "), not part of this page"
            }
        }
    }

    fn is_full(&self) -> bool {
        self.options.detail == ExportDetail::Full
    }

    fn cut<'t>(&self, text: &'t str) -> std::borrow::Cow<'t, str> {
        cut_output(text, self.is_full())
    }
}

/// Returns a link to an item, which scripts copy.
fn link(id: Option<&str>, what: &str) -> Markup {
    html! {
        @if let Some(id) = id { a.link href={"#" (id)} aria-label={"Link to this " (what)} title={"Link to this " (what)} { "#" } }
    }
}

/// Returns the name of an item, with its time.
fn label(name: &str, item: &TurnItem, id: Option<&str>) -> Markup {
    html! {
        p.label { (name) (link(id, "prompt")) @if let Some(time) = &item.time { " " time datetime=(time) { (short_time(time)) } } }
    }
}

/// Returns a time to the minute.
pub(super) fn short_time(time: &str) -> String {
    let minute = time.get(..16).unwrap_or(time);
    minute.replace('T', " ")
}

/// Returns the end of a period to the minute, without its day if that is the day of the beginning.
pub(super) fn short_end(first: &str, last: &str) -> String {
    let end = short_time(last);
    match (first.get(..10), end.split_once(' ')) {
        (Some(day), Some((same, clock))) if day == same => clock.to_owned(),
        _ => end,
    }
}

fn facts(content: &TurnContent) -> String {
    let mut facts = Vec::new();
    facts.extend(content.time.as_deref().map(short_time));
    facts.extend(content.model.as_ref().map(|m| plain_text(m.raw())));
    facts.extend(content.tokens.map(|t| format!("{} tokens", tokens(t))));
    if !content.shown && content.turn > 0 {
        facts.push("no longer shown to the model".to_owned());
    }
    facts.join(" · ")
}

/// Returns how many items a conversation has, in words.
fn count(conversation: &Conversation) -> String {
    let items: usize = conversation
        .turn_contents
        .iter()
        .map(|c| c.items.len())
        .sum();
    match items {
        1 => "1 item".to_owned(),
        n => format!("{n} items"),
    }
}
