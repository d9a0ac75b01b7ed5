//! Parents that are gone, found again by what the history shows.

use std::rc::Rc;

use rustc_hash::FxHashSet;

use crate::doctor::checks::chain::{cut_root, cycle, dangling_parent};
use crate::session::{Session, Standing};
use crate::surgery::{Detail, Plan, Refusal, Transform};
use crate::transcript::{BlockKind, Entry, Kind, PromptKind};

use super::RepairOptions;
use super::edit::{set_parent, uuid};

pub(crate) struct Parents(pub(crate) Rc<RepairOptions>);

impl Transform for Parents {
    fn name(&self) -> &'static str {
        "repair"
    }

    fn rearranges(&self) -> bool {
        true
    }

    fn reveals(&self) -> bool {
        true
    }

    fn plan(&self, session: &Session, _: Detail) -> Result<Plan, Refusal> {
        let mut plan = Plan::default();
        let mut orphans: Vec<usize> = Vec::new();
        if self.0.wants(&dangling_parent::CHECK) {
            orphans.extend(dangling_parent::entries(session));
        }
        if self.0.wants(&cycle::CHECK) {
            orphans.extend(cycle::heads(session));
        }
        if self.0.wants(&cut_root::CHECK) {
            orphans.extend(cut_root::entry(session));
        }
        let by_time = if orphans.is_empty() {
            Vec::new()
        } else {
            by_time(session)
        };
        for orphan in orphans {
            self.adopt(session, &by_time, orphan, &mut plan);
        }
        Ok(plan)
    }
}

/// The entries of the graph that have a time, oldest first, and in file order where it is the same.
fn by_time(session: &Session) -> Vec<u32> {
    let entries = session.entries();
    let timed = |&i: &u32| entries[i as usize].is_chained() && entries[i as usize].time > i64::MIN;
    let mut all: Vec<u32> = (0..entries.len() as u32).filter(timed).collect();
    all.sort_by_key(|&i| entries[i as usize].time);
    all
}

/// Who the parent was.
enum ParentGuess {
    /// The history shows it.
    Sure(usize),
    /// It may be the one or the other.
    Torn(usize, usize),
    /// Nothing comes before it.
    Nobody,
}

impl Parents {
    fn adopt(&self, session: &Session, by_time: &[u32], orphan: usize, plan: &mut Plan) {
        let parent = match kin(session, by_time, orphan) {
            ParentGuess::Sure(parent) => Some(parent),
            ParentGuess::Nobody => match buried(session, orphan) {
                Some((prompt, before)) => {
                    set_parent(session, plan, prompt, None);
                    Some(before)
                }
                None => None,
            },
            ParentGuess::Torn(likelier, _) if self.0.accept_guess => Some(likelier),
            ParentGuess::Torn(a, b) => {
                let shown = matches!(
                    session.graph().place(orphan),
                    Standing::Path(_) | Standing::Beside(_)
                );
                let line = |i: usize| {
                    session
                        .document()
                        .origin(session.entries()[i].line as usize)
                        .map_or(0, |l| l + 1)
                };
                if !shown && session.entries()[orphan].parent.is_some() {
                    // Nobody is shown it either way, so nothing is claimed.
                    set_parent(session, plan, orphan, None);
                } else {
                    plan.warnings.push(format!(
                        "line {}: its parent may be line {} or line {}; neither was taken. Give --accept-guess to take line {}, or go on without what is before it",
                        line(orphan), line(a), line(b), line(a)
                    ));
                }
                return;
            }
        };
        let parent = parent.and_then(|p| uuid(session, p));
        if parent.is_none() && !session.entries()[orphan].parent.is_some() {
            return;
        }
        set_parent(session, plan, orphan, parent.as_deref());
    }
}

/// The prompt that began it all, where a wrong parent has put it below what answers it, and the entry
/// that the orphan followed.
fn buried(session: &Session, orphan: usize) -> Option<(usize, usize)> {
    let (entries, graph) = (session.entries(), session.graph());
    let e = &entries[orphan];
    if e.prompt != PromptKind::None || e.flags.sidechain() {
        return None;
    }
    let earlier = |i: &usize| entries[*i].is_chained() && !entries[*i].flags.sidechain();
    let prompt = (0..orphan).find(earlier)?;
    let before = (0..orphan).rev().find(earlier)?;
    let begins = entries[prompt].prompt == PromptKind::Words && entries[prompt].time <= e.time;
    (begins && graph.descends(prompt, orphan) && graph.descends(before, prompt))
        .then_some((prompt, before))
}

/// Finds the entry that an orphan followed.
///
/// A line of an answer follows the lines of the same answer, a result its call. Anything else
/// follows what stands before it in the file, if that is also what was newest then.
fn kin(session: &Session, by_time: &[u32], orphan: usize) -> ParentGuess {
    let own = subtree(session, orphan);
    let e = &session.entries()[orphan];
    let fits = |i: &usize, c: &Entry| {
        c.is_chained() && c.flags.sidechain() == e.flags.sidechain() && !own.contains(i)
    };
    let above = || session.entries()[..orphan].iter().enumerate().rev();
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
    let entry = |i: u32| &session.entries()[i as usize];
    let older = by_time.partition_point(|&i| entry(i).time <= e.time);
    let newest = by_time[..older]
        .iter()
        .rev()
        .map(|&i| i as usize)
        .find(|i| fits(i, &session.entries()[*i]));
    match (before, newest) {
        // What stands behind it in the file cannot have been before it, whatever its time.
        (None, _) => ParentGuess::Nobody,
        (Some(before), None) => ParentGuess::Sure(before),
        (Some(before), Some(newest)) => agree(session, e, before, newest),
    }
}

fn agree(session: &Session, e: &Entry, before: usize, newest: usize) -> ParentGuess {
    let graph = session.graph();
    if before == newest || graph.descends(before, newest) || siblings(session, before, newest) {
        return ParentGuess::Sure(before);
    }
    // A prompt's id is on all that belongs to the turn.
    let prompt = |e: &Entry| session.string(e, &["promptId"]);
    if let Some(own) = prompt(e) {
        match (
            prompt(&session.entries()[before]).as_ref() == Some(&own),
            prompt(&session.entries()[newest]).as_ref() == Some(&own),
        ) {
            (true, false) => return ParentGuess::Sure(before),
            (false, true) => return ParentGuess::Sure(newest),
            _ => {}
        }
    }
    ParentGuess::Torn(before, newest)
}

/// Whether two entries are lines of one answer, or results of its calls.
fn siblings(session: &Session, a: usize, b: usize) -> bool {
    let answer = |i: usize| {
        let e = &session.entries()[i];
        e.message_id
            .some()
            .or_else(|| call_of(session, e).and_then(|c| session.entries()[c].message_id.some()))
    };
    answer(a).is_some_and(|m| answer(b) == Some(m))
}

/// The entry of the call that a result answers.
fn call_of(session: &Session, e: &Entry) -> Option<usize> {
    let result = session
        .blocks(e)
        .iter()
        .find(|b| e.kind == Kind::User && b.kind == BlockKind::ToolResult)?;
    session
        .calls()
        .find(result.tool)?
        .uses
        .first()
        .map(|u| u.entry as usize)
}

/// An entry with all that hangs on it.
fn subtree(session: &Session, root: usize) -> FxHashSet<usize> {
    let mut seen = FxHashSet::default();
    let mut stack = vec![root];
    while let Some(i) = stack.pop() {
        if seen.insert(i) {
            stack.extend(session.graph().children(i));
        }
    }
    seen
}
