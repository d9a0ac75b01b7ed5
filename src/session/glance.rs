//! A session in a few words.

use crate::jsonl::{decode, lookup};

use super::entry::{BlockKind, Entry, Kind};
use super::index::Session;
use super::prompt::PromptKind;

/// A session at a glance.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Glance {
    /// The folder in which it was held.
    pub cwd: Option<String>,
    /// Its title: given by hand, else by the model, else a summary.
    pub title: Option<String>,
    /// The first prompt.
    pub first_prompt: Option<String>,
    /// Whether it holds a conversation at all.
    pub has_messages: bool,
    /// The client that wrote last.
    pub version: Option<String>,
    /// The branch that was checked out last.
    pub branch: Option<String>,
}

impl Glance {
    /// The title, else the first prompt, else a word that there is none.
    pub fn name(&self) -> &str {
        self.title
            .as_deref()
            .or(self.first_prompt.as_deref())
            .unwrap_or("(no prompt)")
    }

    /// Looks at a session, or at the pieces of one.
    pub fn of(session: &Session) -> Self {
        let entries = session.entries();
        let mut titles = Titles::default();
        for e in entries {
            titles.take(session, e);
        }
        let mut messages = entries
            .iter()
            .filter(|e| e.is_message() && e.uuid.is_some());
        let prompt = entries
            .iter()
            .find(|e| e.prompt == PromptKind::Words && !e.flags.sidechain());
        let first = messages.next();
        let last = messages.next_back().or(first);
        Self {
            cwd: first.and_then(|e| session.string(e, &["cwd"])),
            title: titles.best(),
            first_prompt: prompt.and_then(|e| prompt_words(session, e)),
            has_messages: first.is_some(),
            version: last.and_then(|e| session.string(e, &["version"])),
            branch: last.and_then(|e| session.string(e, &["gitBranch"])),
        }
    }
}

#[derive(Default)]
struct Titles {
    custom: Option<String>,
    ai: Option<String>,
    summary: Option<String>,
}

impl Titles {
    /// Takes a title, if the entry is one; the last of its kind wins.
    fn take(&mut self, session: &Session, e: &Entry) {
        let (slot, field) = match e.kind {
            Kind::CustomTitle => (&mut self.custom, "customTitle"),
            Kind::AiTitle => (&mut self.ai, "aiTitle"),
            // Many summaries at a file's head are of other sessions.
            Kind::Summary if names_own_entry(session, e) => (&mut self.summary, "summary"),
            _ => return,
        };
        if let Some(title) = session.string(e, &[field]) {
            *slot = Some(title);
        }
    }

    fn best(self) -> Option<String> {
        [self.custom, self.ai, self.summary]
            .into_iter()
            .flatten()
            .find(|t| !t.trim().is_empty())
    }
}

/// Whether what an entry names is in this file.
fn names_own_entry(session: &Session, e: &Entry) -> bool {
    e.names
        .some()
        .is_some_and(|id| session.graph().find(id).is_some())
}

/// The words of a prompt; of several texts, the first that is not the editor's.
pub fn prompt_words(session: &Session, e: &Entry) -> Option<String> {
    let text = session.text(e);
    if e.flags.string_content() {
        return Some(decode(e.content.of(text)).into_owned());
    }
    let texts: Vec<String> = session
        .blocks(e)
        .iter()
        .filter(|b| b.kind == BlockKind::Text)
        .filter_map(|b| {
            let inner = b.span.of(text);
            lookup(inner, &["text"]).map(|s| decode(s.of(inner)).into_owned())
        })
        .collect();
    let own = texts.iter().find(|t| {
        !t.trim_start().starts_with("<ide_") && !t.trim_start().starts_with("<system-reminder>")
    });
    own.or(texts.first()).cloned()
}
