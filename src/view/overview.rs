//! A session in a few words.

use crate::json::{decode, lookup};

use crate::session::Session;
use crate::transcript::{BlockKind, Entry, Kind, PromptKind};

use super::session_text::SessionText;

/// A session at a glance.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Overview {
    /// The folder in which it was held.
    pub cwd: Option<String>,
    /// Its title: given by hand, else by the model, else a summary.
    pub title: Option<SessionText>,
    /// The first prompt.
    pub first_prompt: Option<SessionText>,
    /// Whether it holds a conversation at all.
    pub has_messages: bool,
    /// The client that wrote last.
    pub version: Option<SessionText>,
    /// The branch that was checked out last.
    pub branch: Option<SessionText>,
}

impl Overview {
    /// The title, else the first prompt, else a word that there is none.
    pub fn name(&self) -> SessionText {
        if let Some(title) = &self.title {
            return title.clone();
        }
        match &self.first_prompt {
            Some(prompt) => plan_heading(prompt.raw()).map_or_else(|| prompt.clone(), Into::into),
            None => "(no prompt)".into(),
        }
    }

    /// Looks at a session, or at the pieces of one.
    pub fn of(session: &Session) -> Self {
        let mut titles = Titles::default();
        let kinds = [Kind::CustomTitle, Kind::AiTitle, Kind::Summary];
        if kinds.into_iter().any(|kind| session.may_have(kind)) {
            for e in session.entries() {
                titles.take(session, e);
            }
        }
        let messages = || session.entries().iter().filter(|e| e.is_message());
        let last = |field: &str| messages().rev().find_map(|e| session.string(e, &[field]));
        let first_prompt = |kind: PromptKind| {
            messages()
                .filter(|e| e.prompt == kind && !e.flags.sidechain())
                .find_map(|e| prompt_text(session, e))
        };
        Self {
            cwd: messages().find_map(|e| session.string(e, &["cwd"])),
            title: titles.best().map(SessionText::from),
            first_prompt: first_prompt(PromptKind::Words)
                .or_else(|| first_prompt(PromptKind::Command).map(|w| prompt_as_typed(&w)))
                .map(SessionText::from),
            has_messages: messages().any(|e| e.uuid.is_some()),
            version: last("version").map(SessionText::from),
            branch: last("gitBranch").map(SessionText::from),
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
    e.refers_to
        .some()
        .is_some_and(|id| session.find(id).is_some())
}

/// The words of a prompt; of several texts, the first that is not the editor's.
pub fn prompt_text(session: &Session, e: &Entry) -> Option<String> {
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

/// Returns the heading of the plan that a prompt asks to carry out. Claude Code begins a session with such a prompt when a plan
/// is approved in a fresh context, so that all those sessions begin with the same words.
fn plan_heading(prompt: &str) -> Option<&str> {
    let plan = prompt
        .trim_start()
        .strip_prefix("Implement the following plan:")?;
    let heading = plan.lines().map(str::trim).find(|line| !line.is_empty())?;
    let heading = heading.strip_prefix("# ")?.trim();
    let heading = heading.strip_prefix("Plan:").unwrap_or(heading).trim();
    (!heading.is_empty()).then_some(heading)
}

/// A prompt as a person would say it: of a slash command its name and arguments, of a shell command the
/// command, of anything else the words themselves.
pub fn prompt_as_typed(words: &str) -> String {
    let between = |open: &str, close: &str| {
        let rest = &words[words.find(open)? + open.len()..];
        Some(rest[..rest.find(close)?].trim())
    };
    let head = words.trim_start();
    if head.starts_with("<command-name>") || head.starts_with("<command-message>") {
        let arguments = between("<command-args>", "</command-args>").unwrap_or_default();
        if let Some(name) = between("<command-name>", "</command-name>") {
            return format!("{name} {arguments}").trim_end().to_owned();
        }
    }
    if head.starts_with("<bash-input>")
        && let Some(command) = between("<bash-input>", "</bash-input>")
    {
        return format!("! {command}");
    }
    words.to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn plan_heading_names_a_session_that_carries_out_a_plan() {
        let prompt =
            "Implement the following plan:\n\n# Plan: Checkboxes for rows\n\n## Context\nWords";
        assert_eq!(plan_heading(prompt), Some("Checkboxes for rows"));
        let plain = "Implement the following plan:\n\n# Faster start\n";
        assert_eq!(plan_heading(plain), Some("Faster start"));
        for other in [
            "Implement the following plan:\n\nfirst this",
            "# Plan: x",
            "Implement the following plan:",
        ] {
            assert_eq!(plan_heading(other), None, "{other}");
        }
    }
}
