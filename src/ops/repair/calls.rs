//! Calls and results that do not pair.

use std::collections::BTreeMap;
use std::rc::Rc;

use rustc_hash::FxHashSet;

use crate::doctor::checks::calls::{
    repeated_call, repeated_result, result_before_call, split_server_result, stray_result,
    unanswered_call, unfinished_call,
};
use crate::json::{Edit, decode, encode, lookup};
use crate::session::{self, Session, Standing};
use crate::surgery::{Action, Detail, Excerpt, InsertAt as At, Plan, Refusal, Transform, Words};
use crate::transcript::{Id, Kind, PromptKind};

use super::RepairOptions;
use super::edit::{NewUser, made_uuid, set_parent, uuid};
use crate::ops::BlockRemovals;

/// Gives each call an id of its own.
pub(crate) struct Ids(pub(crate) Rc<RepairOptions>);

impl Transform for Ids {
    fn name(&self) -> &'static str {
        "repair"
    }

    fn rearranges(&self) -> bool {
        true
    }

    fn plan(&self, session: &Session, _: Detail) -> Result<Plan, Refusal> {
        let mut plan = Plan::default();
        if !self.0.wants(&repeated_call::CHECK) {
            return Ok(plan);
        }
        let mut count: BTreeMap<String, usize> = BTreeMap::new();
        for (again, result) in repeated_call::calls(session) {
            let Some(old) = tool_id(session, again, "id") else {
                continue;
            };
            let n = count.entry(old.clone()).or_insert(1);
            *n += 1;
            let fresh = format!("{old}_{n}");
            rename(session, &mut plan, again, "id", &fresh);
            if let Some(result) = result {
                rename(session, &mut plan, result, "tool_use_id", &fresh);
            }
        }
        Ok(plan)
    }
}

fn tool_id(session: &Session, at: session::At, key: &str) -> Option<String> {
    let text = session.text(&session.entries()[at.entry as usize]);
    let inner = session.block(at.block).span.of(text);
    lookup(inner, &[key]).map(|s| decode(s.of(inner)).into_owned())
}

fn rename(session: &Session, plan: &mut Plan, at: session::At, key: &str, fresh: &str) {
    let e = &session.entries()[at.entry as usize];
    let block = session.block(at.block).span;
    let Some(span) = lookup(block.of(session.text(e)), &[key]) else {
        return;
    };
    plan.edit_line(e.line, [Edit::new(span.shift(block.start), encode(fresh))]);
    plan.note(session, e, Action::Edit, "id of a call", 0, 0, "");
}

/// Hangs results behind their calls.
pub(crate) struct Order(pub(crate) Rc<RepairOptions>);

impl Transform for Order {
    fn name(&self) -> &'static str {
        "repair"
    }

    fn rearranges(&self) -> bool {
        true
    }

    fn plan(&self, session: &Session, _: Detail) -> Result<Plan, Refusal> {
        let mut plan = Plan::default();
        if !self.0.wants(&result_before_call::CHECK) {
            return Ok(plan);
        }
        let path = session.graph().path();
        let next = |i: usize| match session.graph().place(i) {
            Standing::Path(p) => path.get(p as usize + 1).map(|&n| n as usize),
            _ => None,
        };
        let mut touched: FxHashSet<usize> = FxHashSet::default();
        for (result, call) in result_before_call::pairs(session) {
            let (Some(behind), after) = (next(result), next(call)) else {
                continue;
            };
            let changed = [Some(result), Some(behind), after];
            if changed.iter().flatten().any(|i| touched.contains(i)) {
                continue;
            }
            touched.extend(changed.iter().flatten());
            let parent = session
                .graph()
                .parent(result)
                .and_then(|p| uuid(session, p));
            set_parent(session, &mut plan, behind, parent.as_deref());
            set_parent(session, &mut plan, result, uuid(session, call).as_deref());
            if let Some(after) = after {
                set_parent(session, &mut plan, after, uuid(session, result).as_deref());
            }
        }
        Ok(plan)
    }
}

/// Takes out what answers nothing, answers twice, or will never be answered.
pub(crate) struct Strays(pub(crate) Rc<RepairOptions>);

impl Transform for Strays {
    fn name(&self) -> &'static str {
        "repair"
    }

    fn rearranges(&self) -> bool {
        true
    }

    fn plan(&self, session: &Session, _: Detail) -> Result<Plan, Refusal> {
        let mut doomed = BlockRemovals::default();
        let mut add = |at: session::At| doomed.add(at);
        if self.0.wants(&repeated_result::CHECK) {
            repeated_result::results(session)
                .into_iter()
                .for_each(&mut add);
        }
        // Answers that lose a call: their thinking is not what was signed.
        let mut losers = FxHashSet::default();
        if self.0.wants(&stray_result::CHECK) {
            let mut seen = FxHashSet::default();
            for result in stray_result::results(session) {
                add(result);
                losers.extend(answer_above(session, result.entry as usize, &mut seen));
            }
        }
        let mut calls = Vec::new();
        if self.0.wants(&unfinished_call::CHECK) {
            calls.extend(unfinished_call::calls(session));
        }
        if self.0.wants(&split_server_result::CHECK) {
            for (call, results) in split_server_result::pairs(session) {
                calls.push(call);
                results.into_iter().for_each(&mut add);
            }
        }
        for call in calls {
            add(call);
            losers.insert(call.entry as usize);
        }
        thinking_of(session, &losers).for_each(add);
        let mut plan = Plan::default();
        doomed.plan(session, &mut plan, |entry, block| {
            let (what, words) = match block.kind {
                kind if kind.is_call() => ("call without a result", Words::Name),
                kind if kind.is_result() => ("result without a call", Words::Content),
                _ => ("thinking", Words::Thinking),
            };
            let gist = Excerpt::of(session, entry, block, words);
            (what.into(), gist)
        });
        Ok(plan)
    }
}

/// The nearest line of an answer above an entry, within the turn; nothing if the way there joins one that was gone.
fn answer_above(session: &Session, entry: usize, seen: &mut FxHashSet<usize>) -> Option<usize> {
    let mut at = entry;
    loop {
        at = session.graph().parent(at)?;
        if !seen.insert(at) {
            return None;
        }
        let e = &session.entries()[at];
        if e.kind == Kind::Assistant {
            return Some(at);
        }
        if e.is_boundary() || e.prompt == PromptKind::Words {
            return None;
        }
    }
}

/// The thinking of the messages that these entries are lines of.
fn thinking_of(session: &Session, entries: &FxHashSet<usize>) -> impl Iterator<Item = session::At> {
    let message = |&i: &usize| session.entries()[i].message_id.some();
    let messages: FxHashSet<Id> = entries.iter().filter_map(message).collect();
    let all = session.entries().iter().enumerate();
    let lines = all.filter(move |(i, e)| entries.contains(i) || messages.contains(&e.message_id));
    lines.flat_map(|(i, e)| {
        (e.blocks.0..e.blocks.1)
            .filter(|&b| session.block(b).kind.is_thinking())
            .map(move |b| session::At {
                entry: i as u32,
                block: b,
            })
    })
}

/// Makes up results for calls that were interrupted.
pub(crate) struct Results(pub(crate) Rc<RepairOptions>);

const INTERRUPTED: &str =
    "[Interrupted: this session holds no result of the call, so its outcome is unknown.]";

impl Transform for Results {
    fn name(&self) -> &'static str {
        "repair"
    }

    fn rearranges(&self) -> bool {
        true
    }

    fn plan(&self, session: &Session, _: Detail) -> Result<Plan, Refusal> {
        let mut plan = Plan::default();
        if !self.0.wants(&unanswered_call::CHECK) {
            return Ok(plan);
        }
        // Calls of one answer are answered together, behind the last of its lines and results.
        let mut groups: BTreeMap<usize, Vec<session::At>> = BTreeMap::new();
        for call in unanswered_call::calls(session) {
            groups
                .entry(behind(session, call.entry as usize))
                .or_default()
                .push(call);
        }
        for (behind, calls) in groups {
            answer(session, &mut plan, behind, &calls);
        }
        Ok(plan)
    }
}

/// The entry behind which the result of a call goes: the last on the path of its answer's lines and
/// their results. A call beside the path gets it on itself.
fn behind(session: &Session, call: usize) -> usize {
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

fn answer(session: &Session, plan: &mut Plan, behind: usize, calls: &[session::At]) {
    let e = &session.entries()[behind];
    let (Some(parent), Some(first)) = (uuid(session, behind), calls.first()) else {
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
    let blocks: Vec<String> = ids
        .iter()
        .map(|id| {
            format!(
                r#"{{"tool_use_id":{},"type":"tool_result","content":{},"is_error":true}}"#,
                encode(id),
                encode(INTERRUPTED)
            )
        })
        .collect();
    let source = uuid(session, first.entry as usize).unwrap_or_default();
    let more = format!(
        r#","toolUseResult":{},"sourceToolAssistantUUID":{}"#,
        encode(&format!("Error: {INTERRUPTED}")),
        encode(&source)
    );
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
    let next = match session.graph().place(behind) {
        Standing::Path(p) => session
            .graph()
            .path()
            .get(p as usize + 1)
            .map(|&n| n as usize),
        _ => None,
    };
    let before = next
        .map_or(e.line + 1, |n| session.entries()[n].line)
        .max(e.line + 1);
    plan.note_insert(
        "result of an interrupted call",
        line.len() + 1,
        content.len(),
        ids.join(", "),
    );
    plan.insert_line(
        if (before as usize) < session.lines().len() {
            At::Before(before)
        } else {
            At::End
        },
        line,
    );
    if let Some(next) = next {
        set_parent(session, plan, next, Some(&fresh));
    }
}
