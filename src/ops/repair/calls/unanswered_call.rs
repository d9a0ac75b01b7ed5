//! Adds a result to a call that was interrupted.

use std::collections::BTreeMap;

use crate::doctor::checks::calls::unanswered_call::{CHECK, calls};
use crate::json::encode;
use crate::session::{At, Session, Standing};
use crate::surgery::{InsertAt, Plan, Reach};

use super::super::RepairOptions;
use super::super::edit::{NewUser, made_uuid, uuid};
use super::super::pass::Repair;
use super::super::second_copies::{ResultCopies, SecondCopy};
use super::tool_id;

pub(crate) static REPAIR: Repair = Repair {
    checks: &[&CHECK],
    reach: Reach::Rearranges,
    plan,
};

const INTERRUPTED: &str =
    "[Interrupted: this session holds no result of the call, so its outcome is unknown.]";

fn plan(session: &Session, options: &RepairOptions, plan: &mut Plan) {
    // The calls of one answer get one entry of results.
    let mut groups: BTreeMap<usize, Vec<At>> = BTreeMap::new();
    for call in calls(session) {
        let after = insertion_point(session, call.entry as usize);
        groups.entry(after).or_default().push(call);
    }
    if groups.is_empty() {
        return;
    }
    let copies = ResultCopies::of(session, options);
    for (after, calls) in groups {
        answer(session, plan, after, &calls, &copies);
    }
}

/// Returns the block of a result: the second copy of its words, or that the call was interrupted.
fn block(id: &str, copy: Option<&SecondCopy>) -> String {
    let (words, is_error) = match copy {
        Some(copy) if copy.whole => (copy.words.clone(), ""),
        Some(copy) => (
            format!(
                "[Interrupted: the result is missing. The output recorded until then follows.]\n{}",
                copy.words
            ),
            r#","is_error":true"#,
        ),
        None => (INTERRUPTED.to_owned(), r#","is_error":true"#),
    };
    format!(
        r#"{{"tool_use_id":{},"type":"tool_result","content":{}{is_error}}}"#,
        encode(id),
        encode(&words)
    )
}

/// Returns the entry after which the result of a call is inserted: on the live path, the last of its
/// answer's lines and their results; beside it, the call itself.
fn insertion_point(session: &Session, call: usize) -> usize {
    let Standing::Path(mut at) = session.graph().place(call) else {
        return call;
    };
    let path = session.graph().path();
    let message = session.entries()[call].message_id;
    let belongs = |i: usize| {
        let e = &session.entries()[i];
        let answers = session
            .blocks(e)
            .iter()
            .filter(|b| b.kind.is_result())
            .filter_map(|b| session.calls().of(b))
            .flat_map(|c| &c.uses);
        message.is_some()
            && (e.message_id == message
                || answers
                    .map(|u| session.entries()[u.entry as usize].message_id)
                    .any(|m| m == message))
            || !e.is_message()
    };
    let mut last = at;
    while let Some(&next) = path.get(at as usize + 1) {
        if !belongs(next as usize) {
            break;
        }
        at += 1;
        if session.entries()[next as usize].is_message() {
            last = at;
        }
    }
    path[last as usize] as usize
}

fn answer(
    session: &Session,
    plan: &mut Plan,
    after: usize,
    calls: &[At],
    copies: &ResultCopies<'_>,
) {
    let e = &session.entries()[after];
    let (Some(parent), Some(first)) = (uuid(session, after), calls.first()) else {
        return;
    };
    let ids: Vec<String> = calls
        .iter()
        .filter_map(|c| tool_id(session, *c, "id"))
        .collect();
    let fresh = made_uuid(
        &[
            &["result", &parent],
            &ids.iter().map(String::as_str).collect::<Vec<_>>()[..],
        ]
        .concat(),
    );
    let found: Vec<Option<SecondCopy>> = ids.iter().map(|id| copies.find(session, id)).collect();
    let blocks = ids.iter().zip(&found);
    let blocks: Vec<String> = blocks.map(|(id, copy)| block(id, copy.as_ref())).collect();
    let source = uuid(session, first.entry as usize).unwrap_or_default();
    let is_whole = found.iter().flatten().any(|copy| copy.whole);
    let mut more = format!(r#","sourceToolAssistantUUID":{}"#, encode(&source));
    if !is_whole {
        let note = encode(&format!("Error: {INTERRUPTED}"));
        more = format!(r#","toolUseResult":{note}{more}"#);
    }
    let content = format!("[{}]", blocks.join(","));
    let line = NewUser {
        like: e,
        parent: Some(&parent),
        uuid: &fresh,
        content: &content,
        time: e.time.max(0),
        more: &more,
    }
    .line(session);
    let next = match session.graph().place(after) {
        Standing::Path(p) => session
            .graph()
            .path()
            .get(p as usize + 1)
            .map(|&n| n as usize),
        _ => None,
    };
    // After a compaction, the next entry of the path can hang on another.
    let hangs = |&n: &usize| {
        let parent = session.graph().parent(n);
        parent.is_none_or(|p| p == after) && !session.entries()[n].is_boundary()
    };
    let next = next.filter(hangs);
    let before = next
        .map_or(e.line + 1, |n| session.entries()[n].line)
        .max(e.line + 1);
    for (id, copy) in ids.iter().zip(&found) {
        if let Some(copy) = copy {
            let rest = if copy.whole {
                ""
            } else {
                ", and may be incomplete"
            };
            plan.warnings.push(format!(
                "the result of call {id} was restored from {}{rest}",
                copy.source
            ));
        }
    }
    plan.note_insert(
        "result of an interrupted call",
        line.len() + 1,
        content.len(),
        ids.join(", "),
    );
    plan.insert_line(
        if (before as usize) < session.lines().len() {
            InsertAt::Before(before)
        } else {
            InsertAt::End
        },
        line,
    );
    if let Some(next) = next {
        plan.set_parent(next, Some(&fresh));
    }
}
