//! Adds a result to a call that was interrupted.

use std::collections::BTreeMap;

use crate::doctor::checks::calls::unanswered_call::{CHECK, calls};
use crate::json::encode;
use crate::session::{At, Session, Standing};
use crate::surgery::{InsertAt, Plan, Reach};
use crate::transcript::EntryIx;

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
    let mut groups: BTreeMap<EntryIx, Vec<At>> = BTreeMap::new();
    for call in calls(session) {
        let after = insertion_point(session, call.entry);
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

/// The result that a call gets.
struct CallResult {
    /// The call's id.
    id: String,
    /// The second copy of its words, if there is one.
    copy: Option<SecondCopy>,
}

impl CallResult {
    /// Returns its block: the words of the second copy, or that the call was interrupted.
    fn block(&self) -> String {
        let (words, is_error) = match &self.copy {
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
            encode(&self.id),
            encode(&words)
        )
    }

    /// Returns a note on where its words come from, if they were restored.
    fn warning(&self) -> Option<String> {
        let copy = self.copy.as_ref()?;
        let rest = if copy.whole {
            ""
        } else {
            ", and may be incomplete"
        };
        let (id, source) = (&self.id, &copy.source);
        Some(format!(
            "the result of call {id} was restored from {source}{rest}"
        ))
    }
}

/// Returns the entry after which the result of a call is inserted: on the live path, the last of its
/// answer's lines and their results; beside it, the call itself.
fn insertion_point(session: &Session, call: EntryIx) -> EntryIx {
    let Standing::Path(position) = session.graph().place(call) else {
        return call;
    };
    let mut at = position as usize;
    let path = session.graph().path();
    let message = session.entry(call).message_id;
    let belongs = |i: EntryIx| {
        let e = session.entry(i);
        let answers = session
            .blocks(e)
            .iter()
            .filter(|b| b.kind.is_result())
            .filter_map(|b| session.calls().of(b))
            .flat_map(|c| &c.uses);
        message.is_some()
            && (e.message_id == message
                || answers
                    .map(|u| session.entry(u.entry).message_id)
                    .any(|m| m == message))
            || !e.is_message()
    };
    let mut last = at;
    while let Some(&next) = path.get(at + 1) {
        if !belongs(next) {
            break;
        }
        at += 1;
        if session.entry(next).is_message() {
            last = at;
        }
    }
    path[last]
}

/// Inserts one entry with the results of all these calls after the entry `after`.
fn answer(
    session: &Session,
    plan: &mut Plan,
    after: EntryIx,
    calls: &[At],
    copies: &ResultCopies<'_>,
) {
    let e = session.entry(after);
    let (Some(parent), Some(first)) = (uuid(session, after), calls.first()) else {
        return;
    };
    let source = uuid(session, first.entry).unwrap_or_default();
    let results: Vec<CallResult> = calls
        .iter()
        .filter_map(|call| tool_id(session, *call, "id"))
        .map(|id| CallResult {
            copy: copies.find(session, &id),
            id,
        })
        .collect();
    let ids: Vec<&str> = results.iter().map(|result| result.id.as_str()).collect();
    let fresh = made_uuid(&[&["result", &parent], &ids[..]].concat());
    let blocks: Vec<String> = results.iter().map(CallResult::block).collect();
    let content = format!("[{}]", blocks.join(","));
    let line = NewUser {
        like: e,
        parent: Some(&parent),
        uuid: &fresh,
        content: &content,
        time: e.time.max(0),
        more: &fields(&results, &source),
    }
    .line(session);
    plan.warnings
        .extend(results.iter().filter_map(CallResult::warning));
    plan.note_insert(
        "result of an interrupted call",
        line.len() + 1,
        content.len(),
        ids.join(", "),
    );
    let next = next_below(session, after);
    let before = next.map_or(e.line.plus(1), |n| session.entry(n).line);
    let before = before.max(e.line.plus(1));
    let is_within = before.index() < session.lines().len();
    let at = if is_within {
        InsertAt::Before(before)
    } else {
        InsertAt::End
    };
    plan.insert_line(at, line);
    if let Some(next) = next {
        plan.set_parent(next, Some(&fresh));
    }
}

/// Returns the fields of the new entry that follow its message.
fn fields(results: &[CallResult], source: &str) -> String {
    let source = format!(r#","sourceToolAssistantUUID":{}"#, encode(source));
    let copies = results.iter().filter_map(|result| result.copy.as_ref());
    if copies.into_iter().any(|copy| copy.whole) {
        return source;
    }
    let note = encode(&format!("Error: {INTERRUPTED}"));
    format!(r#","toolUseResult":{note}{source}"#)
}

/// Returns the next entry of the live path, if it is a child of this one. After a compaction, it can hang on another.
fn next_below(session: &Session, after: EntryIx) -> Option<EntryIx> {
    let graph = session.graph();
    let Standing::Path(position) = graph.place(after) else {
        return None;
    };
    let next = *graph.path().get(position as usize + 1)?;
    let is_below = graph.parent(next).is_none_or(|parent| parent == after);
    (is_below && !session.entry(next).is_boundary()).then_some(next)
}
