//! Restores a prompt whose line is torn, if its words are recorded a second time.

use memchr::memmem;

use crate::doctor::checks::chain::dangling_parent;
use crate::json::{decode, encode};
use crate::session::Session;

use super::super::RepairOptions;
use super::super::edit::{NewUser, made_uuid};
use super::super::second_copies;

/// A prompt that was put together again.
pub(super) struct Restored {
    /// The new line.
    pub(super) line: String,
    /// Its words.
    pub(super) words: String,
    /// Where the words come from.
    pub(super) source: &'static str,
}

/// Restores the prompt of which `fragment`, on line `line`, is the beginning.
pub(super) fn restore(
    session: &Session,
    options: &RepairOptions,
    line: usize,
    fragment: &[u8],
) -> Option<Restored> {
    let torn = TornPrompt::read(fragment)?;
    let copy = second_copies::prompt(session, options, &torn.beginning)?;
    let entries = session.entries();
    let next = entries.partition_point(|e| (e.line as usize) < line);
    let chained = |i: &usize| entries[*i].is_chained();
    let (like, time) = match (next..entries.len()).find(chained) {
        Some(i) => (&entries[i], entries[i].time.saturating_sub(1)),
        None => {
            let before = (0..next).rev().find(chained)?;
            (&entries[before], entries[before].time.saturating_add(1))
        }
    };
    // The answer to the prompt still names it.
    let child = dangling_parent::entries(session).find(|&i| i >= next);
    let uuid = torn
        .uuid
        .or_else(|| session.string(&entries[child?], &["parentUuid"]))
        .unwrap_or_else(|| made_uuid(&["prompt", &copy.words]));
    let content = encode(&copy.words);
    let line = NewUser {
        like,
        parent: torn.parent.as_deref(),
        uuid: &uuid,
        content: &content,
        time: time.max(0),
        more: "",
    }
    .line(session);
    Some(Restored {
        line,
        words: copy.words,
        source: copy.source,
    })
}

/// What can be read of a torn prompt.
#[derive(Debug, PartialEq, Eq)]
struct TornPrompt {
    parent: Option<String>,
    /// The words up to where the line is torn.
    beginning: String,
    uuid: Option<String>,
}

impl TornPrompt {
    fn read(fragment: &[u8]) -> Option<Self> {
        let rest = fragment.strip_prefix(b"{\"parentUuid\":")?;
        let parent = string_at(rest).map(|(parent, _)| parent);
        memmem::find(fragment, b"\"type\":\"user\"")?;
        let starts: [&[u8]; 2] = [
            b"\"role\":\"user\",\"content\":",
            b"\"role\":\"user\",\"content\":[{\"type\":\"text\",\"text\":",
        ];
        let after = |start: &[u8]| {
            let at = memmem::find(fragment, start)? + start.len();
            Some(&fragment[at..]).filter(|rest| rest.starts_with(b"\""))
        };
        let words = starts.into_iter().find_map(after)?;
        let (beginning, rest) = string_at(words)?;
        let uuid = memmem::find(rest, b"\"uuid\":").and_then(|at| {
            let (uuid, rest) = string_at(&rest[at + 7..])?;
            Some(uuid).filter(|_| !rest.is_empty())
        });
        Some(Self {
            parent,
            beginning,
            uuid,
        })
    }
}

/// Returns the JSON string at the start of `text`, as far as it is there, and what follows it.
fn string_at(text: &[u8]) -> Option<(String, &[u8])> {
    let inner = text.strip_prefix(b"\"")?;
    let mut at = 0;
    while at < inner.len() {
        let len = match inner[at] {
            b'"' => return Some((closed(&inner[..at]), &inner[at + 1..])),
            b'\\' if inner.get(at + 1) == Some(&b'u') => 6,
            b'\\' => 2,
            _ => 1,
        };
        // An escape that is cut off is not part of the words.
        if at + len > inner.len() {
            break;
        }
        at += len;
    }
    Some((closed(&inner[..at]), &[]))
}

fn closed(inner: &[u8]) -> String {
    let whole = [b"\"", inner, b"\""].concat();
    let words = decode(&whole);
    // So is a character that is cut off.
    words.trim_end_matches('\u{fffd}').to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn torn_prompt_is_read_up_to_the_tear() {
        let line = r#"{"parentUuid":"p","type":"user","message":{"role":"user","content":"a \"b\" \u00e9x"},"uuid":"u","timestamp":"t"}"#;
        let read = |len: usize| TornPrompt::read(&line.as_bytes()[..len]);
        let whole = read(line.len()).unwrap();
        assert_eq!(
            (whole.beginning.as_str(), whole.uuid.as_deref()),
            ("a \"b\" éx", Some("u"))
        );
        assert_eq!(whole.parent.as_deref(), Some("p"));
        let escape = line.find("\\u00").unwrap();
        assert_eq!(read(escape + 4).unwrap().beginning, "a \"b\" ");
        assert_eq!(read(escape + 6).unwrap().beginning, "a \"b\" é");
        assert_eq!(read(40), None);
    }

    #[test]
    fn torn_result_is_not_a_prompt() {
        let line = br#"{"parentUuid":null,"type":"user","message":{"role":"user","content":[{"tool_use_id":"t"#;
        assert_eq!(TornPrompt::read(line), None);
    }
}
