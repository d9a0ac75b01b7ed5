//! Clients that would go on from different entries.

use crate::session::Session;
use crate::transcript::{Entry, EntryHead, Kind};

use super::super::super::check::{Check, Gate, Survey};
use super::super::super::finding::{Finding, Severity};
use super::super::super::version::Versions;

pub(crate) static CHECK: Check = Check {
    name: "wrong-leaf",
    family: "chain",
    severity: Severity::LosesHistory,
    symptom: "resume goes on from an old or foreign message",
    suffers: Versions::All,
    healed_by: "",
    repair: Some("times and the last prompt's note are made to agree on where the conversation ends"),
    gate: Gate::Judged,
    run,
};

/// Whether a client that goes by time may take an entry as the end.
pub(crate) fn can_lead(tag: EntryHead) -> bool {
    tag.is_chained()
        && !tag.flags.sidechain()
        && matches!(
            tag.kind,
            Kind::User | Kind::Assistant | Kind::System | Kind::Attachment
        )
}

/// The entry that clients before 2.1.156 go up from: the newest, of equals the first in the file.
pub(crate) fn newest(session: &Session) -> Option<usize> {
    let candidates = session
        .entries()
        .iter()
        .enumerate()
        .filter(|(i, _)| can_lead(session.heads()[*i]));
    let best = candidates.fold(None, |best: Option<(usize, &Entry)>, (i, e)| match best {
        Some((_, b)) if b.time >= e.time => best,
        _ => Some((i, e)),
    });
    best.map(|(i, _)| i)
}

/// The entry at which older clients would end, where that is not where newer ones do: these take
/// the last in the file, or what the last prompt's note names.
pub(crate) fn entry(session: &Session) -> Option<usize> {
    let leaf = session.graph().leaf()?;
    let newest = newest(session)?;
    (!session.graph().descends(newest, leaf) && !is_tail_of(session, newest, leaf))
        .then_some(newest)
}

/// Whether the newest entry is of the leaf's own message, shares its time, or hangs beside it.
fn is_tail_of(session: &Session, newest: usize, leaf: usize) -> bool {
    let (a, b) = (&session.entries()[newest], &session.entries()[leaf]);
    a.message_id.is_some() && a.message_id == b.message_id || a.time == b.time
}

fn run(survey: &Survey<'_>, findings: &mut Vec<Finding>) {
    if super::super::compaction::stale_last_prompt::entry(survey.session).is_some() {
        return;
    }
    if let Some(i) = entry(survey.session) {
        findings.push(survey.at(&CHECK, i, "the newest by its time, but not where the conversation ends in the file: older and newer clients go on from different messages"));
    }
}
