//! Parents, leaves and uuids.

use rustc_hash::FxHashSet;

use crate::session::{Entry, Id, Kind, Session};

use super::super::finding::{Finding, Severity};
use super::at;

pub(super) fn check(session: &Session, findings: &mut Vec<Finding>) {
    dangling(session, findings);
    duplicates(session, findings);
    cycles(session, findings);
    leaves(session, findings);
}

fn dangling(session: &Session, findings: &mut Vec<Finding>) {
    for (i, e) in session.entries().iter().enumerate() {
        if e.is_chained() && e.parent.is_some() && session.graph().parent(i).is_none() {
            findings.push(at(session, e.line, "dangling-parent", Severity::LosesHistory, "its parent is not in the file: clients before 2.1.156 show the model only what follows"));
        }
    }
}

fn duplicates(session: &Session, findings: &mut Vec<Finding>) {
    let mut seen: FxHashSet<Id> = FxHashSet::default();
    for e in session.entries().iter().filter(|e| e.is_chained()) {
        if !seen.insert(e.uuid) {
            findings.push(at(
                session,
                e.line,
                "duplicate-uuid",
                Severity::LosesHistory,
                "its uuid was used before: clients keep one of the two",
            ));
        }
    }
}

fn cycles(session: &Session, findings: &mut Vec<Finding>) {
    // 0 unseen, 1 under way, 2 done.
    let mut state = vec![0u8; session.entries().len()];
    for i in 0..state.len() {
        let mut trail = Vec::new();
        let mut at_entry = Some(i);
        while let Some(j) = at_entry {
            match state[j] {
                0 => {
                    state[j] = 1;
                    trail.push(j);
                    at_entry = session.graph().parent(j);
                }
                1 => {
                    let line = session.entries()[j].line;
                    findings.push(at(
                        session,
                        line,
                        "cycle",
                        Severity::StopsResume,
                        "it is its own ancestor",
                    ));
                    break;
                }
                _ => break,
            }
        }
        for j in trail {
            state[j] = 2;
        }
    }
}

/// Older clients (seen in 2.0.36, 2.0.76, 2.1.45) go up from the newest entry, newer ones from the
/// last in the file or what `last-prompt` names: the two must lead to one conversation.
fn leaves(session: &Session, findings: &mut Vec<Finding>) {
    let Some(leaf) = session.graph().leaf() else {
        return;
    };
    let candidates = session
        .entries()
        .iter()
        .enumerate()
        .filter(|(_, e)| can_lead(e));
    // The first of equals, as a stable sort has it.
    let newest = candidates.fold(None, |best: Option<(usize, &Entry)>, (i, e)| match best {
        Some((_, b)) if b.time >= e.time => best,
        _ => Some((i, e)),
    });
    let Some((newest, entry)) = newest else {
        return;
    };
    if !session.graph().descends(newest, leaf) && !is_tail_of(session, newest, leaf) {
        findings.push(at(session, entry.line, "wrong-leaf", Severity::LosesHistory, "it is the newest by its time but not where the conversation ends: clients up to 2.1.45 would go on from here"));
    }
}

fn can_lead(e: &Entry) -> bool {
    e.is_chained()
        && !e.flags.sidechain()
        && matches!(
            e.kind,
            Kind::User | Kind::Assistant | Kind::System | Kind::Attachment
        )
}

/// Whether the newest entry is of the leaf's own message, or beside the path at its end.
fn is_tail_of(session: &Session, newest: usize, leaf: usize) -> bool {
    let (a, b) = (&session.entries()[newest], &session.entries()[leaf]);
    a.message_id.is_some() && a.message_id == b.message_id || a.time == b.time
}
