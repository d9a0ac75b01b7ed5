//! The one table of every field that names an entry or a session, and a walk over all that could.
//!
//! What the fields are called, where they were seen, and what becomes of one whose entry is removed:
//!
//! | field | names | when its entry goes |
//! |---|---|---|
//! | `uuid` | the entry itself | — |
//! | `parentUuid`, `logicalParentUuid`, `sourceToolAssistantUUID` | an entry | the nearest kept ancestor |
//! | `leafUuid`, `messageId`, `snapshot.messageId`, `snapshotMessageId` | an entry | the nearest kept ancestor |
//! | `compactMetadata.preservedSegment.{headUuid,anchorUuid,tailUuid}` | entries | head: the nearest kept descendant; others: ancestor |
//! | `compactMetadata.preservedMessages.{anchorUuid,uuids[],allUuids[]}` | entries | leaves the list |
//! | `forkedFrom.messageUuid`, `source_uuid`, `retractedMessageUuids[]`, `supersedesUuids[]`, … | entries | the nearest kept ancestor, or leaves the list |
//! | `sessionId`, `session_id`, `forkedFrom.sessionId` | a session | — |
//!
//! A field of next month needs no row: outside the words of the conversation, any string that *is*
//! an id counts as a reference to it.

use crate::json::{Cursor, Malformed, Span, Token};

use super::id::Id;
use super::reader::id_of_string;

/// A string that could be an id, where it stands in a line.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct IdUse<'a> {
    /// Its text, without quotes.
    pub span: Span,
    /// The key of the field that holds it (for an element of an array, the array's).
    pub key: &'a [u8],
    /// The key that holds the object or array around it.
    pub within: &'a [u8],
    /// How deep in objects and arrays it stands; 1 is a field of the entry itself.
    pub depth: u32,
    /// Whether it is an element of an array.
    pub element: bool,
}

impl IdUse<'_> {
    /// Whether some character of it is spelt with an escape, so that it is shorter than it looks.
    pub fn is_escaped(&self, line: &[u8]) -> bool {
        memchr::memchr(b'\\', self.span.of(line)).is_some()
    }

    /// The id that it spells.
    pub fn id(&self, line: &[u8]) -> Id {
        id_of_string(&line[(self.span.start as usize - 1)..=(self.span.end as usize)])
    }
}

/// No string that is longer than this, quotes included, is taken for an id.
pub const LONGEST_ID: usize = 4096;

/// Calls `found` for every string that could be an id, in everything but the words of the
/// conversation: `message.content` at any depth, and `toolUseResult`.
///
/// Keys count as well as values: a map by uuid is a list of references.
///
/// `words` are these, where they are known; they are not read then.
pub fn visit_ids<'a>(
    line: &'a [u8],
    words: [Span; 2],
    mut found: impl FnMut(IdUse<'a>),
) -> Result<(), Malformed> {
    let mut cursor = Cursor::around(line, words);
    // Explicit frames instead of recursion, so that depth costs memory, not the stack.
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
        // On to the next value, closing what ends here.
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

/// Whether the value of `key` is of the conversation.
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
    fn finds_ids_anywhere_but_in_words() {
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
