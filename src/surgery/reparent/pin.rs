//! Keeps the conversation where it ends when its last entries are removed.
//!
//! Clients from 2.1.156 on continue from the last entry in the file, older ones from the newest entry. When the leaf is
//! removed, that can be an entry of an abandoned branch. A `last-prompt` that names the new leaf does not help if the
//! branch begins at that very entry, so a system entry that hangs on the leaf is added at the end. It is not shown to the
//! model.

use rustc_hash::FxHashSet;

use crate::session::{Session, Standing};
use crate::transcript::{EntryHead, Kind};

use super::super::change_kind::ChangeKind;
use super::super::new_entry::leading_entry;
use super::super::plan::{InsertAt, Plan};
use super::chain::Chain;
use super::gone::Gone;

/// The text of the added entry, as Claude Code shows it.
const TEXT: &str =
    "ccsurgery removed the last message of this conversation; it continues from here";

/// Returns the leaf of the result, if clients would not find it by themselves.
pub(super) fn leaf_to_pin(session: &Session, gone: &Gone<'_>, chain: &Chain) -> Option<usize> {
    let graph = session.graph();
    let was = graph.leaf()?;
    let leaf = chain.before(graph.place(was))?;
    if leaf == was {
        return gains_abandoned_tail(session, gone, leaf).then_some(leaf);
    }
    // A person went back to an entry that stays: the record of that still leads clients there.
    if session.explicit_leaf().is_some_and(|i| gone.stays(i)) {
        return gains_abandoned_tail(session, gone, leaf).then_some(leaf);
    }
    let heads = session.heads();
    let candidates = || (0..heads.len()).filter(|&i| can_lead(heads[i]) && gone.stays(i));
    let last = candidates().next_back()?;
    let newest = candidates()
        .rev()
        .max_by_key(|&i| session.entries()[i].time)?;
    // A record that named the removed leaf names the new one.
    let is_named = !gone.stays(was) && heads.iter().any(|h| h.kind == Kind::LastPrompt);
    let lost = match way_to(session, gone, chain, last, leaf) {
        Way::Direct => false,
        Way::Other => !is_named,
        Way::OverMessages => true,
    };
    let lost_by_time = way_to(session, gone, chain, newest, leaf) == Way::OverMessages;
    (lost || lost_by_time || gains_abandoned_tail(session, gone, leaf)).then_some(leaf)
}

/// Adds the entry that leads clients to the leaf.
pub(super) fn pin(session: &Session, leaf: usize, plan: &mut Plan) {
    let Some(line) = leading_entry(session, leaf, TEXT) else {
        return;
    };
    plan.note_insert(ChangeKind::LastPrompt, line.len() + 1, 0, "");
    plan.insert_line(InsertAt::End, line);
}

/// Whether clients may continue from an entry.
fn can_lead(head: EntryHead) -> bool {
    head.is_chained()
        && !head.flags.sidechain()
        && matches!(
            head.kind,
            Kind::User | Kind::Assistant | Kind::System | Kind::Attachment | Kind::Progress
        )
}

/// How an entry is connected to the leaf of the result.
#[derive(PartialEq, Eq)]
enum Way {
    /// No message stands between them.
    Direct,
    /// Messages stand between them: clients would show these.
    OverMessages,
    /// It does not descend from the leaf.
    Other,
}

/// Walks up from an entry that stays, by the parents of the result.
fn way_to(session: &Session, gone: &Gone<'_>, chain: &Chain, from: usize, leaf: usize) -> Way {
    let graph = session.graph();
    let mut seen = FxHashSet::default();
    let mut over_messages = false;
    let mut at = Some(from);
    while let Some(i) = at.filter(|&i| seen.insert(i)) {
        if i == leaf {
            return if over_messages {
                Way::OverMessages
            } else {
                Way::Direct
            };
        }
        over_messages |= gone.stays(i) && session.heads()[i].is_message();
        at = if gone.stays(i) {
            chain.parent(i).or_else(|| graph.parent(i))
        } else {
            chain.before(graph.place(i)).or_else(|| graph.parent(i))
        };
    }
    Way::Other
}

/// Whether an attachment of an abandoned branch would hang on the leaf, where clients show it with the next prompt.
fn gains_abandoned_tail(session: &Session, gone: &Gone<'_>, leaf: usize) -> bool {
    let (graph, heads) = (session.graph(), session.heads());
    // Only below removed messages that hang on the leaf or took part in what it replaces.
    let mut below: Vec<usize> = Vec::new();
    let on_leaf = |i: usize| matches!(graph.place(i), Standing::Branch(_)) && !gone.stays(i);
    let Standing::Path(position) = graph.place(leaf) else {
        return false;
    };
    let replaced = graph.path()[position as usize..].iter();
    for &at in replaced {
        below.extend(graph.children(at as usize).filter(|&c| on_leaf(c)));
    }
    let mut seen = FxHashSet::default();
    while let Some(i) = below.pop() {
        if !seen.insert(i) {
            continue;
        }
        for child in graph.children(i) {
            if !gone.stays(child) {
                below.push(child);
            } else if !heads[child].is_message() {
                return true;
            }
        }
    }
    false
}
