//! What a trim needs to know about the calls of a session.

use memchr::memmem;

use crate::json::{decode, lookup};
use crate::ops::drop_tools::tool_name;
use crate::ops::stub::MARK;
use crate::session::{At, Call, Session};
use crate::transcript::{BlockKind, EntryIx, Id};

use super::protection::Protection;
use super::step::OutputKind;
use super::superseded::Superseded;

/// Outputs of more bytes than this are large.
const LARGE: usize = 6_000;

/// Outputs of fewer bytes than this are not worth a note.
const SMALL: usize = 400;

/// Reports of subagents and error texts of fewer bytes than this stay whole.
const SHORT_REPORT: usize = 1_500;

/// Results of edits and task tools of fewer bytes than this are not worth a note.
const SHORT_ROUTINE: usize = 160;

/// How an output begins if a person refused the call. The person's reason may follow.
const REFUSED: [&str; 3] = [
    "The user doesn't want to",
    "User rejected",
    "[Request interrupted by user",
];

/// How a reminder in an output begins that holds what a person typed meanwhile.
const TYPED: &str = "The user sent ";

/// What a call is for, as far as it matters for the harm of changing it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Role {
    /// The result holds words of a person: nothing of the call is changed.
    Person,
    /// A subagent's report, a skill, or an error text.
    Report,
    /// A change of a file.
    Edit,
    /// A change of a list of tasks.
    Tasks,
    /// Any other call.
    Other,
}

/// One call that may be changed.
#[derive(Clone)]
struct Fact {
    call: Id,
    id: String,
    role: Role,
    /// What can be done about its output first, if anything.
    output: Option<OutputKind>,
    /// Whether the call can be removed.
    removable: bool,
}

/// The calls that may be changed, oldest first.
pub(super) struct CallFacts(Vec<Fact>);

impl CallFacts {
    /// Returns the calls that the model is still shown in a session that was made from the one that was looked at.
    pub(super) fn shown_in(&self, session: &Session) -> Self {
        let is_shown = |at: &At| session.graph().is_shown(at.entry);
        let shown = self.0.iter().filter(|fact| {
            session.calls().find(fact.call).is_some_and(|call| {
                call.uses.first().is_some_and(is_shown) && call.results.last().is_some_and(is_shown)
            })
        });
        Self(shown.cloned().collect())
    }

    /// Looks at all calls that the model is shown and that are not protected.
    pub(super) fn of(session: &Session, protection: &Protection) -> Self {
        let superseded = Superseded::of(session);
        let unfinished = session.unfinished_turn();
        let facts = session.calls().iter().filter_map(|call| {
            let (made, answered) = (call.uses.first()?, call.results.last()?);
            let entry = session.entry(made.entry);
            let is_shown = |entry: EntryIx| session.graph().is_shown(entry);
            if protection.holds(call.id, entry.message_id)
                || !is_shown(made.entry)
                || !is_shown(answered.entry)
            {
                return None;
            }
            let name = tool_name(session, call);
            let role = role(session, call, &name)?;
            let turn = session.turns().of(session.graph(), made.entry);
            let inner = session.block(made.block).span.of(session.text(entry));
            Some(Fact {
                call: call.id,
                id: lookup(inner, &["id"]).map(|s| decode(s.of(inner)).into_owned())?,
                role,
                output: output_kind(session, call, role, &superseded),
                // The API wants the thinking of an unfinished turn, which is removed with a call.
                removable: unfinished.is_none() || turn != unfinished,
            })
        });
        Self(facts.filter(|fact| fact.role != Role::Person).collect())
    }

    /// Returns the calls whose output this can be done to, oldest first.
    pub(super) fn outputs(&self, kind: OutputKind) -> Vec<String> {
        let facts = self.0.iter().filter(|fact| fact.output == Some(kind));
        facts.map(|fact| fact.id.clone()).collect()
    }

    /// Returns the calls that can be removed, least harmful first.
    pub(super) fn removable(&self) -> Vec<String> {
        let mut facts: Vec<&Fact> = self.0.iter().filter(|fact| fact.removable).collect();
        facts.sort_by_key(|fact| match fact.role {
            Role::Other | Role::Tasks => 0,
            Role::Edit => 1,
            Role::Report | Role::Person => 2,
        });
        facts.iter().map(|fact| fact.id.clone()).collect()
    }
}

/// Returns what a call is for; `None` if its result cannot be read.
fn role(session: &Session, call: &Call, name: &str) -> Option<Role> {
    Some(match name {
        "AskUserQuestion" | "ExitPlanMode" => Role::Person,
        _ if holds_words(session, call)? => Role::Person,
        "Task" | "Agent" | "Skill" => Role::Report,
        _ if call.failed(session) => Role::Report,
        "Edit" | "MultiEdit" | "Write" | "NotebookEdit" => Role::Edit,
        "TodoWrite" | "TaskCreate" | "TaskUpdate" => Role::Tasks,
        _ => Role::Other,
    })
}

/// Whether the output holds words of a person: the call was refused, or a message came in meanwhile.
fn holds_words(session: &Session, call: &Call) -> Option<bool> {
    let content = content(session, call)?;
    let opening = |words: &str| {
        let start = &content[..content.len().min(words.len() + 80)];
        memmem::find(start, words.as_bytes()).is_some()
    };
    let refused = call.failed(session) && REFUSED.iter().any(|words| opening(words));
    let mut typed = memmem::find_iter(content, TYPED);
    let in_reminder = |at: usize| {
        content[..at]
            .trim_ascii_end()
            .ends_with(b"<system-reminder>\\n")
    };
    Some(refused || typed.any(in_reminder))
}

/// Returns the output of a call, as JSON; empty if there is none.
fn content<'a>(session: &'a Session, call: &Call) -> Option<&'a [u8]> {
    let answered = call.results.last()?;
    let text = session.text(session.entry(answered.entry));
    let block = session.block(answered.block);
    Some(block.content(text).map_or(&[], |span| span.of(text)))
}

/// Returns what can be done about an output first.
fn output_kind(
    session: &Session,
    call: &Call,
    role: Role,
    superseded: &Superseded,
) -> Option<OutputKind> {
    let block = session.block(call.results.last()?.block);
    let content = content(session, call)?;
    let size = content.len();
    let noted = memmem::find(content, MARK.as_bytes()).is_some();
    if block.kind != BlockKind::ToolResult || noted {
        return None;
    }
    let worth = |kind, least| (size >= least).then_some(kind);
    match role {
        Role::Person => None,
        Role::Edit | Role::Tasks => worth(OutputKind::Routine, SHORT_ROUTINE),
        _ if superseded.reads.contains(&call.id) => worth(OutputKind::StaleRead, SMALL),
        _ if superseded.runs.contains(&call.id) => worth(OutputKind::Repeated, SMALL),
        Role::Report => worth(OutputKind::Report, SHORT_REPORT),
        Role::Other if size > LARGE && !block.may_hold_media() => Some(OutputKind::Large),
        Role::Other => worth(OutputKind::Other, SMALL),
    }
}
