//! The text of an attachment that the model is shown.

use crate::json::{Cursor, Field, Malformed, Span, Token, elements, lookup};

use super::entry::{Entry, WindowUse};
use super::head::Kind;
use super::role::Role;

/// Attachments that the newest client does not show again, whatever they hold.
pub(crate) const HIDDEN: [&[u8]; 16] = [
    b"\"session_context\"",
    b"\"prompt_snapshot\"",
    b"\"hook_success\"",
    b"\"todo_reminder\"",
    b"\"compaction_reminder\"",
    b"\"companion_intro\"",
    b"\"echo_activities\"",
    b"\"pen_mode_enter\"",
    b"\"pen_mode_exit\"",
    b"\"verify_plan_reminder\"",
    b"\"fold_nudge\"",
    b"\"context_tip\"",
    b"\"audio_transcript\"",
    b"\"new_file\"",
    b"\"new_directory\"",
    b"\"hook_non_blocking_error\"",
];

/// Attachments about the client and its environment; the client adds them again where they are no longer shown.
pub(crate) const ANNOUNCED: [&[u8]; 10] = [
    b"environment",
    b"model",
    b"deferred_tools_delta",
    b"mcp_instructions_delta",
    b"agent_listing_delta",
    b"skill_listing",
    b"auto_mode",
    b"session_context",
    b"date",
    b"remote_session_change",
];

/// Where clients that do not write `rendered` keep the text of an attachment that they show.
const WORDS: [(&str, &[&str]); 6] = [
    ("content", &["file", "content"]),
    ("content", &["text"]),
    ("content", &[]),
    ("snippet", &[]),
    ("prompt", &[]),
    ("message", &[]),
];

/// What an attachment shows to the model.
#[derive(Debug, Default, PartialEq, Eq)]
pub(crate) struct Attached<'a> {
    /// The role that the client recorded; without one, the client chooses it by the model.
    pub(crate) role: Option<Role>,
    /// The texts, each a JSON string of the line.
    pub(crate) texts: Vec<&'a [u8]>,
    /// The pictures and documents.
    pub(crate) media: Vec<AttachedMedia<'a>>,
}

/// A picture or document of an attachment.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum AttachedMedia<'a> {
    /// A content block, as in a prompt.
    Block(&'a [u8]),
    /// A file that a person mentioned: its data in base64 and its media type, both JSON strings.
    File {
        data: &'a [u8],
        media_type: &'a [u8],
    },
}

impl Attached<'_> {
    fn is_empty(&self) -> bool {
        self.texts.is_empty() && self.media.is_empty()
    }
}

/// Returns what the model is shown of an attachment; `line` is the line of its entry.
///
/// The newest clients record the text they sent. For older ones it is the content, without the phrases that the client
/// would put around it.
pub(crate) fn attached<'a>(line: &'a [u8], e: &Entry) -> Option<Attached<'a>> {
    if e.kind != Kind::Attachment {
        return None;
    }
    match e.window_use() {
        WindowUse::ShownBytes(0) => return None,
        WindowUse::ShownBytes(len) => {
            let text = content(line, len as usize)?;
            return Some(Attached {
                texts: vec![text],
                ..Attached::default()
            });
        }
        WindowUse::RequestTokens(_) | WindowUse::NeedsFullParse => {}
    }
    let (all, own) = fields_with_attachment(line).ok()?;
    value(line, &all, "attachment")?;
    let kind = value(line, &own, "type").unwrap_or_default();
    if HIDDEN[2..].contains(&kind) && kind != b"\"hook_success\"" {
        return None;
    }
    let role = if value(line, &all, "renderedRole") == Some(b"\"system\"") {
        Role::System
    } else {
        Role::User
    };
    if let Some(rendered) = value(line, &all, "rendered").filter(|r| r.starts_with(b"[")) {
        let mut out = Attached {
            role: Some(role),
            ..Attached::default()
        };
        for element in elements(rendered).ok()? {
            let element = element.of(rendered);
            let content = lookup(element, &["content"])
                .map(|s| s.of(element))
                .unwrap_or_default();
            gather(content, &mut out);
        }
        return (!out.is_empty()).then_some(out);
    }
    if HIDDEN.contains(&kind) {
        return None;
    }
    let mut out = Attached::default();
    out.media.extend(mentioned(line, &own));
    for (key, path) in WORDS {
        let found = value(line, &own, key)
            // Only an object has more in it.
            .filter(|v| path.is_empty() || v.starts_with(b"{"))
            .and_then(|v| lookup(v, path).map(|s| s.of(v)));
        gather(found.unwrap_or_default(), &mut out);
        if !out.is_empty() {
            break;
        }
    }
    (!out.is_empty()).then_some(out)
}

/// The picture that an attachment has because a person mentioned its file.
fn mentioned<'a>(line: &'a [u8], own: &[Field]) -> Option<AttachedMedia<'a>> {
    let content = value(line, own, "content").filter(|c| c.starts_with(b"{"))?;
    let field = |path: &[&str]| {
        let value = lookup(content, path)?.of(content);
        value.starts_with(b"\"").then_some(value)
    };
    (field(&["type"])? == b"\"image\"").then_some(())?;
    Some(AttachedMedia::File {
        data: field(&["file", "base64"])?,
        media_type: field(&["file", "type"])?,
    })
}

/// Returns the content of an attachment, which is known to have `len` bytes, without reading the rest of the line.
fn content(line: &[u8], len: usize) -> Option<&[u8]> {
    let mut cursor = Cursor::new(line);
    for wanted in ["attachment", "content"] {
        let mut first = true;
        cursor.enter_object().ok()?;
        while cursor.next_key(&mut first).ok()??.of(line) != wanted.as_bytes() {
            cursor.skip().ok()?;
        }
        cursor.peek().ok()?;
    }
    let start = cursor.position();
    line.get(start..start + len)
}

/// Returns the fields of a line, and those of its attachment, in one pass: attachments are long.
fn fields_with_attachment(line: &[u8]) -> Result<(Vec<Field>, Vec<Field>), Malformed> {
    let (mut all, mut own) = (Vec::new(), Vec::new());
    let mut cursor = Cursor::new(line);
    let mut first = true;
    cursor.enter_object()?;
    while let Some(key) = cursor.next_key(&mut first)? {
        if key.of(line) != b"attachment" {
            let value = cursor.skip()?;
            all.push(Field { key, value });
            continue;
        }
        own.clear();
        let object = cursor.peek()? == Token::Object;
        let start = cursor.position();
        if object {
            let mut first = true;
            cursor.enter_object()?;
            while let Some(key) = cursor.next_key(&mut first)? {
                let value = cursor.skip()?;
                own.push(Field { key, value });
            }
        } else {
            cursor.skip()?;
        }
        let value = Span::new(start, cursor.position());
        all.push(Field { key, value });
    }
    Ok((all, own))
}

/// Returns the value of the last of these fields with this key.
fn value<'a>(line: &'a [u8], fields: &[Field], key: &str) -> Option<&'a [u8]> {
    let named = |f: &&Field| f.key.of(line) == key.as_bytes();
    fields.iter().rfind(named).map(|f| f.value.of(line))
}

/// Adds a string, or the texts and pictures of a list of blocks.
fn gather<'a>(content: &'a [u8], out: &mut Attached<'a>) {
    match content.first() {
        Some(b'"') if content.len() > 2 => out.texts.push(content),
        Some(b'[') => {
            for block in elements(content).unwrap_or_default() {
                let block = block.of(content);
                let kind = lookup(block, &["type"]).map(|s| s.of(block));
                if let Some(b"\"image\"" | b"\"document\"") = kind {
                    out.media.push(AttachedMedia::Block(block));
                    continue;
                }
                out.texts.extend(
                    lookup(block, &["text"])
                        .map(|s| s.of(block))
                        .filter(|t| t.starts_with(b"\"")),
                );
            }
        }
        _ => {}
    }
}

#[cfg(test)]
mod tests {
    use super::super::reader::parse;
    use super::*;

    #[test]
    fn attachment_text_is_the_same_with_and_without_a_full_parse() {
        let attachments = [
            r#"{"type":"note","content":"größe \"and\" more"}"#,
            r#"{"content":"first","type":"file"}"#,
            r#"{"type":"note","content":"one","content":"the other"}"#,
            r#"{"type":"note","content":""}"#,
            r#"{"type":"note","content":[{"type":"text","text":"a"},{"type":"text","text":"b"}]}"#,
            r#"{"type":"file","content":{"file":{"content":"in a file"}}}"#,
            r#"{"type":"todo_reminder","content":"hidden"}"#,
            r#"{"type":"hook_success","content":"hidden unless rendered"}"#,
            r#"{"type":"queued_command","prompt":"typed meanwhile"}"#,
            r#"{"type":"queued_command","prompt":[{"type":"text","text":"look"},{"type":"image","source":{}}]}"#,
            r#"{"type":"file","content":{"type":"image","file":{"base64":"iVBO","type":"image/png"}}}"#,
            r#"{"type":"edited","snippet":"a piece","content":5}"#,
            "null",
        ];
        let rendered = r#""rendered":[{"content":"as it was sent"}],"renderedRole":"system","#;
        let again = r#""attachment":{"content":"said before","type":"note"},"#;
        for attachment in attachments {
            for more in ["", rendered, again, "\"content\":\"another matter\","] {
                let line = format!(
                    r#"{{"parentUuid":null,{more}"type":"attachment","attachment":{attachment},"uuid":"u"}}"#
                );
                let (known, _) = parse(line.as_bytes(), &mut Vec::new()).expect("an entry");
                let mut unknown = known;
                unknown.set_window_use(None);
                let said = |e: &Entry| attached(line.as_bytes(), e);
                assert_eq!(said(&known), said(&unknown), "{line}");
            }
        }
    }
}
