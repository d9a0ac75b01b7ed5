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

/// The texts of an attachment, each as a JSON string of the line, and the role they are sent in.
pub(crate) struct Attached<'a> {
    pub(crate) role: Role,
    pub(crate) texts: Vec<&'a [u8]>,
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
                role: Role::User,
                texts: vec![text],
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
        let mut texts = Vec::new();
        for element in elements(rendered).ok()? {
            let element = element.of(rendered);
            let content = lookup(element, &["content"])
                .map(|s| s.of(element))
                .unwrap_or_default();
            gather(content, &mut texts);
        }
        return (!texts.is_empty()).then_some(Attached { role, texts });
    }
    if HIDDEN.contains(&kind) {
        return None;
    }
    let mut texts = Vec::new();
    for (key, path) in WORDS {
        let found = value(line, &own, key)
            .filter(|v| path.is_empty() || v.starts_with(b"{"))
            .and_then(|v| lookup(v, path).map(|s| s.of(v)));
        gather(found.unwrap_or_default(), &mut texts);
        if !texts.is_empty() {
            break;
        }
    }
    (!texts.is_empty()).then_some(Attached {
        role: Role::User,
        texts,
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

/// Collects a string, or the texts of a list of blocks.
fn gather<'a>(content: &'a [u8], texts: &mut Vec<&'a [u8]>) {
    match content.first() {
        Some(b'"') if content.len() > 2 => texts.push(content),
        Some(b'[') => {
            for block in elements(content).unwrap_or_default() {
                let block = block.of(content);
                texts.extend(
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
                let said = |e: &Entry| attached(line.as_bytes(), e).map(|a| (a.role, a.texts));
                assert_eq!(said(&known), said(&unknown), "{line}");
            }
        }
    }
}
