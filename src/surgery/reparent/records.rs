//! Removes records of a leaf that would decide again once what came after them is removed.
//!
//! Clients go by the last `last-prompt` of the file, and by one marked `explicit` only if no entry of the graph follows it.
//! An earlier record, which names a place that the conversation has left, must not become that one.

use crate::json::lookup;
use crate::session::{Session, Standing};
use crate::transcript::{Entry, Kind};

use super::super::change_kind::ChangeKind;
use super::super::plan::Plan;

/// Removes the records that the plan would bring back to life.
pub(super) fn drop_revived(session: &Session, plan: &mut Plan) {
    let (heads, entries) = (session.heads(), session.entries());
    let is_last = heads.iter().rposition(|head| head.kind == Kind::LastPrompt);
    let mut at_end = true;
    for i in session.numbers().rev() {
        let (head, e) = (heads[i], &entries[i]);
        if plan.drops(e.line) {
            continue;
        }
        at_end &= !head.is_chained();
        if head.kind != Kind::LastPrompt {
            continue;
        }
        let is_revived = names_branch(session, e) || at_end && is_explicit(session, e);
        if is_last == Some(i.index()) || !is_revived {
            return;
        }
        plan.drop_entry(session, e, ChangeKind::LastPrompt);
    }
}

fn names_branch(session: &Session, e: &Entry) -> bool {
    let named = e.refers_to.some().and_then(|id| session.find(id));
    named.is_some_and(|i| matches!(session.graph().place(i), Standing::Branch(_)))
}

fn is_explicit(session: &Session, e: &Entry) -> bool {
    let text = session.text(e);
    lookup(text, &["explicit"]).is_some_and(|value| value.of(text) == b"true")
}
