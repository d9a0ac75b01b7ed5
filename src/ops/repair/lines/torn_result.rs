//! Restores the result of a call whose line is torn: from the line itself, or from where its words are recorded a second
//! time.

use memchr::memmem;

use crate::document::LineIx;
use crate::json::{Cursor, decode, encode, lookup};
use crate::session::{At, Session};
use crate::transcript::{BlockKind, Id, Kind};

use super::super::RepairOptions;
use super::super::edit::{NewUser, made_uuid, uuid};
use super::super::second_copies::ResultCopies;
use super::torn::{Place, Restored, string_at};

const TORN: &str = "\n[The rest of this result is lost: its line in the session file was torn.]";

/// Restores the result of which `fragment`, on line `line`, is the beginning. The call must be in the conversation, and
/// must have no other result.
pub(super) fn restore(
    session: &Session,
    options: &RepairOptions,
    line: LineIx,
    fragment: &[u8],
) -> Option<Restored> {
    let torn = TornResult::read(fragment)?;
    let call = session.calls().find(Id::of(torn.id.as_bytes()))?;
    // Recorded requests hold results, too.
    let is_answer = |at: &At| session.entry(at.entry).kind == Kind::User;
    let is_answered = call.results.iter().any(is_answer);
    let made = call.uses.first().filter(|_| !is_answered)?;
    if session.block(made.block).kind != BlockKind::ToolUse {
        return None;
    }
    let (content, source) = content(session, options, &torn)?;
    let place = Place::of(session, line)?;
    let source_uuid = uuid(session, made.entry)?;
    let known = |parent: &String| session.find(Id::of(parent.as_bytes())).is_some();
    let parent = torn
        .parent
        .filter(known)
        .unwrap_or_else(|| source_uuid.clone());
    let own = torn.uuid.or_else(|| place.named_by_child(session));
    let block = format!(
        r#"[{{"tool_use_id":{},"type":"tool_result","content":{content}{}}}]"#,
        encode(&torn.id),
        if torn.is_error {
            r#","is_error":true"#
        } else {
            ""
        }
    );
    let line = NewUser {
        like: place.like,
        parent: Some(&parent),
        uuid: &own.unwrap_or_else(|| made_uuid(&["result", &torn.id])),
        content: &block,
        time: place.time,
        more: &format!(r#","sourceToolAssistantUUID":{}"#, encode(&source_uuid)),
    }
    .line(session);
    Some(Restored {
        kind: "result",
        line,
        words: torn.id,
        source,
    })
}

/// Returns the content of the result as JSON, and where it comes from: the best copy that there is.
fn content(
    session: &Session,
    options: &RepairOptions,
    torn: &TornResult,
) -> Option<(String, &'static str)> {
    if let Some(whole) = &torn.content {
        return Some((whole.clone(), "the readable part of the line"));
    }
    if let Some(words) = &torn.client_copy {
        return Some((encode(words), "Claude Code's own copy on the same line"));
    }
    let copies = ResultCopies::of(session, options);
    let copy = copies.find(session, &torn.id);
    if let Some(copy) = copy.filter(|copy| copy.whole || copy.words.len() > torn.beginning.len()) {
        let rest = if copy.whole { "" } else { TORN };
        return Some((encode(&(copy.words + rest)), copy.source));
    }
    let is_empty = torn.beginning.trim().is_empty();
    (!is_empty).then(|| {
        let words = torn.beginning.clone() + TORN;
        (encode(&words), "the readable part of the line")
    })
}

/// What can be read of a torn result.
#[derive(Debug, PartialEq, Eq)]
struct TornResult {
    parent: Option<String>,
    id: String,
    /// The content as JSON, if all of it is there.
    content: Option<String>,
    /// The content up to where it is torn.
    beginning: String,
    is_error: bool,
    /// The client's second copy of the output, if all of it is there.
    client_copy: Option<String>,
    uuid: Option<String>,
}

impl TornResult {
    fn read(fragment: &[u8]) -> Option<Self> {
        let rest = fragment.strip_prefix(b"{\"parentUuid\":")?;
        let parent = string_at(rest).map(|(parent, _)| parent);
        memmem::find(fragment, b"\"type\":\"user\"")?;
        let block = after(fragment, b"\"content\":[{")?;
        let (id, _) =
            string_at(after(block, b"\"tool_use_id\":")?).filter(|(_, rest)| !rest.is_empty())?;
        let value = after(block, b"\"content\":").unwrap_or_default();
        let whole = Cursor::new(value)
            .skip()
            .ok()
            .filter(|s| s.end as usize != value.len());
        let behind = whole.map_or(value, |span| &value[span.end as usize..]);
        let is_error = behind.starts_with(b",\"is_error\":true");
        if whole.is_some() && !is_last_block(behind) {
            return None;
        }
        let text = |span: crate::json::Span| String::from_utf8(span.of(value).to_vec()).ok();
        let beginning = string_at(value).map_or_else(String::new, |(words, _)| words);
        let control = beginning.find(|c: char| c.is_control() && !c.is_whitespace());
        Some(Self {
            parent,
            id,
            content: whole.and_then(text),
            beginning: beginning[..control.unwrap_or(beginning.len())].to_owned(),
            is_error,
            client_copy: client_copy(fragment),
            uuid: after(behind, b"\"uuid\":").and_then(|rest| {
                let (uuid, rest) = string_at(rest)?;
                Some(uuid).filter(|_| !rest.is_empty())
            }),
        })
    }
}

/// Returns whether no other block follows a value, as far as can be seen.
fn is_last_block(behind: &[u8]) -> bool {
    let end = memchr::memchr(b'}', behind);
    end.is_none_or(|end| !behind[end + 1..].starts_with(b","))
}

/// Returns the words of `toolUseResult`, if all of it is there.
fn client_copy(fragment: &[u8]) -> Option<String> {
    let start = memmem::rfind(fragment, b"\"toolUseResult\":")? + 16;
    let value = Cursor::new(&fragment[start..])
        .skip()
        .ok()?
        .of(&fragment[start..]);
    if value.len() == fragment.len() - start {
        // Nothing follows, so a string or an object may still be torn; only a closed one counts.
        let last = value.last();
        last.filter(|b| matches!(b, b'"' | b'}'))?;
    }
    let words = |path: &[&str]| {
        let span = lookup(value, path)?;
        let text = span.of(value);
        text.starts_with(b"\"").then(|| decode(text).into_owned())
    };
    let words = match value.first()? {
        b'"' => Some(decode(value).into_owned()),
        b'{' => words(&["stdout"])
            .or_else(|| words(&["file", "content"]))
            .or_else(|| words(&["content"])),
        _ => None,
    };
    words.filter(|words| !words.trim().is_empty())
}

fn after<'t>(text: &'t [u8], words: &[u8]) -> Option<&'t [u8]> {
    memmem::find(text, words).map(|at| &text[at + words.len()..])
}
