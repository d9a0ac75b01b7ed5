//! Finds the words of lost records where the client writes them a second time.

use rustc_hash::FxHashMap;

use crate::json::{Span, decode, elements, lookup};
use crate::session::Session;
use crate::transcript::{Entry, Id, Kind};

use super::RepairOptions;

/// Words and where they were found.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct SecondCopy {
    /// The words.
    pub(super) words: String,
    /// The place, for people.
    pub(super) source: &'static str,
    /// Whether these are all words of the lost record.
    pub(super) whole: bool,
}

/// What a subagent was asked, and what it answered at last.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SubagentAnswer {
    /// The prompt, as the call that started it has it.
    pub prompt: String,
    /// The last answer.
    pub words: String,
}

impl SubagentAnswer {
    /// Reads a subagent's transcript. Returns `None` if it did not end with an answer.
    pub fn of(transcript: &Session) -> Option<Self> {
        let messages = transcript.entries().iter().filter(|e| e.is_message());
        let mut messages = messages.filter(|e| e.kind == Kind::User || e.kind == Kind::Assistant);
        let first = messages.next()?;
        let last = messages.next_back().filter(|e| e.kind == Kind::Assistant)?;
        let text = transcript.text(first);
        let prompt = words_of(lookup(text, &["message", "content"])?.of(text))?;
        let words = last_words(transcript.text(last))?;
        Some(Self { prompt, words })
    }
}

/// A torn prompt must show at least this many bytes before a copy is taken for the same prompt.
const LEAST: usize = 4;

/// What ends a text that a client has cut.
pub(super) const CUT: char = '…';

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
        // Clients note only the beginning of a long prompt.
        let whole = e.kind != Kind::LastPrompt || !words.ends_with(CUT);
        Some(SecondCopy {
            words,
            source,
            whole,
        })
    });
    let typed = options.typed.iter().map(|words| SecondCopy {
        words: words.clone(),
        source: "the history of typed prompts",
        whole: true,
    });
    let sent = sent_blocks(session).filter_map(|(text, block)| {
        let block = block.of(text);
        (value(block, "type")? == b"\"text\"").then_some(())?;
        Some(SecondCopy {
            words: words_of(value(block, "text")?)?,
            source: SENT,
            whole: true,
        })
    });
    noted
        .chain(typed)
        .chain(sent)
        .filter(|copy| copy.words.starts_with(beginning))
        .max_by_key(|copy| (copy.whole, copy.words.len()))
}

/// Where the client keeps what it sent to the model.
const SENT: &str = "the record of a request";

/// The results of calls that are recorded a second time.
#[derive(Debug, Default)]
pub(super) struct ResultCopies<'o> {
    by_call: FxHashMap<String, SecondCopy>,
    subagents: &'o [SubagentAnswer],
}

impl<'o> ResultCopies<'o> {
    /// Gathers what progress entries and recorded requests have.
    pub(super) fn of(session: &Session, options: &'o RepairOptions) -> Self {
        let progress = session
            .entries()
            .iter()
            .filter(|e| e.kind == Kind::Progress);
        let mut by_call = FxHashMap::default();
        for e in progress {
            if let (Some(id), Some(words)) =
                (session.string(e, &["parentToolUseID"]), output(session, e))
            {
                let copy = SecondCopy {
                    words,
                    source: "the call's progress",
                    whole: false,
                };
                by_call.insert(id, copy);
            }
        }
        for (text, block) in sent_blocks(session) {
            let block = block.of(text);
            let id = value(block, "tool_use_id").map(|id| decode(id).into_owned());
            let words = value(block, "content").and_then(words_of);
            if let (Some(id), Some(words)) = (id, words) {
                let copy = SecondCopy {
                    words,
                    source: SENT,
                    whole: true,
                };
                by_call.insert(id, copy);
            }
        }
        Self {
            by_call,
            subagents: &options.subagents,
        }
    }

    /// Returns the best copy of a call's result: what was sent, then what its subagent answered, then its progress.
    pub(super) fn find(&self, session: &Session, id: &str) -> Option<SecondCopy> {
        let known = self.by_call.get(id).cloned();
        let answered = || self.answer(session, id);
        match known {
            Some(copy) if copy.whole => Some(copy),
            known => answered().or(known),
        }
    }

    /// Returns what the subagent answered that a call started. Two subagents with the same prompt cannot be told apart.
    fn answer(&self, session: &Session, id: &str) -> Option<SecondCopy> {
        if self.subagents.is_empty() {
            return None;
        }
        let made = session.calls().find(Id::of(id.as_bytes()))?.uses.first()?;
        let text = session.text(session.entry(made.entry));
        let call = session.block(made.block).span.of(text);
        let prompt = words_of(lookup(call, &["input", "prompt"])?.of(call))?;
        let mut fitting = self.subagents.iter().filter(|a| a.prompt == prompt);
        let answer = fitting.next().filter(|_| fitting.next().is_none())?;
        Some(SecondCopy {
            words: answer.words.clone(),
            source: "the subagent's transcript",
            whole: true,
        })
    }
}

/// Returns the blocks of the messages that recorded requests hold, each with the text of its entry.
fn sent_blocks(session: &Session) -> impl Iterator<Item = (&[u8], Span)> {
    let blobs = session.entries().iter();
    let blobs = blobs.filter(|e| e.kind == Kind::ApiRequestBlob);
    blobs.flat_map(|e| {
        let text = session.text(e);
        let list = lookup(text, &["message", "content"]).unwrap_or_default();
        let blocks = elements(list.of(text)).unwrap_or_default();
        blocks
            .into_iter()
            .map(move |block| (text, block.shift(list.start)))
    })
}

fn value<'t>(block: &'t [u8], key: &str) -> Option<&'t [u8]> {
    lookup(block, &[key]).map(|span| span.of(block))
}

/// Returns the words of a string, or of the text blocks in a list.
fn words_of(content: &[u8]) -> Option<String> {
    if content.starts_with(b"\"") {
        return Some(decode(content).into_owned()).filter(|words| !words.is_empty());
    }
    let blocks = elements(content).ok()?;
    let texts = blocks.iter().filter_map(|block| {
        let text = value(block.of(content), "text")?;
        Some(decode(text).into_owned())
    });
    let texts: Vec<String> = texts.collect();
    (!texts.is_empty()).then(|| texts.join("\n"))
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
    last_words(message)
}

/// Returns the last text of an answer.
fn last_words(answer: &[u8]) -> Option<String> {
    let list = lookup(answer, &["message", "content"])?.of(answer);
    let blocks = elements(list).ok()?;
    let texts = blocks.iter().rev();
    let mut texts = texts.filter_map(|block| value(block.of(list), "text"));
    texts.next().map(|text| decode(text).into_owned())
}
