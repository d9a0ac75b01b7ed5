//! The fields that refer to an entry or a session, and a visitor of every string that could be such a reference.
//!
//! The known fields, and what happens to each when the entry it refers to is removed:
//!
//! | field | refers to | when that entry is removed |
//! |---|---|---|
//! | `uuid` | the entry itself | — |
//! | `parentUuid`, `logicalParentUuid`, `sourceToolAssistantUUID` | an entry | the nearest kept ancestor |
//! | `leafUuid`, `messageId`, `snapshot.messageId`, `snapshotMessageId` | an entry | the nearest kept ancestor |
//! | `compactMetadata.preservedSegment.{headUuid,anchorUuid,tailUuid}` | entries | head: the nearest kept descendant; others: ancestor |
//! | `compactMetadata.preservedMessages.{anchorUuid,uuids[],allUuids[]}` | entries | removed from the list |
//! | `forkedFrom.messageUuid`, `source_uuid`, `retractedMessageUuids[]`, `supersedesUuids[]`, … | entries | the nearest kept ancestor, or removed from the list |
//! | `sessionId`, `session_id`, `forkedFrom.sessionId` | a session | — |
//!
//! Fields of later clients need no row: outside the text of the conversation, any string that *is* an id counts as a
//! reference to it.

use crate::json::{Cursor, Malformed, Span, Token};

use super::id::Id;
use super::reader::id_of_string;

/// A string in a line that could be an id.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct IdUse<'a> {
    /// Its text, without quotes.
    pub span: Span,
    /// The key of the field that holds it (for an element of an array, the array's).
    pub key: &'a [u8],
    /// The key that holds the object or array around it.
    pub within: &'a [u8],
    /// How many objects and arrays are around it; 1 is a field of the entry itself.
    pub depth: u32,
    /// Whether it is an element of an array.
    pub element: bool,
}

impl IdUse<'_> {
    /// Whether it contains an escape, so that it is shorter than its span.
    pub fn is_escaped(&self, line: &[u8]) -> bool {
        memchr::memchr(b'\\', self.span.of(line)).is_some()
    }

    /// Returns the id that it spells.
    pub fn id(&self, line: &[u8]) -> Id {
        id_of_string(&line[(self.span.start as usize - 1)..=(self.span.end as usize)])
    }
}

/// Longer strings, quotes included, are not taken for ids.
pub const LONGEST_ID: usize = 4096;

/// Calls `found` for every string that could be an id, except in the text of the conversation: `message.content` at any
/// depth, and `toolUseResult`.
///
/// Keys count as well as values: a map by uuid is a list of references.
///
/// `words` are the spans of that text, where they are known; they are skipped then.
pub fn visit_ids<'a>(
    line: &'a [u8],
    words: [Span; 2],
    mut found: impl FnMut(IdUse<'a>),
) -> Result<(), Malformed> {
    let mut cursor = Cursor::around(line, words);
    // Explicit frames instead of recursion, so that no depth can overflow the stack.
    let mut frames: Vec<Frame<'a>> = Vec::new();
    let mut key: &'a [u8] = b"";
    'value: loop {
        let parent_key: &'a [u8] = frames.last().map_or(b"", |f| f.key);
        match cursor.peek()? {
            Token::Object if !is_words(&frames, key, parent_key) => {
                cursor.enter_object()?;
                frames.push(Frame {
                    key,
                    object: true,
                    first: true,
                });
            }
            Token::Array if !is_words(&frames, key, parent_key) => {
                cursor.enter_array()?;
                frames.push(Frame {
                    key,
                    object: false,
                    first: true,
                });
            }
            Token::String if !is_words(&frames, key, parent_key) => {
                let span = cursor.skip()?;
                if (2..=LONGEST_ID).contains(&span.len()) {
                    found(IdUse {
                        span: Span {
                            start: span.start + 1,
                            end: span.end - 1,
                        },
                        key,
                        within: parent_key,
                        depth: frames.len() as u32,
                        element: frames.last().is_some_and(|f| !f.object),
                    });
                }
            }
            _ => {
                cursor.skip()?;
            }
        }
        // Move to the next value, closing the brackets that end here.
        let depth = frames.len() as u32;
        while let Some(frame) = frames.last_mut() {
            let more = if frame.object {
                match cursor.next_key(&mut frame.first)? {
                    Some(span) => {
                        key = span.of(line);
                        if (2..=LONGEST_ID).contains(&span.len()) {
                            found(IdUse {
                                span,
                                key,
                                within: frame.key,
                                depth,
                                element: false,
                            });
                        }
                        true
                    }
                    None => false,
                }
            } else {
                key = frame.key;
                cursor.next_element(&mut frame.first)?
            };
            if more {
                continue 'value;
            }
            frames.pop();
        }
        return cursor.finish();
    }
}

struct Frame<'a> {
    key: &'a [u8],
    object: bool,
    first: bool,
}

/// Whether the value of `key` is text of the conversation.
fn is_words(frames: &[Frame<'_>], key: &[u8], parent_key: &[u8]) -> bool {
    key == b"content" && parent_key == b"message" || key == b"toolUseResult" && frames.len() == 1
}

#[cfg(test)]
mod tests {
    use super::*;

    fn seen(line: &str) -> Vec<(String, String, u32, bool)> {
        let mut out = Vec::new();
        visit_ids(line.as_bytes(), [Span::default(); 2], |u| {
            let text = |b: &[u8]| String::from_utf8_lossy(b).into_owned();
            if u.span.len() == 2 {
                out.push((
                    text(u.key),
                    text(u.span.of(line.as_bytes())),
                    u.depth,
                    u.element,
                ));
            }
        })
        .unwrap();
        out
    }

    #[test]
    fn references_are_found_everywhere_but_in_the_conversation() {
        let line = r#"{"uuid":"u1","new":{"deep":[["u2"],{"x":"u3"}]},"message":{"id":"m1","content":[{"text":"u4"}]},"toolUseResult":{"a":"u5"},"data":{"message":{"uuid":"u6","message":{"content":"u7"}}}}"#;
        let expected = [
            ("uuid", "u1", 1, false),
            ("deep", "u2", 4, true),
            ("x", "u3", 4, false),
            ("id", "id", 2, false),
            ("id", "m1", 2, false),
            ("uuid", "u6", 3, false),
        ];
        let expected: Vec<_> = expected
            .map(|(k, v, d, e)| (k.to_owned(), v.to_owned(), d, e))
            .into();
        assert_eq!(seen(line), expected);
    }
}
