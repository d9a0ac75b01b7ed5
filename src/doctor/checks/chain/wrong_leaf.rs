//! Finds sessions that different clients continue from different messages.

use crate::session::Session;
use crate::transcript::{Entry, EntryHead, EntryIx, Kind, PromptKind};

use super::super::super::check::{Check, Gate, Survey};
use super::super::super::finding::{Finding, Severity};
use super::super::super::version::Versions;

pub(crate) static CHECK: Check = Check {
    name: "wrong-leaf",
    family: "chain",
    finds: "sessions that different clients continue from different messages",
    severity: Severity::LosesHistory,
    symptom: "resume continues from an old or unrelated message",
    suffers: Versions::All,
    healed_by: "",
    repair: Some("times and the `last-prompt` are changed so that all versions find the same end"),
    gate: Gate::Judged,
    run,
};

/// Returns whether a client that goes by time may take an entry as the end.
pub(crate) fn can_lead(head: EntryHead) -> bool {
    head.is_chained()
        && !head.flags.sidechain()
        && matches!(
            head.kind,
            Kind::User | Kind::Assistant | Kind::System | Kind::Attachment
        )
}

/// Returns the entry at which clients before 2.1.156 end: the newest, and of equally new ones the first
/// in the file.
pub(crate) fn newest(session: &Session) -> Option<EntryIx> {
    let candidates = session
        .numbered()
        .filter(|(i, _)| can_lead(session.heads()[*i]));
    let best = candidates.fold(None, |best: Option<(EntryIx, &Entry)>, (i, e)| match best {
        Some((_, b)) if b.time >= e.time => best,
        _ => Some((i, e)),
    });
    best.map(|(i, _)| i)
}

/// Returns the entry at which older clients end, if newer ones end elsewhere and the two conversations
/// differ. Newer clients take the last entry of the file, or the one that the last `last-prompt` names.
pub(crate) fn entry(session: &Session) -> Option<EntryIx> {
    let leaf = session.graph().leaf()?;
    let newest = newest(session)?;
    let agree = session.graph().descends(newest, leaf)
        || is_tail_of(session, newest, leaf)
        || last_message(session, newest) == last_message(session, leaf)
        || follows_parallel_results(session, newest, leaf);
    (!agree).then_some(newest)
}

/// Returns whether the newest entry is of the leaf's own message or has the same time.
fn is_tail_of(session: &Session, newest: EntryIx, leaf: EntryIx) -> bool {
    let (a, b) = (session.entry(newest), session.entry(leaf));
    a.message_id.is_some() && a.message_id == b.message_id || a.time == b.time
}

/// Returns the last message of a person or the model at or above an entry. Echoes of commands such as
/// `/exit` are passed over: nothing is lost if a client does not show them.
fn last_message(session: &Session, entry: EntryIx) -> Option<EntryIx> {
    ancestors(session, entry).find(|&i| {
        let e = session.entry(i);
        let spoken = !e.flags.meta() && matches!(e.prompt, PromptKind::Words | PromptKind::None);
        e.is_message() && spoken
    })
}

/// Returns whether the leaf is one of several parallel results and the newest entry follows another of
/// them. A `last-prompt` may name any of the results, and clients still show what follows.
fn follows_parallel_results(session: &Session, newest: EntryIx, leaf: EntryIx) -> bool {
    let entries = session.entries();
    let results = session.blocks(&entries[leaf]).iter();
    let made = results
        .filter(|b| b.kind.is_result())
        .filter_map(|b| session.calls().of(b))
        .find_map(|call| call.uses.first());
    let message = made.and_then(|made| entries[made.entry].message_id.some());
    message.is_some_and(|id| ancestors(session, newest).any(|i| entries[i].message_id == id))
}

/// Returns an entry and its ancestors. Ends where a chain closes into a cycle.
fn ancestors(session: &Session, entry: EntryIx) -> impl Iterator<Item = EntryIx> + '_ {
    let up = std::iter::successors(Some(entry), |&i| session.graph().parent(i));
    up.take(session.entries().len())
}

fn run(survey: &Survey<'_>, findings: &mut Vec<Finding>) {
    if super::super::compaction::stale_last_prompt::entry(survey.session).is_some() {
        return;
    }
    if let Some(i) = entry(survey.session) {
        findings.push(survey.at(&CHECK, i, "is the newest message, but not on the path to the last entry of the file: older and newer versions of Claude Code continue from different messages"));
    }
}
