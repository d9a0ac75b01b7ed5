//! Replaces images and documents by notes.

use serde::Deserialize;

use crate::human::bytes;
use crate::json::{Edit, Span, elements, encode, lookup};
use crate::session::{Session, TurnRange};
use crate::surgery::{Action, ChangeKind, Detail, Plan, Refusal, Transform};
use crate::transcript::{Block, BlockKind, EntryIx, Kind};

use super::drop_tools::drop_field;
use super::turn_filter::TurnFilter;

/// How the note ends that replaces an image or a document.
pub(crate) const NOTE_END: &str = " removed by ccsurgery]";

/// Replaces images and documents by notes, in prompts, results and attachments; the text stays.
#[derive(Debug, Clone, PartialEq, Eq, Default, Deserialize)]
#[serde(deny_unknown_fields, rename_all = "kebab-case", default)]
pub struct DropImages {
    /// Only in these turns.
    pub turns: Option<TurnRange>,
    /// Leaves this many last turns alone.
    pub keep_last: Option<u32>,
}

impl Transform for DropImages {
    fn name(&self) -> &'static str {
        "drop-images"
    }

    fn plan(&self, session: &Session, _: Detail) -> Result<Plan, Refusal> {
        let scope = TurnFilter::new(session, self.turns.as_ref(), self.keep_last)?;
        let unfinished = session.unfinished_turn();
        let mut plan = Plan::default();
        for (i, e) in session.numbered() {
            // The model has not seen the images of an unfinished turn yet.
            let awaited =
                unfinished.is_some() && session.turns().of(session.graph(), i) == unfinished;
            if awaited || !scope.holds(session, i) {
                continue;
            }
            if e.kind == Kind::Attachment {
                drop_attached(session, i, &mut plan);
            }
            if e.kind != Kind::User {
                continue;
            }
            let text = session.text(e);
            let mut copied = false;
            for block in session.blocks(e) {
                let found = if is_media(block) {
                    vec![block.span]
                } else if block.kind == BlockKind::ToolResult {
                    let inside = media_in(block.span.of(text));
                    inside.iter().map(|s| s.shift(block.span.start)).collect()
                } else {
                    Vec::new()
                };
                copied |= block.kind == BlockKind::ToolResult && !found.is_empty();
                for span in found {
                    replace(session, i, span, &mut plan);
                }
            }
            if copied && e.flags.tool_use_result() {
                drop_field(session, &mut plan, i, "toolUseResult");
            }
        }
        Ok(plan)
    }
}

/// Replaces what an attachment has: blocks of a prompt that was typed while the model worked, or a mentioned picture.
fn drop_attached(session: &Session, index: EntryIx, plan: &mut Plan) {
    let text = session.text(session.entry(index));
    let lists = [&["attachment", "prompt"][..], &["attachment", "content"]];
    let lists = lists.into_iter().filter_map(|path| lookup(text, path));
    let mut blocks: Vec<Span> = lists.flat_map(|list| media_of(text, list)).collect();
    // The newest clients record what they sent.
    let sent = lookup(text, &["rendered"]).filter(|s| s.of(text).starts_with(b"["));
    for message in sent.iter().flat_map(|s| elements_of(text, *s)) {
        let content = lookup(message.of(text), &["content"]);
        blocks.extend(
            content
                .iter()
                .flat_map(|s| media_of(text, s.shift(message.start))),
        );
    }
    for span in blocks {
        replace(session, index, span, plan);
    }
    if let Some(content) = mentioned_picture(text) {
        let name = lookup(text, &["attachment", "filename"]).map_or(&b"\"\""[..], |s| s.of(text));
        let name = String::from_utf8_lossy(name);
        // Clients show it as the text of that file.
        replace_by(session, index, content, plan, |words| {
            format!(
                r#"{{"type":"text","file":{{"filePath":{name},"content":{words},"numLines":1,"startLine":1,"totalLines":1}}}}"#
            )
        });
    }
}

/// Returns the content of an attachment if it is a picture that a person mentioned by its file.
fn mentioned_picture(text: &[u8]) -> Option<Span> {
    let content = lookup(text, &["attachment", "content"])?;
    let raw = content.of(text);
    let is_picture = raw.starts_with(b"{")
        && lookup(raw, &["type"]).is_some_and(|s| s.of(raw) == b"\"image\"")
        && lookup(raw, &["file", "base64"]).is_some();
    is_picture.then_some(content)
}

/// Replaces an image or document by a note, if that makes it smaller.
fn replace(session: &Session, index: EntryIx, span: Span, plan: &mut Plan) {
    replace_by(session, index, span, plan, |words| {
        format!(r#"{{"type":"text","text":{words}}}"#)
    });
}

/// Replaces an image or document by a note that `form` makes of its words, which are JSON already.
fn replace_by(
    session: &Session,
    index: EntryIx,
    span: Span,
    plan: &mut Plan,
    form: impl Fn(&str) -> String,
) {
    let e = session.entry(index);
    let raw = span.of(session.text(e));
    let image = lookup(raw, &["type"]).is_some_and(|s| s.of(raw) == b"\"image\"");
    let kind = if image {
        ChangeKind::Image
    } else {
        ChangeKind::Document
    };
    let words = format!("[{kind} of {}{NOTE_END}", bytes(raw.len() as u64));
    let note = form(&encode(&words));
    if note.len() >= raw.len() {
        return;
    }
    let grown = note.len() as i64 - raw.len() as i64;
    let shown = if session.graph().is_shown(index) {
        grown
    } else {
        0
    };
    plan.note(session, e, Action::Edit, kind, grown, shown, "");
    plan.edit_line(e.line, [Edit::new(span, note)]);
}

/// Whether a line is the note of an image or a document that was there.
pub(crate) fn is_image_note(line: &str) -> bool {
    line.starts_with('[') && line.ends_with(NOTE_END)
}

/// Whether a block is an image or a document.
pub(crate) fn is_media(block: &Block) -> bool {
    matches!(block.kind, BlockKind::Image | BlockKind::Document)
}

/// The images and documents in a result.
pub(crate) fn media_in(result: &[u8]) -> Vec<Span> {
    let content = lookup(result, &["content"]);
    content.map_or_else(Vec::new, |content| media_of(result, content))
}

/// The images and documents in a list of blocks.
fn media_of(text: &[u8], list: Span) -> Vec<Span> {
    let mut out = elements_of(text, list);
    out.retain(|s| {
        let block = s.of(text);
        block.starts_with(b"{")
            && lookup(block, &["type"])
                .is_some_and(|t| matches!(t.of(block), b"\"image\"" | b"\"document\""))
    });
    out
}

/// The elements of a list; nothing if the value is not one.
fn elements_of(text: &[u8], list: Span) -> Vec<Span> {
    let raw = list.of(text);
    if !raw.starts_with(b"[") {
        return Vec::new();
    }
    let all = elements(raw).unwrap_or_default();
    all.into_iter().map(|s| s.shift(list.start)).collect()
}
