//! Finds the words of lost records where the client writes them a second time.

use rustc_hash::FxHashMap;

use crate::json::{decode, elements, lookup};
use crate::session::Session;
use crate::transcript::{Entry, Kind};

use super::RepairOptions;

/// Words and where they were found.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct SecondCopy {
    /// The words.
    pub(super) words: String,
    /// The place, for people.
    pub(super) source: &'static str,
}

/// A torn prompt must show at least this many bytes before a copy is taken for the same prompt.
const LEAST: usize = 4;

/// Returns the longest second copy of a prompt that begins with `beginning`.
pub(super) fn prompt(
    session: &Session,
    options: &RepairOptions,
    beginning: &str,
) -> Option<SecondCopy> {
    if beginning.trim().len() < LEAST {
        return None;
    }
    let noted = session.entries().iter().filter_map(|e| {
        let (key, source) = match e.kind {
            Kind::QueueOperation => ("content", "the queue of typed prompts"),
            Kind::LastPrompt => ("lastPrompt", "the note of the last prompt"),
            _ => return None,
        };
        let words = session.string(e, &[key])?;
        Some(SecondCopy { words, source })
    });
    let typed = options.typed.iter().map(|words| SecondCopy {
        words: words.clone(),
        source: "the history of typed prompts",
    });
    noted
        .chain(typed)
        .filter(|copy| copy.words.starts_with(beginning))
        .max_by_key(|copy| copy.words.len())
}

/// Returns the output of each call that progress entries recorded last, by the id of the call.
pub(super) fn outputs(session: &Session) -> FxHashMap<String, String> {
    let progress = session
        .entries()
        .iter()
        .filter(|e| e.kind == Kind::Progress);
    let mut outputs = FxHashMap::default();
    for e in progress {
        if let (Some(id), Some(words)) =
            (session.string(e, &["parentToolUseID"]), output(session, e))
        {
            outputs.insert(id, words);
        }
    }
    outputs
}

/// Returns what a progress entry shows: the output of a command so far, or the last words of a subagent.
fn output(session: &Session, e: &Entry) -> Option<String> {
    let shown = session
        .string(e, &["data", "fullOutput"])
        .filter(|words| !words.is_empty())
        .or_else(|| session.string(e, &["data", "output"]))
        .or_else(|| agent_words(session.text(e)));
    shown.filter(|words| !words.trim().is_empty())
}

fn agent_words(text: &[u8]) -> Option<String> {
    let message = lookup(text, &["data", "message"])?.of(text);
    if lookup(message, &["type"])?.of(message) != b"\"assistant\"" {
        return None;
    }
    let list = lookup(message, &["message", "content"])?.of(message);
    let blocks = elements(list).ok()?;
    blocks.iter().rev().find_map(|block| {
        let block = block.of(list);
        lookup(block, &["text"]).map(|s| decode(s.of(block)).into_owned())
    })
}
