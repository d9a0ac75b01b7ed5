//! Restores a prompt whose line is torn, if its words are recorded a second time.

use memchr::memmem;

use crate::document::LineIx;
use crate::json::encode;
use crate::session::Session;

use super::super::RepairOptions;
use super::super::edit::{NewUser, made_uuid};
use super::super::second_copies::{self, CUT};
use super::torn::{Place, Restored, string_at};

const TORN: &str = "\n[The rest of this prompt is lost: its line in the session file was torn.]";

/// Restores the prompt of which `fragment`, on line `line`, is the beginning.
pub(super) fn restore(
    session: &Session,
    options: &RepairOptions,
    line: LineIx,
    fragment: &[u8],
) -> Option<Restored> {
    let torn = TornPrompt::read(fragment)?;
    let mut copy = second_copies::prompt(session, options, &torn.beginning)?;
    if !copy.whole {
        copy.words = copy.words.trim_end_matches(CUT).to_owned() + TORN;
    }
    let place = Place::of(session, line)?;
    let uuid = torn.uuid.or_else(|| place.named_by_child(session));
    let line = NewUser {
        like: place.like,
        parent: torn.parent.as_deref(),
        uuid: &uuid.unwrap_or_else(|| made_uuid(&["prompt", &copy.words])),
        content: &encode(&copy.words),
        time: place.time,
        more: "",
    }
    .line(session);
    Some(Restored {
        kind: "prompt",
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
