//! Makes file, times and the last prompt's note agree on where the conversation ends.

use std::rc::Rc;

use rustc_hash::FxHashSet;

use crate::doctor::checks::chain::wrong_leaf;
use crate::doctor::checks::compaction::stale_last_prompt;
use crate::json::encode;
use crate::session::Session;
use crate::surgery::{Action, Detail, InsertAt, Plan, Refusal, Transform};
use crate::transcript::PromptKind;

use super::RepairOptions;
use super::edit::{set_field, timestamp, uuid};

pub(crate) struct Leaf(pub(crate) Rc<RepairOptions>);

impl Transform for Leaf {
    fn name(&self) -> &'static str {
        "repair"
    }

    fn reveals(&self) -> bool {
        true
    }

    fn plan(&self, session: &Session, _: Detail) -> Result<Plan, Refusal> {
        let mut plan = Plan::default();
        if self.0.wants(&stale_last_prompt::CHECK) && stale_last_prompt::entry(session).is_some() {
            let last = session
                .heads()
                .iter()
                .rposition(|&t| wrong_leaf::can_lead(t));
            if let Some(leaf) = last.and_then(|l| message_above(session, l)) {
                name(session, leaf, &mut plan);
            }
            return Ok(plan);
        }
        let (Some(newest), Some(last)) = (wrong_leaf::entry(session), session.graph().leaf())
        else {
            return Ok(plan);
        };
        if !self.0.wants(&wrong_leaf::CHECK) {
            return Ok(plan);
        }
        let leaf = choose(session, newest, last);
        if leaf != last {
            name(session, leaf, &mut plan);
        }
        agree_on_time(session, leaf, &mut plan);
        Ok(plan)
    }
}

/// Which of two ends is the conversation's.
///
/// The file is written from front to back, so its last entry is the end, but where that is of
/// another and smaller conversation than the newest: a stray.
fn choose(session: &Session, newest: usize, last: usize) -> usize {
    let (a, b) = (above(session, newest), above(session, last));
    if a.last() == b.last() || a.contains(&last) && !b.contains(&newest) {
        return if a.contains(&last) { newest } else { last };
    }
    let prompts = |path: &[usize]| {
        path.iter()
            .filter(|&&i| session.entries()[i].prompt == PromptKind::Words)
            .count()
    };
    if prompts(&a) > prompts(&b) {
        message_above(session, newest).unwrap_or(newest)
    } else {
        last
    }
}

/// An entry and its ancestors, through compactions.
fn above(session: &Session, entry: usize) -> Vec<usize> {
    let mut seen = FxHashSet::default();
    let mut out = Vec::new();
    let mut at = Some(entry);
    while let Some(i) = at.filter(|&i| seen.insert(i)) {
        out.push(i);
        let e = &session.entries()[i];
        at = session.graph().parent(i).or_else(|| {
            e.refers_to
                .some()
                .filter(|_| e.is_boundary())
                .and_then(|id| session.find(id))
        });
    }
    out
}

fn message_above(session: &Session, entry: usize) -> Option<usize> {
    above(session, entry)
        .into_iter()
        .find(|&i| session.entries()[i].is_message())
}

/// Puts a note at the end that names the leaf, as clients do.
fn name(session: &Session, leaf: usize, plan: &mut Plan) {
    let Some(uuid) = uuid(session, leaf) else {
        return;
    };
    let prompt = above(session, leaf)
        .into_iter()
        .find(|&i| session.entries()[i].prompt == PromptKind::Words);
    let words = prompt
        .and_then(|i| crate::view::prompt_text(session, &session.entries()[i]))
        .unwrap_or_default();
    let short: String = words.chars().take(200).collect();
    let id = session
        .string(&session.entries()[leaf], &["sessionId"])
        .unwrap_or_default();
    let line = format!(
        r#"{{"type":"last-prompt","lastPrompt":{},"leafUuid":{},"sessionId":{}}}"#,
        encode(&short),
        encode(&uuid),
        encode(&id)
    );
    plan.note_insert("last prompt", line.len() + 1, 0, "");
    plan.insert_line(InsertAt::End, line);
}

/// Entries that are newer than the leaf and not behind it get a time just before it; where they are
/// its own ancestors, the leaf gets a time just behind them.
fn agree_on_time(session: &Session, leaf: usize, plan: &mut Plan) {
    let e = &session.entries()[leaf];
    let all = session.entries().iter().enumerate();
    let newer: Vec<usize> = all
        .filter(|(i, o)| {
            wrong_leaf::can_lead(o.head()) && o.time > e.time && !session.graph().descends(*i, leaf)
        })
        .map(|(i, _)| i)
        .collect();
    if newer.is_empty() {
        return;
    }
    let ancestors: FxHashSet<usize> = above(session, leaf).into_iter().collect();
    let latest = newer
        .iter()
        .map(|&i| session.entries()[i].time)
        .max()
        .unwrap_or(e.time);
    if e.time == i64::MIN || newer.iter().all(|i| ancestors.contains(i)) || newer.len() > MANY {
        set_field(
            session,
            plan,
            e,
            "timestamp",
            timestamp(latest + 1).as_bytes(),
        );
        plan.note(session, e, Action::Edit, "time", 0, 0, "");
        return;
    }
    for i in newer {
        let other = &session.entries()[i];
        set_field(
            session,
            plan,
            other,
            "timestamp",
            timestamp(e.time - 1).as_bytes(),
        );
        plan.note(session, other, Action::Edit, "time", 0, 0, "");
    }
}

/// More than this many are not rewritten for the sake of one.
const MANY: usize = 200;
