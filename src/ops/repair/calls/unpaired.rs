//! Removes results that answer nothing or answer twice, and calls that will never be answered.
//!
//! The API accepts thinking only together with the calls that it led to, so the thinking of an answer
//! that loses a call is removed with it.

use rustc_hash::FxHashSet;

use crate::doctor::checks::calls::{
    repeated_result, split_server_result, stray_result, unfinished_call,
};
use crate::ops::BlockRemovals;
use crate::session::{At, Session};
use crate::surgery::{Excerpt, Plan, Reach, Words};
use crate::transcript::{EntryIx, Id, Kind, PromptKind};

use super::super::RepairOptions;
use super::super::pass::Repair;

pub(crate) static REPAIR: Repair = Repair {
    checks: &[
        &repeated_result::CHECK,
        &stray_result::CHECK,
        &unfinished_call::CHECK,
        &split_server_result::CHECK,
    ],
    reach: Reach::Rearranges,
    plan,
};

fn plan(session: &Session, options: &RepairOptions, plan: &mut Plan) {
    removals(session, options).plan(session, plan, |entry, block| {
        let (what, words) = match block.kind {
            kind if kind.is_call() => ("call without a result", Words::Name),
            kind if kind.is_result() => ("result without a call", Words::Content),
            _ => ("thinking", Words::Thinking),
        };
        (what.into(), Excerpt::of(session, entry, block, words))
    });
}

fn removals(session: &Session, options: &RepairOptions) -> BlockRemovals {
    let mut removed = BlockRemovals::default();
    let mut add = |at: At| removed.add(at);
    if options.wants(&repeated_result::CHECK) {
        repeated_result::results(session)
            .into_iter()
            .for_each(&mut add);
    }
    // Answers that lose a call.
    let mut losers = FxHashSet::default();
    if options.wants(&stray_result::CHECK) {
        let mut seen = FxHashSet::default();
        for result in stray_result::results(session) {
            add(result);
            losers.extend(answer_above(session, result.entry, &mut seen));
        }
    }
    let mut calls = Vec::new();
    if options.wants(&unfinished_call::CHECK) {
        calls.extend(unfinished_call::calls(session));
    }
    if options.wants(&split_server_result::CHECK) {
        for (call, results) in split_server_result::pairs(session) {
            calls.push(call);
            results.into_iter().for_each(&mut add);
        }
    }
    for call in calls {
        add(call);
        losers.insert(call.entry);
    }
    thinking_of(session, &losers).for_each(add);
    removed
}

/// Returns the nearest line of an answer above an entry, within the turn. Stops at entries already in
/// `seen`, so that many results below one answer cost one walk.
fn answer_above(
    session: &Session,
    entry: EntryIx,
    seen: &mut FxHashSet<EntryIx>,
) -> Option<EntryIx> {
    let mut at = entry;
    loop {
        at = session.graph().parent(at)?;
        if !seen.insert(at) {
            return None;
        }
        let e = session.entry(at);
        if e.kind == Kind::Assistant {
            return Some(at);
        }
        if e.is_boundary() || e.prompt == PromptKind::Words {
            return None;
        }
    }
}

/// Returns the thinking blocks of the messages that these entries are lines of.
fn thinking_of(session: &Session, entries: &FxHashSet<EntryIx>) -> impl Iterator<Item = At> {
    let message = |&i: &EntryIx| session.entry(i).message_id.some();
    let messages: FxHashSet<Id> = entries.iter().filter_map(message).collect();
    let all = session.numbered();
    let lines = all.filter(move |(i, e)| entries.contains(i) || messages.contains(&e.message_id));
    lines.flat_map(|(i, e)| {
        e.blocks
            .numbers()
            .filter(|&b| session.block(b).kind.is_thinking())
            .map(move |b| At { entry: i, block: b })
    })
}
