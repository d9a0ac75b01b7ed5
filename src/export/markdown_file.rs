//! A conversation as one Markdown file, in the flavour of GitHub.

use std::fmt::Write as _;

use similar::{ChangeTag, TextDiff};

use crate::human::{bytes, tokens};
use crate::view::{CallItem, Conversation, ItemContent, TurnItem, note_heading};

use super::ansi::plain_text;
use super::cut::cut_output;
use super::html_items::short_time;
use super::page::beginning;
use super::redactor::Redactor;
use super::{ExportDetail, ExportOptions, Exportable};

/// Outputs with more lines than this are folded.
const FOLDED: usize = 12;

/// Returns a conversation as Markdown.
pub fn markdown_file(
    exported: &Exportable<'_>,
    options: ExportOptions,
    redactor: &Redactor,
) -> String {
    let conversation = &exported.conversation;
    let title = beginning(&plain_text(&redactor.text(&conversation.title)));
    let mut writer = Writer {
        exported,
        options,
        redactor,
        out: format!("# {}\n\n", escaped(&title)),
    };
    writer.facts(conversation);
    writer.turns(conversation);
    for (i, branch) in exported.branches.iter().enumerate() {
        let _ = writeln!(writer.out, "# Abandoned branch {}\n", i + 1);
        writer.turns(branch);
    }
    let _ = writeln!(
        writer.out,
        "---\n\n{} Made with ccsurgery.",
        redactor.summary()
    );
    writer.out
}

struct Writer<'a> {
    exported: &'a Exportable<'a>,
    options: ExportOptions,
    redactor: &'a Redactor,
    out: String,
}

impl Writer<'_> {
    fn facts(&mut self, conversation: &Conversation) {
        if let Some(project) = &conversation.project {
            let project = plain_text(&self.redactor.text(project));
            let _ = writeln!(self.out, "- Project: {}", inline_code(&project));
        }
        let _ = writeln!(
            self.out,
            "- Session: {}",
            inline_code(&conversation.session_id)
        );
        let _ = writeln!(self.out, "- Turns: {}", conversation.turns);
        let _ = writeln!(
            self.out,
            "- Context window: {} tokens\n",
            tokens(conversation.tokens)
        );
    }

    fn turns(&mut self, conversation: &Conversation) {
        for content in &conversation.turn_contents {
            match content.turn {
                0 => self.out.push_str("## Before the first prompt"),
                turn => drop(write!(self.out, "## Turn {turn}")),
            }
            if let Some(time) = &content.time {
                let _ = write!(self.out, " · {}", short_time(time));
            }
            self.out.push_str("\n\n");
            for item in &content.items {
                self.item(item);
            }
        }
    }

    fn item(&mut self, item: &TurnItem) {
        let detail = self.options.detail;
        match &item.content {
            ItemContent::Prompt { text } => {
                let text = plain_text(&self.redactor.text(text));
                let quoted: Vec<String> = text
                    .trim()
                    .lines()
                    .map(|l| format!("> {}", escaped(l)))
                    .collect();
                let _ = writeln!(self.out, "**Prompt**\n\n{}\n", quoted.join("\n"));
            }
            _ if detail == ExportDetail::Prompts => {}
            ItemContent::Answer { text } => {
                let text = plain_text(&self.redactor.text(text));
                let _ = writeln!(self.out, "{}\n", inert(text.trim()));
            }
            ItemContent::Call(call) => self.call(call),
            ItemContent::Compaction { tokens: before, .. } => {
                let at = before
                    .map(|t| format!(" at {} tokens", tokens(t)))
                    .unwrap_or_default();
                let _ = writeln!(
                    self.out,
                    "---\n\n*Compacted{at}: the model no longer sees what comes before.*\n"
                );
            }
            ItemContent::Image(media) => {
                let _ = writeln!(self.out, "*[image, {}]*\n", bytes(media.bytes));
            }
            ItemContent::Document(media) => {
                let _ = writeln!(self.out, "*[document, {}]*\n", bytes(media.bytes));
            }
            _ if detail == ExportDetail::Brief => {}
            ItemContent::Result { text, error, .. } => {
                let text = plain_text(&self.redactor.text(text));
                self.block(if *error { "Failed" } else { "Output" }, "", &text);
            }
            ItemContent::Thinking { text } if self.options.thinking => {
                let text = plain_text(&self.redactor.text(text));
                if !text.trim().is_empty() {
                    self.folded("Thinking", &inert(text.trim()));
                }
            }
            ItemContent::Thinking { .. } => {}
            ItemContent::Summary { text } => {
                let text = plain_text(&self.redactor.text(text));
                self.folded("Summary of what came before", &inert(text.trim()));
            }
            ItemContent::Note { what, text } => {
                let what = plain_text(&self.redactor.text(&note_heading(what)));
                let text = plain_text(&self.redactor.text(text));
                self.block(&format!("Note: {what}"), "", &text);
            }
        }
    }

    fn call(&mut self, call: &CallItem) {
        let tool = plain_text(&self.redactor.text(&call.tool));
        let gist = plain_text(&self.redactor.text(&call.gist));
        let gist: String = gist.split_whitespace().collect::<Vec<_>>().join(" ");
        let gist: String = gist.chars().take(160).collect();
        let _ = writeln!(self.out, "**{}** {}\n", escaped(&tool), inline_code(&gist));
        if self.options.detail == ExportDetail::Brief {
            return;
        }
        if call.edits.is_empty() {
            if tool != "Read" && tool != "Bash" {
                let input = self.redactor.json(&call.input);
                self.block("Input", "json", &plain_text(&input));
            }
        } else {
            for edit in &call.edits {
                let old = plain_text(&self.redactor.text(&edit.old));
                let new = plain_text(&self.redactor.text(&edit.new));
                let mut lines = String::new();
                for change in TextDiff::from_lines(&old, &new).iter_all_changes() {
                    let sign = match change.tag() {
                        ChangeTag::Delete => '-',
                        ChangeTag::Insert => '+',
                        ChangeTag::Equal => ' ',
                    };
                    let _ = writeln!(lines, "{sign}{}", change.value().trim_end_matches('\n'));
                }
                self.block("Changes", "diff", &lines);
            }
        }
        if let Some(id) = &call.agent_id
            && let Some((_, agent)) = self.exported.subagent(id.raw())
        {
            self.out
                .push_str("<details><summary>Subagent</summary>\n\n");
            for content in &agent.turn_contents {
                for item in &content.items {
                    // A subagent that started another is not followed.
                    if !matches!(&item.content, ItemContent::Call(c) if c.agent_id.is_some()) {
                        self.item(item);
                    }
                }
            }
            self.out.push_str("</details>\n\n");
        }
    }

    /// Writes a text as it is, folded if it is long.
    fn block(&mut self, name: &str, language: &str, text: &str) {
        let text = cut_output(text.trim_end(), self.options.detail == ExportDetail::Full);
        if text.trim().is_empty() {
            return;
        }
        let fence = fence(&text);
        let code = format!("{fence}{language}\n{text}\n{fence}");
        if text.lines().count() > FOLDED {
            self.folded(name, &code);
        } else {
            let _ = writeln!(self.out, "{code}\n");
        }
    }

    fn folded(&mut self, name: &str, text: &str) {
        let name = html_escaped(name);
        let _ = writeln!(
            self.out,
            "<details><summary>{name}</summary>\n\n{text}\n\n</details>\n"
        );
    }
}

/// Returns a fence that is longer than any in the text.
fn fence(text: &str) -> String {
    let longest = text.split(|c| c != '`').map(str::len).max().unwrap_or(0);
    "`".repeat(longest.max(2) + 1)
}

fn inline_code(text: &str) -> String {
    let fence = if text.contains('`') {
        fence(text)
    } else {
        "`".to_owned()
    };
    let gap = if text.starts_with('`') || text.ends_with('`') {
        " "
    } else {
        ""
    };
    let text = if text.trim().is_empty() { " " } else { text };
    format!("{fence}{gap}{text}{gap}{fence}")
}

fn html_escaped(text: &str) -> String {
    text.replace('&', "&amp;")
        .replace('<', "&lt;")
        .replace('>', "&gt;")
}

/// Escapes what would be markup at the beginning of a line or inside it.
fn escaped(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for c in html_escaped(text).chars() {
        if matches!(c, '*' | '_' | '`' | '[' | ']' | '\\' | '#' | '|' | '~') {
            out.push('\\');
        }
        out.push(c);
    }
    out
}

/// Returns Markdown of the model with HTML in it made harmless; code stays as it is.
fn inert(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    let mut open: Option<String> = None;
    for line in text.lines() {
        let start = line.trim_start();
        let ticks: String = start
            .chars()
            .take_while(|c| *c == '`' || *c == '~')
            .collect();
        match &open {
            Some(fence) => {
                out.push_str(line);
                if start.trim_end() == ticks
                    && ticks.len() >= fence.len()
                    && ticks.starts_with(&fence[..1])
                {
                    open = None;
                }
            }
            None if ticks.len() >= 3 => {
                out.push_str(line);
                open = Some(ticks);
            }
            None => out.push_str(
                &line
                    .replace('<', "&lt;")
                    .replace("](javascript:", "](about:blank#"),
            ),
        }
        out.push('\n');
    }
    if let Some(fence) = open {
        out.push_str(&fence);
        out.push('\n');
    }
    out.trim_end().to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn markdown_fences_are_longer_than_those_inside() {
        assert_eq!(fence("a"), "```");
        assert_eq!(fence("```\nx\n```"), "````");
        assert_eq!(inline_code("a`b"), "```a`b```");
    }

    #[test]
    fn markdown_keeps_html_of_the_model_inert() {
        assert_eq!(inert("a <script>x</script>"), "a &lt;script>x&lt;/script>");
        assert_eq!(inert("```\n<b>\n```\n<b>"), "```\n<b>\n```\n&lt;b>");
        assert_eq!(inert("```\n<b>"), "```\n<b>\n```");
    }
}
