//! Replaces images and documents by notes.

use serde::Deserialize;

use crate::human::bytes;
use crate::json::{Edit, Span, elements, encode, lookup};
use crate::session::{Session, TurnRange};
use crate::surgery::{Action, ChangeKind, Detail, Plan, Refusal, Transform};
use crate::transcript::{Block, BlockKind, Kind};

use super::drop_tools::drop_field;
use super::turn_filter::TurnFilter;

/// How the note ends that replaces an image or a document.
pub(crate) const NOTE_END: &str = " removed by ccsurgery]";

/// Replaces images and documents by notes, in prompts and in results; the text stays.
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
        for (i, e) in session.entries().iter().enumerate() {
            // The model has not seen the images of an unfinished turn yet.
            let awaited =
                unfinished.is_some() && session.turns().of(session.graph(), i) == unfinished;
            if e.kind != Kind::User || awaited || !scope.holds(session, i) {
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

/// Replaces an image or document by a note, if that makes it smaller.
fn replace(session: &Session, index: usize, span: Span, plan: &mut Plan) {
    let e = &session.entries()[index];
    let raw = span.of(session.text(e));
    let image = lookup(raw, &["type"]).is_some_and(|s| s.of(raw) == b"\"image\"");
    let kind = if image {
        ChangeKind::Image
    } else {
        ChangeKind::Document
    };
    let words = format!("[{kind} of {}{NOTE_END}", bytes(raw.len() as u64));
    let note = format!(r#"{{"type":"text","text":{}}}"#, encode(&words));
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
    let Some(content) = lookup(result, &["content"]) else {
        return Vec::new();
    };
    let raw = content.of(result);
    if !raw.starts_with(b"[") {
        return Vec::new();
    }
    let mut out = elements(raw).unwrap_or_default();
    out.retain(|s| {
        let block = s.of(raw);
        block.starts_with(b"{")
            && lookup(block, &["type"])
                .is_some_and(|t| matches!(t.of(block), b"\"image\"" | b"\"document\""))
    });
    out.into_iter().map(|s| s.shift(content.start)).collect()
}
