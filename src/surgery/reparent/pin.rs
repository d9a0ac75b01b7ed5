//! Keeps the conversation where it ends when its last entries are removed.
//!
//! Clients from 2.1.156 on continue from the last entry in the file, older ones from the newest entry. When the leaf is
//! removed, that can be an entry of an abandoned branch. A `last-prompt` that names the new leaf does not help if the
//! branch begins at that very entry, so a system entry that hangs on the leaf is added at the end. It is not shown to the
//! model.

use rustc_hash::FxHashSet;

use crate::session::{Session, Standing};
use crate::transcript::{EntryHead, EntryIx, Kind};

use super::super::change_kind::ChangeKind;
use super::super::new_entry::leading_entry;
use super::super::plan::{InsertAt, Plan};
use super::chain::Chain;
use super::gone::Gone;

/// The text of the added entry, as Claude Code shows it.
const TEXT: &str =
    "ccsurgery removed the last message of this conversation; it continues from here";

/// Returns the leaf of the result, if clients would not find it by themselves.
pub(super) fn leaf_to_pin(
    session: &Session,
    plan: &Plan,
    gone: &Gone<'_>,
    chain: &Chain,
) -> Option<EntryIx> {
    let graph = session.graph();
    let was = graph.leaf()?;
    // A prompt that arrived before the last results follows them once one of them changes, and so do messages that a
    // compaction preserved once the compaction is removed.
    let leaf = if chain.ends_rearranged() || !gone.stays(was) {
        chain.end()?
    } else {
        chain.before(graph.place(was))?
    };
    // A person went back to an entry that stays: the record of that still leads clients there.
    if let Some(explicit) = session.explicit_leaf().filter(|&i| gone.stays(i)) {
        let is_passed = chain.ends_rearranged() && explicit != leaf;
        return (is_passed || gains_tail(session, gone, leaf)).then_some(leaf);
    }
    let heads = session.heads();
    let candidates = || {
        session
            .numbers()
            .filter(|&i| can_lead(heads[i]) && gone.stays(i))
    };
    if leaf == was {
        let lost = is_passed_over(session, gone, chain, candidates(), leaf);
        return (lost || gains_tail(session, gone, leaf)).then_some(leaf);
    }
    let last = candidates().next_back()?;
    let newest = candidates().rev().max_by_key(|&i| session.entry(i).time)?;
    let is_named = is_named(session, plan, gone, chain, leaf);
    let lost = match way_to(session, gone, chain, last, leaf) {
        Way::Direct => false,
        Way::Other => !is_named,
        Way::OverMessages => true,
    };
    let lost_by_time = way_to(session, gone, chain, newest, leaf) == Way::OverMessages;
    (lost || lost_by_time || gains_tail(session, gone, leaf)).then_some(leaf)
}

/// Whether the newest clients would continue from a message after the leaf, although both stay.
///
/// A record decides for the leaf as long as the file ends with an entry of another branch. Without that entry, the file
/// can end with a branch that begins at the leaf itself.
fn is_passed_over(
    session: &Session,
    gone: &Gone<'_>,
    chain: &Chain,
    candidates: impl DoubleEndedIterator<Item = EntryIx>,
    leaf: EntryIx,
) -> bool {
    let mut seen = FxHashSet::default();
    for last in candidates.rev() {
        if session.heads()[last].kind == Kind::Progress {
            continue;
        }
        // Clients ignore entries at the end that lead up to no message.
        let walk = walk_up(session, gone, chain, last, leaf, &mut seen);
        if walk.reaches_leaf || walk.over_messages {
            return walk.reaches_leaf && walk.over_messages;
        }
    }
    false
}

/// Whether the last record of a leaf that stays leads to this one: a record that named a removed entry names the one that
/// takes its place.
fn is_named(session: &Session, plan: &Plan, gone: &Gone<'_>, chain: &Chain, leaf: EntryIx) -> bool {
    let records = session.entries().iter().rev();
    let mut records = records.filter(|e| e.kind == Kind::LastPrompt && !plan.drops(e.line));
    let named = records.next().and_then(|e| e.refers_to.some());
    let named = named.and_then(|id| session.find(id));
    named.is_some_and(|i| {
        let now = if gone.stays(i) {
            Some(i)
        } else {
            chain.before(session.graph().place(i))
        };
        now == Some(leaf)
    })
}

/// Adds the entry that leads clients to the leaf.
pub(super) fn pin(session: &Session, leaf: EntryIx, plan: &mut Plan) {
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

fn way_to(session: &Session, gone: &Gone<'_>, chain: &Chain, from: EntryIx, leaf: EntryIx) -> Way {
    let walk = walk_up(session, gone, chain, from, leaf, &mut FxHashSet::default());
    match (walk.reaches_leaf, walk.over_messages) {
        (false, _) => Way::Other,
        (true, true) => Way::OverMessages,
        (true, false) => Way::Direct,
    }
}

/// What is met on the way up from an entry.
struct Walk {
    reaches_leaf: bool,
    /// Whether a message is met before the leaf.
    over_messages: bool,
}

/// Walks up from an entry that stays, by the parents of the result, as far as nobody has walked before.
fn walk_up(
    session: &Session,
    gone: &Gone<'_>,
    chain: &Chain,
    from: EntryIx,
    leaf: EntryIx,
    seen: &mut FxHashSet<EntryIx>,
) -> Walk {
    let graph = session.graph();
    let mut walk = Walk {
        reaches_leaf: false,
        over_messages: false,
    };
    let mut at = Some(from);
    while let Some(i) = at.filter(|&i| seen.insert(i)) {
        if i == leaf {
            walk.reaches_leaf = true;
            break;
        }
        walk.over_messages |= gone.stays(i) && session.heads()[i].is_message();
        at = if gone.stays(i) {
            chain.parent(i).or_else(|| graph.parent(i))
        } else {
            chain.before(graph.place(i)).or_else(|| graph.parent(i))
        };
    }
    walk
}

/// Whether an attachment that was not shown would hang on the leaf, where clients show it with the next prompt: one of an
/// abandoned branch, or, if the leaf is a new one, one that stood beside the path.
fn gains_tail(session: &Session, gone: &Gone<'_>, leaf: EntryIx) -> bool {
    let (graph, heads) = (session.graph(), session.heads());
    let Standing::Path(position) = graph.place(leaf) else {
        return false;
    };
    let is_new = graph.leaf() != Some(leaf);
    let was_hidden = |i: EntryIx| match graph.place(i) {
        Standing::Branch(_) => true,
        Standing::Beside(_) => is_new,
        _ => false,
    };
    let is_attachment = |i: EntryIx| matches!(heads[i].kind, Kind::Attachment | Kind::System);
    let mut on_leaf = graph.children(leaf);
    if is_new && on_leaf.any(|c| was_hidden(c) && gone.stays(c) && is_attachment(c)) {
        return true;
    }
    // Only below removed messages that hang on the leaf or took part in what it replaces.
    let mut below: Vec<EntryIx> = Vec::new();
    for &at in &graph.path()[position as usize..] {
        let children = graph.children(at);
        below.extend(children.filter(|&c| was_hidden(c) && !gone.stays(c)));
    }
    let mut seen = FxHashSet::default();
    while let Some(i) = below.pop() {
        if !seen.insert(i) {
            continue;
        }
        for child in graph.children(i) {
            if !gone.stays(child) {
                below.push(child);
            } else if is_attachment(child) {
                return true;
            }
        }
    }
    false
}
