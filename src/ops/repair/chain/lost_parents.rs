//! Attaches entries to the parent that they lost, where the rest of the history shows which it was.

use rustc_hash::FxHashSet;

use crate::doctor::checks::chain::{cut_root, cycle, dangling_parent};
use crate::document::LineIx;
use crate::session::{Session, Standing};
use crate::surgery::{Plan, Reach};
use crate::transcript::{BlockKind, Entry, EntryIx, Kind, PromptKind};

use super::super::RepairOptions;
use super::super::edit::uuid;
use super::super::pass::Repair;

pub(crate) static REPAIR: Repair = Repair {
    checks: &[&dangling_parent::CHECK, &cycle::CHECK, &cut_root::CHECK],
    reach: Reach::Rearranges,
    plan,
};

fn plan(session: &Session, options: &RepairOptions, plan: &mut Plan) {
    let mut orphans: Vec<EntryIx> = Vec::new();
    if options.wants(&dangling_parent::CHECK) {
        orphans.extend(dangling_parent::entries(session));
    }
    if options.wants(&cycle::CHECK) {
        orphans.extend(cycle::heads(session));
    }
    if options.wants(&cut_root::CHECK) {
        orphans.extend(cut_root::entry(session));
    }
    if orphans.is_empty() {
        return;
    }
    let by_time = by_time(session);
    for orphan in orphans {
        adopt(session, options, &by_time, orphan, plan);
    }
}

/// Returns the chained entries that have a time, oldest first; equal times stay in file order.
fn by_time(session: &Session) -> Vec<EntryIx> {
    let entries = session.entries();
    let timed = |&i: &EntryIx| entries[i].is_chained() && entries[i].time > i64::MIN;
    let mut all: Vec<EntryIx> = session.numbers().filter(timed).collect();
    all.sort_by_key(|&i| entries[i].time);
    all
}

/// Which entry was the parent.
enum ParentGuess {
    /// The history shows which.
    Sure(EntryIx),
    /// One of two; the likelier comes first.
    Either(EntryIx, EntryIx),
    /// Nothing comes before the orphan.
    Nobody,
}

fn adopt(
    session: &Session,
    options: &RepairOptions,
    by_time: &[EntryIx],
    orphan: EntryIx,
    plan: &mut Plan,
) {
    let parent = match kin(session, by_time, orphan) {
        ParentGuess::Sure(parent) => Some(parent),
        ParentGuess::Nobody => match buried(session, orphan) {
            Some((prompt, before)) => {
                plan.set_parent(prompt, None);
                Some(before)
            }
            None => None,
        },
        ParentGuess::Either(likelier, _) if options.accept_guess => Some(likelier),
        ParentGuess::Either(likelier, other) => {
            decline(session, orphan, likelier, other, plan);
            return;
        }
    };
    let parent = parent.and_then(|p| uuid(session, p));
    if parent.is_some() || session.entry(orphan).parent.is_some() {
        plan.set_parent(orphan, parent.as_deref());
    }
}

/// Leaves an orphan that has two possible parents where it is, and asks.
fn decline(session: &Session, orphan: EntryIx, likelier: EntryIx, other: EntryIx, plan: &mut Plan) {
    let live = matches!(
        session.graph().place(orphan),
        Standing::Path(_) | Standing::Beside(_)
    );
    if !live && session.entry(orphan).parent.is_some() {
        // No client shows the entry, whatever its parent.
        plan.set_parent(orphan, None);
        return;
    }
    let line = |i: EntryIx| {
        let line = session.entry(i).line;
        session.document().origin(line).map_or(0, LineIx::from_one)
    };
    plan.warnings.push(format!(
        "line {}: its lost parent may be line {} (more likely) or line {}; it was left as it is. Give --accept-guess to attach it to line {}",
        line(orphan), line(likelier), line(other), line(likelier)
    ));
}

/// Returns the first prompt, if a wrong parent has put it below the answer to it, and the entry that
/// the orphan followed.
fn buried(session: &Session, orphan: EntryIx) -> Option<(EntryIx, EntryIx)> {
    let (entries, graph) = (session.entries(), session.graph());
    let e = &entries[orphan];
    if e.prompt != PromptKind::None || e.flags.sidechain() {
        return None;
    }
    let earlier = |i: &EntryIx| entries[*i].is_chained() && !entries[*i].flags.sidechain();
    let prompt = orphan.before().find(earlier)?;
    let before = orphan.before().rev().find(earlier)?;
    let begins = entries[prompt].prompt == PromptKind::Words && entries[prompt].time <= e.time;
    (begins && graph.descends(prompt, orphan) && graph.descends(before, prompt))
        .then_some((prompt, before))
}

/// Finds the entry that an orphan followed.
///
/// A line of an answer follows the lines of the same answer, a result its call. Anything else
/// follows the entry before it in the file, if that was also the newest at the time.
fn kin(session: &Session, by_time: &[EntryIx], orphan: EntryIx) -> ParentGuess {
    let own = subtree(session, orphan);
    let e = session.entry(orphan);
    let fits = |i: &EntryIx, c: &Entry| {
        c.is_chained() && c.flags.sidechain() == e.flags.sidechain() && !own.contains(i)
    };
    let above = || orphan.before().map(|i| (i, session.entry(i))).rev();
    if e.kind == Kind::Assistant && e.message_id.is_some() {
        let line = above()
            .find(|(i, c)| c.message_id == e.message_id && fits(i, c))
            .map(|(i, _)| i);
        if let Some(line) = line {
            return ParentGuess::Sure(line);
        }
    }
    if let Some(call) = call_of(session, e).filter(|c| !own.contains(c)) {
        return ParentGuess::Sure(call);
    }
    let before = above().find(|(i, c)| fits(i, c)).map(|(i, _)| i);
    let entry = |i: EntryIx| session.entry(i);
    let older = by_time.partition_point(|&i| entry(i).time <= e.time);
    let newest = by_time[..older]
        .iter()
        .rev()
        .copied()
        .find(|i| fits(i, session.entry(*i)));
    match (before, newest) {
        // An entry that comes later in the file was not there yet, whatever its time.
        (None, _) => ParentGuess::Nobody,
        (Some(before), None) => ParentGuess::Sure(before),
        (Some(before), Some(newest)) => agree(session, e, before, newest),
    }
}

fn agree(session: &Session, e: &Entry, before: EntryIx, newest: EntryIx) -> ParentGuess {
    let graph = session.graph();
    if before == newest || graph.descends(before, newest) || siblings(session, before, newest) {
        return ParentGuess::Sure(before);
    }
    // All entries of a turn carry the id of its prompt.
    let prompt = |e: &Entry| session.string(e, &["promptId"]);
    if let Some(own) = prompt(e) {
        match (
            prompt(session.entry(before)).as_ref() == Some(&own),
            prompt(session.entry(newest)).as_ref() == Some(&own),
        ) {
            (true, false) => return ParentGuess::Sure(before),
            (false, true) => return ParentGuess::Sure(newest),
            _ => {}
        }
    }
    ParentGuess::Either(before, newest)
}

/// Returns whether two entries are lines of one answer, or results of its calls.
fn siblings(session: &Session, a: EntryIx, b: EntryIx) -> bool {
    let answer = |i: EntryIx| {
        let e = session.entry(i);
        e.message_id
            .some()
            .or_else(|| call_of(session, e).and_then(|c| session.entry(c).message_id.some()))
    };
    answer(a).is_some_and(|m| answer(b) == Some(m))
}

/// Returns the entry of the call that a result answers.
fn call_of(session: &Session, e: &Entry) -> Option<EntryIx> {
    let result = session
        .blocks(e)
        .iter()
        .find(|b| e.kind == Kind::User && b.kind == BlockKind::ToolResult)?;
    session
        .calls()
        .find(result.tool)?
        .uses
        .first()
        .map(|u| u.entry)
}

/// Returns an entry with all its descendants.
fn subtree(session: &Session, root: EntryIx) -> FxHashSet<EntryIx> {
    let mut seen = FxHashSet::default();
    let mut stack = vec![root];
    while let Some(i) = stack.pop() {
        if seen.insert(i) {
            stack.extend(session.graph().children(i));
        }
    }
    seen
}
