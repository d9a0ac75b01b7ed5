//! Where a session stands, as its last entries show it.

use serde::Serialize;

use super::call_summary::CallSummary;
use super::session_text::SessionText;
use crate::session::Session;
use crate::transcript::{BlockKind, Kind, PromptKind};

/// Who has to go on.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Next {
    /// The model: a prompt or a result came last.
    Model,
    /// A call: it has no result yet.
    Call,
    /// A person: the model has answered.
    #[default]
    Person,
}

/// What a session is doing.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum State {
    /// The model or a call is at work.
    Working,
    /// A call waits for a person's yes.
    Approval,
    /// The answer is there, and the client waits for a prompt.
    Input,
    /// No client has it open.
    Idle,
}

impl State {
    /// Its name.
    pub fn name(self) -> &'static str {
        match self {
            State::Working => "working",
            State::Approval => "approval",
            State::Input => "input",
            State::Idle => "idle",
        }
    }
}

/// How a session ends.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Status {
    /// Who has to go on.
    pub next: Next,
    /// The call that has no result.
    pub pending: Option<CallSummary>,
    /// The model that answered last.
    pub model: Option<SessionText>,
}

impl Status {
    /// Looks at the end of a session.
    pub fn of(session: &Session) -> Self {
        let (entries, path) = (session.entries(), session.graph().path());
        let recent = || path.iter().rev().map(|&i| &entries[i]);
        let mut answers = recent().filter(|e| e.kind == Kind::Assistant && !e.flags.synthetic());
        let model = answers
            .next()
            .and_then(|e| session.string(e, &["message", "model"]))
            .map(SessionText::from);
        let Some(leaf) = recent().find(|e| e.is_message()) else {
            return Self::default();
        };
        let open = session.blocks(leaf).iter().find(|b| {
            b.kind == BlockKind::ToolUse
                && session
                    .calls()
                    .find(b.tool)
                    .is_some_and(|c| c.results.is_empty())
        });
        let pending = open.map(|b| CallSummary::of(b.span.of(session.text(leaf))));
        let next = match leaf.kind {
            Kind::Assistant if pending.is_some() => Next::Call,
            Kind::User if leaf.prompt != PromptKind::Machine => Next::Model,
            _ => Next::Person,
        };
        Self {
            next,
            pending,
            model,
        }
    }

    /// What the session is doing. `open` says that a client has it, `busy` what the client itself says.
    pub fn state(&self, open: bool, busy: Option<bool>) -> State {
        match (open, self.next, busy) {
            (false, ..) => State::Idle,
            // A busy client with a call that has no result runs it; one that is not busy asks.
            (true, Next::Call, Some(true)) | (true, Next::Model, _) => State::Working,
            (true, Next::Call, _) => State::Approval,
            (true, Next::Person, _) => State::Input,
        }
    }
}
