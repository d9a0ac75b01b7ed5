//! Makes the order of the file, the times and the last `last-prompt` agree on the end of the conversation.

use rustc_hash::FxHashSet;

use crate::doctor::checks::chain::wrong_leaf;
use crate::doctor::checks::compaction::stale_last_prompt;
use crate::json::encode;
use crate::session::Session;
use crate::surgery::{InsertAt, Plan, Reach};
use crate::transcript::{EntryIx, PromptKind};

use super::super::RepairOptions;
use super::super::edit::{note_edit, set_field, timestamp, uuid};
use super::super::pass::Repair;

pub(crate) static REPAIR: Repair = Repair {
    checks: &[&wrong_leaf::CHECK, &stale_last_prompt::CHECK],
    reach: Reach::Rearranges,
    plan,
};

fn plan(session: &Session, options: &RepairOptions, plan: &mut Plan) {
    if options.wants(&stale_last_prompt::CHECK) && stale_last_prompt::entry(session).is_some() {
        let heads = session.heads();
        let last = session.numbers().rfind(|&i| wrong_leaf::can_lead(heads[i]));
        if let Some(leaf) = last.and_then(|l| message_above(session, l)) {
            name(session, leaf, plan);
        }
        return;
    }
    let (Some(newest), Some(last)) = (wrong_leaf::entry(session), session.graph().leaf()) else {
        return;
    };
    if !options.wants(&wrong_leaf::CHECK) {
        return;
    }
    let leaf = choose(session, newest, last);
    if leaf != last {
        name(session, leaf, plan);
    }
    agree_on_time(session, leaf, plan);
}

/// Returns which of two possible ends is the end of the conversation.
///
/// Clients only append, so the last entry of the file is the end, unless the newest entry continues it
/// or belongs to a conversation with more prompts: then old lines were written again at the end.
fn choose(session: &Session, newest: EntryIx, last: EntryIx) -> EntryIx {
    let (a, b) = (above(session, newest), above(session, last));
    if a.contains(&last) && !b.contains(&newest) {
        return newest;
    }
    let prompts = |path: &[EntryIx]| {
        path.iter()
            .filter(|&&i| session.entry(i).prompt == PromptKind::Words)
            .count()
    };
    if prompts(&a) > prompts(&b) {
        message_above(session, newest).unwrap_or(newest)
    } else {
        last
    }
}

/// Returns an entry and its ancestors, across compactions.
fn above(session: &Session, entry: EntryIx) -> Vec<EntryIx> {
    let mut seen = FxHashSet::default();
    let mut out = Vec::new();
    let mut at = Some(entry);
    while let Some(i) = at.filter(|&i| seen.insert(i)) {
        out.push(i);
        let e = session.entry(i);
        at = session.graph().parent(i).or_else(|| {
            e.refers_to
                .some()
                .filter(|_| e.is_boundary())
                .and_then(|id| session.find(id))
        });
    }
    out
}

fn message_above(session: &Session, entry: EntryIx) -> Option<EntryIx> {
    above(session, entry)
        .into_iter()
        .find(|&i| session.entry(i).is_message())
}

/// Adds a `last-prompt` at the end that names the leaf, as clients do.
fn name(session: &Session, leaf: EntryIx, plan: &mut Plan) {
    let Some(uuid) = uuid(session, leaf) else {
        return;
    };
    let prompt = above(session, leaf)
        .into_iter()
        .find(|&i| session.entry(i).prompt == PromptKind::Words);
    let words = prompt
        .and_then(|i| crate::view::prompt_text(session, session.entry(i)))
        .unwrap_or_default();
    let short: String = words.chars().take(200).collect();
    let id = session
        .string(session.entry(leaf), &["sessionId"])
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

/// Gives entries that are newer than the leaf and do not follow it a time just before it. If they are
/// its own ancestors, the leaf gets a time just after them instead.
fn agree_on_time(session: &Session, leaf: EntryIx, plan: &mut Plan) {
    let e = session.entry(leaf);
    let all = session.numbered();
    let newer: Vec<EntryIx> = all
        .filter(|(i, o)| {
            wrong_leaf::can_lead(o.head()) && o.time > e.time && !session.graph().descends(*i, leaf)
        })
        .map(|(i, _)| i)
        .collect();
    if newer.is_empty() {
        return;
    }
    let ancestors: FxHashSet<EntryIx> = above(session, leaf).into_iter().collect();
    let latest = newer
        .iter()
        .map(|&i| session.entry(i).time)
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
        note_edit(session, plan, e, "time");
        return;
    }
    for i in newer {
        let other = session.entry(i);
        set_field(
            session,
            plan,
            other,
            "timestamp",
            timestamp(e.time - 1).as_bytes(),
        );
        note_edit(session, plan, other, "time");
    }
}

/// If more entries than this are newer than the leaf, the leaf's own time is changed instead.
const MANY: usize = 200;
