//! The words of a row.

use crate::human::bytes;
use crate::json::{decode, lookup};
use crate::render::Presenter;
use crate::session::Session;
use crate::transcript::{Block, Entry, Kind};
use crate::view::{CallSummary, ItemContent, MediaItem, SessionText};
use crate::window::Picture;

use super::tree::{NO_BLOCK, Node, NodeKind, PROMPT, Tree};

/// How many bytes of a text are read for a row.
const START: usize = 4 << 10;

/// The words of a row, cleaned and masked.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub(super) struct Label {
    /// What it is: `turn 3`, `Bash`, `thinking`.
    pub(super) what: String,
    /// What it says.
    pub(super) gist: String,
}

/// Returns the words of a row.
pub(super) fn label(tree: &Tree, node: &Node, presenter: Presenter) -> Label {
    let session = &*tree.session;
    let (what, gist) = match node.kind {
        NodeKind::Turn if node.turn == 0 => ("before the first prompt".to_owned(), String::new()),
        NodeKind::Turn => {
            let prompt = tree.prompts[node.turn as usize].raw().to_owned();
            (format!("{}", node.turn), prompt)
        }
        NodeKind::Branch => {
            let branch = &tree.branches[node.place_in_list()];
            let what = match branch.entries {
                1 => "branch, 1 entry".to_owned(),
                entries => format!("branch, {entries} entries"),
            };
            (what, branch.prompt.raw().to_owned())
        }
        NodeKind::Subagent => {
            let agent = &tree.agents[node.place_in_list()];
            let what = match agent.agent_type.raw() {
                "" => "subagent".to_owned(),
                kind => format!("subagent {kind}"),
            };
            (what, agent.description.raw().to_owned())
        }
        NodeKind::Aside => of_aside(&tree.asides[node.place_in_list()].content),
        NodeKind::Compaction => ("compacted".to_owned(), String::new()),
        _ => of_entry(tree, session, node),
    };
    Label {
        what: presenter.line(&what),
        gist: presenter.line(&gist),
    }
}

/// Returns the words of something that happened on a branch or in a subagent.
fn of_aside(item: &ItemContent) -> (String, String) {
    let start = |text: &SessionText| text.raw().chars().take(PROMPT).collect::<String>();
    let media = |m: &MediaItem| format!("{} {}", m.format.raw(), bytes(m.bytes));
    let (what, gist) = match item {
        ItemContent::Prompt { text } => ("prompt", start(text)),
        ItemContent::Answer { text } => ("model", start(text)),
        ItemContent::Thinking { text } => ("thinking", start(text)),
        ItemContent::Call(call) => (call.tool.raw(), start(&call.gist)),
        ItemContent::Result {
            text, error: true, ..
        } => ("failed", start(text)),
        ItemContent::Result { text, .. } => ("output", start(text)),
        ItemContent::Image(image) => ("image", media(image)),
        ItemContent::Document(document) => ("document", media(document)),
        ItemContent::Compaction { .. } => ("compacted", String::new()),
        ItemContent::Summary { text } => ("summary", start(text)),
        ItemContent::Note { text, .. } => ("client", start(text)),
    };
    (what.to_owned(), gist)
}

fn of_entry(tree: &Tree, session: &Session, node: &Node) -> (String, String) {
    let e = session.entry(node.entry());
    if node.block != NO_BLOCK {
        return of_block(session, e, session.block(node.block), node.kind);
    }
    let what = match node.kind {
        NodeKind::Prompt => "you",
        NodeKind::Answer if e.flags.api_error() => "error",
        NodeKind::Answer => "model",
        NodeKind::Summary => "summary",
        _ => "client",
    };
    if node.kind == NodeKind::Note && e.kind == Kind::Attachment {
        let name = session.string(e, &["attachment", "type"]);
        return ("client".to_owned(), name.unwrap_or_default());
    }
    if node.kind == NodeKind::Prompt && e.kind == Kind::Attachment {
        let text = session.string(e, &["attachment", "prompt"]);
        return (what.to_owned(), text.unwrap_or_default());
    }
    (what.to_owned(), message_gist(tree, session, node))
}

/// Returns the first text of a message, else the tools that it calls.
fn message_gist(tree: &Tree, session: &Session, node: &Node) -> String {
    let mut tools: Vec<String> = Vec::new();
    let mut thinks = false;
    for i in tree.entries_of(node) {
        let e = session.entry(i);
        let line = session.text(e);
        if e.flags.string_content() {
            return start_of(e.content.of(line));
        }
        if e.kind == Kind::System {
            let content = lookup(line, &["content"]);
            return content.map_or_else(String::new, |s| start_of(s.of(line)));
        }
        for block in session.blocks(e) {
            match block.kind {
                crate::transcript::BlockKind::Text => {
                    return field(block, line, "text");
                }
                kind if kind.is_call() => {
                    let name = session.tool_name(e, block).into_owned();
                    if !tools.contains(&name) {
                        tools.push(name);
                    }
                }
                kind => thinks |= kind.is_thinking(),
            }
        }
    }
    match &tools[..] {
        [] if thinks => "thinking".to_owned(),
        tools => tools.join(", "),
    }
}

fn of_block(session: &Session, e: &Entry, block: &Block, kind: NodeKind) -> (String, String) {
    let line = session.text(e);
    let raw = block.span.of(line);
    match kind {
        NodeKind::Thinking => {
            let text = field(block, line, "thinking");
            let text = if text.trim().is_empty() {
                "(not readable)".to_owned()
            } else {
                text
            };
            ("thinking".to_owned(), text)
        }
        NodeKind::Call => {
            let call = CallSummary::of(raw);
            (call.tool.into_raw(), call.gist.into_raw())
        }
        NodeKind::Result => {
            let what = if block.is_failed() {
                "failed"
            } else {
                "output"
            };
            (what.to_owned(), result_start(block, line))
        }
        NodeKind::Media => {
            let picture = Picture::of(raw);
            let size = picture.size.map(|(w, h)| format!("{w}×{h} "));
            let text = format!(
                "{}{} {}",
                size.unwrap_or_default(),
                picture.format,
                bytes(picture.bytes)
            );
            ("image".to_owned(), text)
        }
        _ => ("text".to_owned(), field(block, line, "text")),
    }
}

fn field(block: &Block, line: &[u8], key: &str) -> String {
    let raw = block.span.of(line);
    lookup(raw, &[key]).map_or_else(String::new, |s| start_of(s.of(raw)))
}

/// Returns the first text of a result.
fn result_start(block: &Block, line: &[u8]) -> String {
    let Some(content) = block.content(line).map(|s| s.of(line)) else {
        return String::new();
    };
    if content.starts_with(b"\"") {
        return start_of(content);
    }
    let parts = crate::json::elements(content).unwrap_or_default();
    let mut parts = parts.into_iter().map(|s| s.of(content));
    let text = parts.find_map(|part| Some(start_of(lookup(part, &["text"])?.of(part))));
    let has_image = memchr::memmem::find(content, b"\"image\"").is_some();
    let other = if has_image { "(image)" } else { "(no text)" };
    text.unwrap_or_else(|| other.to_owned())
}

/// Returns the beginning of a JSON string.
pub(super) fn start_of(raw: &[u8]) -> String {
    if !raw.starts_with(b"\"") {
        return String::new();
    }
    if raw.len() <= START {
        return decode(raw).into_owned();
    }
    let mut end = START;
    while end > 1 && raw[end] & 0xc0 == 0x80 {
        end -= 1;
    }
    // No escape may be cut in two: the last ones are left out.
    let tail = end.saturating_sub(6).max(1);
    if let Some(at) = memchr::memchr(b'\\', &raw[tail..end]) {
        end = tail + at;
    }
    while end > 1 && raw[end - 1] == b'\\' {
        end -= 1;
    }
    decode(&[&raw[..end], b"\""].concat()).into_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn label_cuts_no_escape_in_two() {
        for fill in START - 20..START + 4 {
            for text in ["\\n", "\\\\", "\\u00e9", "é", "日本"] {
                let raw = format!("\"{}{}\"", "x".repeat(fill), text.repeat(40));
                let start = start_of(raw.as_bytes());
                assert!(
                    !start.contains('\u{fffd}') && start.len() <= START,
                    "{fill} {text}"
                );
                assert!(start.starts_with("xxx"));
            }
        }
    }
}
