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
        let mut out = Self::default();
        let mut titles = Titles::default();
        for e in session.entries() {
            out.take(session, e, &mut titles);
        }
        out.title = titles.best();
        out
    }

    fn take(&mut self, session: &Session, e: &Entry, titles: &mut Titles) {
        self.has_messages |= e.is_message() && e.uuid.is_some();
        let keep = |slot: &mut Option<String>, field: &str| {
            if let Some(value) = session.string(e, &[field]) {
                *slot = Some(value);
            }
        };
        match e.kind {
            Kind::CustomTitle => keep(&mut titles.custom, "customTitle"),
            Kind::AiTitle => keep(&mut titles.ai, "aiTitle"),
            Kind::Summary => keep(&mut titles.summary, "summary"),
            Kind::User | Kind::Assistant => {
                if self.cwd.is_none() {
                    keep(&mut self.cwd, "cwd");
                }
                keep(&mut self.version, "version");
                keep(&mut self.branch, "gitBranch");
            }
            _ => {}
        }
        if self.first_prompt.is_none() && e.prompt == PromptKind::Words && !e.flags.sidechain() {
            self.first_prompt = prompt_words(session, e);
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
    fn best(self) -> Option<String> {
        [self.custom, self.ai, self.summary]
            .into_iter()
            .flatten()
            .find(|t| !t.trim().is_empty())
    }
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
