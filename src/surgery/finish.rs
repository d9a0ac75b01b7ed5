//! What every result needs at its end: a record that names the leaf, the title where the picker looks for it, and a true
//! record of the context size.

mod leaf;
mod title;

use crate::human::tokens;
use crate::json::{Edit, encode};
use crate::session::Session;
use crate::transcript::{Entry, Id, Kind};
use crate::window::{Overstated, lower_usage};

use super::change::Action;
use super::copy_names::CopyNames;
use super::move_paths::move_paths;
use super::plan::{InsertAt, Plan};
use super::refusal::Refusal;
use super::transform::{Detail, Transform};
use leaf::{adopt, lead_in_time, name_leaf};

pub(super) use leaf::leads_in_time;
pub use title::title_for;

/// Ends a transcript as clients of all versions need it.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Finish {
    /// A title to give it.
    pub title: Option<String>,
    /// Whether the leaf is named even if no `last-prompt` is left, because the original had one.
    pub name_leaf: bool,
    /// The leaf of the original. If the result has another leaf, that one must be the newest entry.
    pub leaf_was: Option<Id>,
    /// Whether the newest entry of the original was its leaf or followed it: then the result is like that too.
    pub led_in_time: bool,
    /// The last recorded context size, if it is larger than what is left.
    pub overstated: Option<Overstated>,
    /// The names of the copy that the result becomes, if it is one.
    pub copy: Option<CopyNames>,
}

impl Finish {
    /// Whether the result gets something even if no transform changes the session.
    pub(super) fn is_asked_for(&self) -> bool {
        self.title.is_some() || self.copy.is_some()
    }
}

impl Transform for Finish {
    fn name(&self) -> &'static str {
        "finish"
    }

    fn plan(&self, session: &Session, _: Detail) -> Result<Plan, Refusal> {
        let mut plan = Plan::default();
        drop_offsets(session, &mut plan);
        let id = session_id(session);
        let leaf = session.graph().leaf();
        if leaf.map(|i| session.entry(i).uuid) != self.leaf_was {
            let adopted = adopt(session, &mut plan);
            lead_in_time(session, &adopted, &mut plan);
        } else if self.led_in_time {
            lead_in_time(session, &[], &mut plan);
        }
        name_leaf(session, &id, self.name_leaf, &mut plan);
        if let Some(overstated) = self.overstated {
            restate(session, overstated, &mut plan);
        }
        if let Some(title) = &self.title {
            let line = format!(
                r#"{{"type":"custom-title","customTitle":{},"sessionId":{}}}"#,
                encode(title),
                encode(&id)
            );
            plan.note_insert("title", line.len() + 1, 0, title.clone());
            plan.insert_line(InsertAt::End, line);
        }
        if let Some(names) = &self.copy {
            move_paths(session, names, &mut plan);
        }
        Ok(plan)
    }
}

/// Returns the session id as most entries spell it.
pub(crate) fn session_id(session: &Session) -> String {
    let id = session.session_id();
    session
        .entries()
        .iter()
        .find(|e| e.session.is_some() && Some(e.session) == id)
        .and_then(|e| session.string(e, &["sessionId"]))
        .unwrap_or_default()
}

/// Removes lines that vouch for byte offsets into the transcript: the result has other offsets.
fn drop_offsets(session: &Session, plan: &mut Plan) {
    if !session.may_have(Kind::ResumeHeadVouch) {
        return;
    }
    let vouch = |e: &&Entry| e.kind == Kind::ResumeHeadVouch;
    for e in session.entries().iter().filter(vouch) {
        plan.drop_line(e.line);
        plan.note(
            session,
            e,
            Action::Drop,
            "offsets",
            -(session.text(e).len() as i64 + 1),
            0,
            "",
        );
    }
}

/// Lowers the usage that the last answer records to what its request would take now.
///
/// Clients add it to their estimate of what follows, and compact when the sum comes near the limit of the context window.
/// With the old numbers they would summarise, at the first prompt, what was just made to fit. From earlier answers they
/// only read the cost, so these keep their numbers.
fn restate(session: &Session, overstated: Overstated, plan: &mut Plan) {
    let first = session.entry(overstated.entry);
    let of_answer = |e: &Entry| e.message_id.is_some() && e.message_id == first.message_id;
    let all = session.heads().iter().zip(session.entries());
    // No others have records.
    let answers = all.filter(|(tag, _)| tag.kind == Kind::Assistant);
    let own = answers.filter(|(_, e)| e.line == first.line || of_answer(e));
    for (_, e) in own {
        let edits = lower_usage(session, e, &overstated);
        if !edits.is_empty() {
            let grown = |e: &Edit| e.with.len() as i64 - e.span.len() as i64;
            let bytes = edits.iter().map(grown).sum();
            plan.note(session, e, Action::Edit, "usage", bytes, 0, "");
            plan.edit_line(e.line, edits);
        }
    }
    plan.warnings.push(format!(
        "the recorded context size is lowered to ~{}, so that Claude Code does not compact at once",
        tokens(overstated.window)
    ));
}
