//! What an operation promised, and whether it kept it: independent of how the operation works.

use std::collections::{BTreeSet, HashSet};

use ccsurgery::document::{Document, LineColumn};
use ccsurgery::ops::{Compact, DropTools, StripThinking, Truncate};
use ccsurgery::session::{Call, Session, Standing, turn_end};
use ccsurgery::surgery::{Detail, Fate, Plan, Refusal, Surgery, Transform, reparent};
use ccsurgery::transcript::{Block, BlockKind, Entry, EntryIx, Id, Kind, PromptKind, Role};
use ccsurgery::window::{Calibration, Message, Overstated, PayloadBlock, payload};
use serde_json::Value;

/// A promise that was broken, in words.
pub(crate) type Verdict = Result<(), String>;

macro_rules! hold {
    ($holds:expr, $($words:tt)+) => {
        if !$holds { return Err(format!($($words)+)); }
    };
}

pub(crate) fn session(bytes: &[u8]) -> Session {
    Session::new(Document::from_bytes(bytes))
}

/// An operation, carried out as the program does it.
struct Done {
    /// Every line's fate, references mended.
    plan: Plan,
    /// What the operation itself made.
    made: Session,
    /// The last record of the window in it, if that is of too much.
    overstated: Option<Overstated>,
    /// The same, ended as clients need it.
    after: Session,
    /// Why the verifier rejects it.
    fault: Option<String>,
}

fn operate(before: &Session, transform: &dyn Transform) -> Result<Option<Done>, Refusal> {
    let mut plan = transform.plan(before, Detail::Full)?;
    if plan.is_empty() {
        return Ok(None);
    }
    reparent(before, &mut plan);
    let document = plan.clone().apply(before).map(|(document, _)| document);
    let made = Session::new(document.expect("a plan that fits itself"));
    let overstated = Calibration::of(before).overstated(&Calibration::of(&made));
    let surgery = Surgery::on(Session::from_bytes(before.document().to_vec())).then(transform);
    let operated = surgery.operate().expect("it was planned before");
    let verified = operated.verify().map_err(|f| f.to_string());
    let after = verified.as_ref().map(|v| Session::from_bytes(v.to_vec()));
    let (after, fault) = match after {
        Ok(after) => (after, None),
        Err(fault) => (Session::default(), Some(fault.clone())),
    };
    Ok(Some(Done {
        plan,
        made,
        overstated,
        after,
        fault,
    }))
}

/// The last answer says what the window is, and no other says anything else than before.
fn usage(before: &Session, done: &Done) -> Verdict {
    let Done {
        made,
        overstated,
        after,
        ..
    } = done;
    let of = |session: &Session, e: &Entry| {
        let line: Value = serde_json::from_slice(session.text(e)).expect("JSON");
        line["message"]["usage"].clone()
    };
    let answer = overstated.map(|o| made.entry(o.entry).message_id);
    // What is put in is metadata, and stands behind all that was there.
    for (was, is) in made.entries().iter().zip(after.entries()) {
        let (old, new) = (of(made, was), of(after, is));
        let changes = answer.is_some_and(|a| a.is_some() && a == was.message_id);
        hold!(old == new || changes, "another usage: {old} is now {new}");
        hold!(
            old["output_tokens"] == new["output_tokens"],
            "another output: {old} is now {new}"
        );
    }
    let (measure, result) = (Calibration::of(before), Calibration::of(after));
    if let Some(overstated) = overstated {
        hold!(
            result.recorded == Some(overstated.window),
            "the record says {:?} instead of {}",
            result.recorded,
            overstated.window
        );
    }
    let again = measure.overstated(&result);
    hold!(
        again.is_none_or(|o| Some(o.window) == overstated.map(|o| o.window)),
        "the record is still too large: {again:?}"
    );
    Ok(())
}

/// One block that the model is shown, but for the line break that sets it off from the next.
#[derive(Debug, Clone, PartialEq)]
struct Inventory {
    /// Results come first in a message, then words, then what the client put in.
    rank: u8,
    json: Value,
}

fn said(session: &Session, block: &PayloadBlock<'_>) -> Inventory {
    let mut json: Value = serde_json::from_slice(&block.json()).expect("JSON");
    if let Some(Value::String(text)) = json.get_mut("text") {
        text.truncate(text.trim_end().len());
    }
    let attached = session.entry(block.entry).kind == Kind::Attachment;
    Inventory {
        rank: match block.kind {
            _ if attached => 2,
            BlockKind::ToolResult => 0,
            _ => 1,
        },
        json,
    }
}

/// Messages with some of their blocks, as the client would then put them together.
fn shown(
    session: &Session,
    messages: &[Message<'_>],
    keeps: impl Fn(&PayloadBlock<'_>) -> bool,
) -> Vec<(&'static str, Vec<Inventory>)> {
    let mut out: Vec<(&'static str, Vec<Inventory>)> = Vec::new();
    for message in messages {
        let blocks = message.blocks.iter().filter(|b| keeps(b));
        let blocks: Vec<Inventory> = blocks.map(|b| said(session, b)).collect();
        if blocks.is_empty() {
            continue;
        }
        match out.last_mut() {
            Some((role, last)) if message.role == Role::User && *role == "user" => {
                last.extend(blocks);
            }
            _ => out.push((message.role.name(), blocks)),
        }
    }
    for (_, blocks) in &mut out {
        blocks.sort_by_key(|b| b.rank);
    }
    out
}

fn all(session: &Session) -> Vec<(&'static str, Vec<Inventory>)> {
    shown(session, &payload(session, None), |_| true)
}

fn same(
    found: Vec<(&'static str, Vec<Inventory>)>,
    wanted: Vec<(&'static str, Vec<Inventory>)>,
) -> Verdict {
    let lines = |all: Vec<(&'static str, Vec<Inventory>)>| {
        let blocks = all.into_iter().flat_map(|(role, blocks)| {
            blocks
                .into_iter()
                .map(move |b| format!("{role} {}", b.json))
        });
        blocks.collect::<Vec<_>>().join("\n")
    };
    if found == wanted {
        return Ok(());
    }
    Err(format!(
        "the model is shown\n{}\ninstead of\n{}",
        lines(found),
        lines(wanted)
    ))
}

/// What holds for every operation. `concerned` says which entries it may edit, `goes` which may go.
fn common(
    before: &Session,
    done: &Done,
    concerned: impl Fn(EntryIx, &Entry) -> bool,
    goes: impl Fn(EntryIx, &Entry) -> bool,
) -> Verdict {
    usage(before, done)?;
    // Where a boundary went, what it hid is shown again, faults and all.
    if done.after.graph().window_start() >= before.graph().window_start() {
        hold!(done.fault.is_none(), "{:?}", done.fault);
    }
    lines(before, done, concerned, goes)?;
    let dangling = |s: &Session| -> BTreeSet<String> {
        let lost = s
            .entries()
            .iter()
            .filter(|e| e.is_chained() && e.parent.is_some() && s.find(e.parent).is_none());
        lost.filter_map(|e| s.string(e, &["parentUuid"])).collect()
    };
    let new: Vec<String> = dangling(&done.after)
        .difference(&dangling(before))
        .cloned()
        .collect();
    hold!(new.is_empty(), "parents that are nowhere: {new:?}");
    Ok(())
}

/// Lines that the operation is not about are where they were, byte for byte.
fn lines(
    before: &Session,
    done: &Done,
    concerned: impl Fn(EntryIx, &Entry) -> bool,
    goes: impl Fn(EntryIx, &Entry) -> bool,
) -> Verdict {
    usage(before, done)?;
    let kept: HashSet<Id> = done.made.entries().iter().map(|e| e.uuid).collect();
    let gone: Vec<String> = before
        .entries()
        .iter()
        .filter(|e| e.uuid.is_some() && !kept.contains(&e.uuid))
        .filter_map(|e| before.string(e, &["uuid"]))
        .collect();
    let made = done.made.document();
    let mut rest = made.numbers();
    let mut number = LineColumn::filled(None, before.lines().len());
    for (i, e) in before.numbered() {
        number[e.line] = Some(i);
    }
    for (line, &entry) in before.document().numbers().zip(number.values()) {
        let text = before.document().text(line);
        let words = String::from_utf8_lossy(text);
        match (done.plan.fate(line), entry) {
            (None, _) => hold!(
                rest.any(|l| made.text(l) == text),
                "lost or changed: {words}"
            ),
            (Some(Fate::Drop), Some(i)) => {
                hold!(goes(i, before.entry(i)), "gone without need: {words}");
            }
            (Some(Fate::Drop), None) => hold!(
                goes(EntryIx::new(before.entries().len()), &before.entries()[0]),
                "gone unread: {words}"
            ),
            (Some(Fate::Edit(_)), Some(i)) => {
                let joined = parent_in(&done.made, before.entry(i)).is_some_and(|p| {
                    before.find(p).is_some_and(|p| {
                        let parent = before.entry(p);
                        parent.kind == Kind::User && concerned(p, parent)
                    })
                });
                let about = bridged(before, &done.plan, i)
                    || joined
                    || concerned(i, before.entry(i))
                    || gone.iter().any(|g| words.contains(g));
                hold!(about, "edited without need: {words}");
            }
            (Some(Fate::Edit(_)), None) => return Err(format!("edited unread: {words}")),
        }
    }
    Ok(())
}

/// The parent of an entry in a result.
fn parent_in(made: &Session, e: &Entry) -> Option<Id> {
    let at = made.find(e.uuid.some()?)?;
    made.entry(at).parent.some()
}

/// Whether an entry's parent is nowhere, and the entry goes at which clients went on instead.
fn bridged(before: &Session, plan: &Plan, entry: EntryIx) -> bool {
    let (graph, entries) = (before.graph(), before.entries());
    let lost = entries[entry].parent.is_some() && graph.parent(entry).is_none();
    let Standing::Path(p) = graph.place(entry) else {
        return false;
    };
    lost && p > 0 && plan.drops(entries[graph.path()[p as usize - 1]].line)
}

/// The live path ends where it did, or at the nearest that is left.
fn leaf(before: &Session, after: &Session, upto: usize) -> Verdict {
    let path = before.graph().path()[..upto]
        .iter()
        .map(|&i| before.entry(i));
    let nearest = path
        .filter(|e| e.is_message())
        .rfind(|e| after.find(e.uuid).is_some());
    let wanted = nearest.and_then(|e| before.string(e, &["uuid"]));
    let last = after.graph().path().iter().rev().map(|&i| after.entry(i));
    let found = last
        .into_iter()
        .find(|e| e.is_message())
        .and_then(|e| after.string(e, &["uuid"]));
    // What was beside the path, as a parallel call's result is, may be its end now.
    let beside = found
        .as_ref()
        .and_then(|f| before.find(Id::of(f.as_bytes())));
    let beside = beside.is_some_and(
        |i| matches!(before.graph().place(i), Standing::Beside(p) if (p as usize) < upto),
    );
    // A prompt that arrived before the last results follows them on the path, and they hang on it.
    let leaf = after.graph().leaf().map(|i| after.entry(i));
    let leaf = leaf.and_then(|e| after.string(e, &["uuid"]));
    hold!(
        found == wanted || leaf == wanted || beside,
        "the leaf is {found:?} instead of {wanted:?}"
    );
    Ok(())
}

/// The second time there is nothing to do.
fn once(after: &Session, transform: &dyn Transform) -> Verdict {
    let again = transform
        .plan(after, Detail::Full)
        .map_err(|r| format!("refused the second time: {r}"))?;
    hold!(again.is_empty(), "the second time: {:?}", again.changes);
    Ok(())
}

/// The last turn, where its calls await results or its last result awaits the model.
fn unfinished(session: &Session) -> Option<u32> {
    let last = session.entry(session.graph().leaf()?);
    let blocks = session.blocks(last);
    let open = |b: &Block| {
        b.kind == BlockKind::ToolUse
            && session
                .calls()
                .find(b.tool)
                .is_some_and(|c| c.results.is_empty())
    };
    let waits = match last.kind {
        Kind::User => {
            last.prompt == PromptKind::None
                && blocks.iter().any(|b| b.kind == BlockKind::ToolResult)
        }
        _ => {
            let of_message = session
                .entries()
                .iter()
                .filter(|e| e.message_id == last.message_id);
            of_message.flat_map(|e| session.blocks(e)).any(open)
        }
    };
    waits
        .then_some(session.turns().len() as u32)
        .filter(|&n| n > 0)
}

fn turn_of(session: &Session, entry: EntryIx) -> Option<u32> {
    session.turns().of(session.graph(), entry)
}

/// Thinking goes, and nothing else.
pub(crate) fn strip_thinking(before: &Session, options: &StripThinking) -> Verdict {
    let kept_turns = options.keep_last.map_or(u32::MAX, |n| {
        (before.turns().len() as u32).saturating_sub(n)
    });
    let spared = unfinished(before);
    let stays = |entry: EntryIx| {
        let turn = turn_of(before, entry);
        turn.is_some_and(|t| t > kept_turns) || spared.is_some() && turn == spared
    };
    let Some(done) = operate(before, options).map_err(|r| r.to_string())? else {
        let left = payload(before, None)
            .iter()
            .flat_map(|m| &m.blocks)
            .any(|b| b.kind.is_thinking() && !stays(b.entry));
        hold!(!left, "there was something to do");
        return Ok(());
    };
    let thinks = |_: EntryIx, e: &Entry| {
        before.blocks(e).iter().any(|b| b.kind.is_thinking()) || e.kind == Kind::ApiRequestBlob
    };
    common(before, &done, thinks, |_, e| {
        e.kind == Kind::ApiRequestBlob || before.blocks(e).iter().all(|b| b.kind.is_thinking())
    })?;
    let wanted = shown(before, &payload(before, None), |b| {
        !b.kind.is_thinking() || stays(b.entry)
    });
    same(all(&done.after), wanted)?;
    leaf(before, &done.after, before.graph().path().len())?;
    once(&done.after, options)
}

fn name(session: &Session, call: &Call) -> String {
    let block: Value = call
        .uses
        .first()
        .map(|u| {
            let text = session.text(session.entry(u.entry));
            serde_json::from_slice(session.block(u.block).span.of(text)).expect("JSON")
        })
        .unwrap_or_default();
    block["name"].as_str().unwrap_or_default().to_owned()
}

/// The calls that are chosen by tools' names or ids.
fn chosen<'a>(before: &'a Session, options: &DropTools) -> Vec<&'a Call> {
    let spared = unfinished(before);
    let ids: Vec<Id> = options.id.iter().map(|i| Id::of(i.as_bytes())).collect();
    let calls = before.calls().iter().filter(|c| !c.uses.is_empty());
    calls
        .filter(|c| options.tool.is_empty() || options.tool.contains(&name(before, c)))
        .filter(|c| {
            if ids.is_empty() {
                spared.is_none() || turn_of(before, c.uses[0].entry) != spared
            } else {
                ids.contains(&c.id)
            }
        })
        .collect()
}

/// The chosen calls go with their results and the thinking that they are signed with, and nothing else.
pub(crate) fn drop_tools(before: &Session, options: &DropTools) -> Verdict {
    let calls = chosen(before, options);
    let done = match operate(before, options) {
        // A call of a turn that is at work goes only by name, and not if that cuts others off.
        Err(refusal) if refusal.kind == "unfinished-turn" => {
            let named = !options.id.is_empty() && unfinished(before).is_some();
            hold!(named, "refused: {refusal}");
            return Ok(());
        }
        done => done.map_err(|r| r.to_string())?,
    };
    let Some(done) = done else {
        hold!(calls.is_empty(), "there was something to do");
        return Ok(());
    };
    let ids: HashSet<Id> = calls.iter().map(|c| c.id).collect();
    let messages: HashSet<Id> = calls
        .iter()
        .flat_map(|c| &c.uses)
        .filter_map(|u| before.entry(u.entry).message_id.some())
        .collect();
    let goes = |e: &Entry, kind: BlockKind, tool: Id| {
        (kind.is_call() || kind.is_result()) && ids.contains(&tool)
            || kind.is_thinking() && messages.contains(&e.message_id)
    };
    let block_goes = |e: &Entry, b: &Block| goes(e, b.kind, b.tool);
    let own = |e: &Entry| {
        matches!(
            e.kind,
            Kind::Progress | Kind::Attachment | Kind::System | Kind::ApiRequestBlob
        )
    };
    common(
        before,
        &done,
        |_, e| own(e) || before.blocks(e).iter().any(|b| block_goes(e, b)),
        |_, e| {
            own(e)
                || before.string(e, &["sourceToolUseID"]).is_some()
                || before.blocks(e).iter().all(|b| block_goes(e, b))
        },
    )?;
    let wanted = shown(before, &payload(before, None), |b| {
        let e = before.entry(b.entry);
        !(goes(e, b.kind, b.tool) || b.is_made_up() && ids.contains(&b.tool))
    });
    same(all(&done.after), wanted)?;
    leaf(before, &done.after, before.graph().path().len())?;
    if options.id.is_empty() {
        once(&done.after, options)?;
    }
    Ok(())
}

/// The outputs of the chosen calls become notes, and nothing else changes.
pub(crate) fn stub(before: &Session, options: &DropTools) -> Verdict {
    let ids: HashSet<Id> = chosen(before, options).iter().map(|c| c.id).collect();
    let Some(done) = operate(before, options).map_err(|r| r.to_string())? else {
        return Ok(());
    };
    common(
        before,
        &done,
        |_, e| {
            before
                .blocks(e)
                .iter()
                .any(|b| b.kind.is_result() && ids.contains(&b.tool))
                || before.string(e, &["sourceToolUseID"]).is_some()
        },
        |_, _| false,
    )?;
    let (was, is) = (payload(before, None), payload(&done.after, None));
    let blocks = |m: &[Message<'_>]| {
        m.iter()
            .map(|m| (m.role, m.blocks.len()))
            .collect::<Vec<_>>()
    };
    hold!(blocks(&was) == blocks(&is), "not the same blocks");
    for (old, new) in was
        .iter()
        .flat_map(|m| &m.blocks)
        .zip(is.iter().flat_map(|m| &m.blocks))
    {
        let (was, is) = (said(before, old).json, said(&done.after, new).json);
        if was == is {
            continue;
        }
        let e = before.entry(old.entry);
        let may = old.kind == BlockKind::ToolResult && ids.contains(&old.tool)
            || before.string(e, &["sourceToolUseID"]).is_some();
        hold!(may, "changed: {was} to {is}");
        hold!(
            is.to_string().contains("[ccsurgery removed "),
            "no note: {is}"
        );
        hold!(is.to_string().len() < was.to_string().len(), "larger: {is}");
        hold!(
            is["tool_use_id"] == was["tool_use_id"] && is["is_error"] == was["is_error"],
            "{is}"
        );
    }
    leaf(before, &done.after, before.graph().path().len())?;
    once(&done.after, options)
}

/// What is left is what the model was shown at the end of that turn.
pub(crate) fn truncate(before: &Session, at: u32) -> Verdict {
    let options = Truncate { at: at.into() };
    let turn = before.turns().get(at).copied().ok_or("no such turn")?;
    let end = turn_end(before, &turn) as usize;
    let done = match operate(before, &options) {
        Ok(Some(done)) => done,
        Ok(None) => {
            hold!(
                end == before.graph().path().len(),
                "there was something to do"
            );
            return Ok(());
        }
        Err(refusal) => {
            hold!(refusal.kind == "unfinished-turn", "refused: {refusal}");
            let open = before.calls().iter().any(|c| {
                c.results.is_empty() && c.uses.iter().any(|u| turn_of(before, u.entry) == Some(at))
            });
            hold!(open, "refused though every call has its result");
            return Ok(());
        }
    };
    common(before, &done, |_, _| false, |_, _| true)?;
    let turns = done.after.turns().len();
    hold!(turns == at as usize, "{turns} turns instead of {at}");
    leaf(before, &done.after, end)?;
    let wanted = shown(before, &payload(before, Some(at)), |_| true);
    same(all(&done.after), wanted)?;
    once(&done.after, &options)
}

/// The model is shown the summary and the kept turns, once each, and nothing else of the past.
pub(crate) fn compact(before: &Session, options: &Compact) -> Verdict {
    let upto = match options.cut(before) {
        Ok(cut) => cut.map_or(0, ccsurgery::ops::Cut::turn),
        Err(refusal) if refusal.kind == "unfinished-turn" => unfinished(before).unwrap_or(0),
        Err(_) => return Err("no such turn".to_owned()),
    };
    let done = match operate(before, options) {
        Ok(Some(done)) => done,
        Ok(None) => {
            // Only a summary stands before the turns that are kept.
            let blocks = payload(before, None);
            let mut earlier = blocks
                .iter()
                .flat_map(|m| &m.blocks)
                .filter(|b| turn_of(before, b.entry).is_none_or(|turn| turn <= upto));
            let is_summary = |entry: EntryIx| before.entry(entry).flags.compact_summary();
            hold!(
                upto == 0 || earlier.all(|b| is_summary(b.entry)),
                "there was something to do"
            );
            return Ok(());
        }
        Err(refusal) => {
            let running = refusal.kind == "unfinished-turn" && unfinished(before) == Some(upto);
            hold!(
                running || refusal.kind == "already-compacted",
                "refused: {refusal}"
            );
            return Ok(());
        }
    };
    let path = before.graph().path();
    let position = before.turns().get(upto).map_or(0, |t| t.path.1 as usize);
    let first = path.get(position).copied();
    common(
        before,
        &done,
        |i, _| Some(i) == first,
        |_, _| options.drop_history,
    )?;
    // What the system says is joined across turns; it is looked at by itself.
    let (was, is) = (payload(before, None), payload(&done.after, None));
    let (was, mut told): (Vec<_>, Vec<_>) = was.into_iter().partition(|m| m.role != Role::System);
    let (is, tells): (Vec<_>, Vec<_>) = is.into_iter().partition(|m| m.role != Role::System);
    for message in tells {
        let words = said(&done.after, &message.blocks[0]).json["text"].to_string();
        let at = told.iter().position(|m| {
            said(before, &m.blocks[0]).json["text"]
                .to_string()
                .contains(words.trim_matches('"'))
        });
        hold!(at.is_some(), "the system says {words}");
        told.drain(..=at.unwrap_or_default());
    }
    let rest = shown(before, &was, |b| {
        turn_of(before, b.entry).is_some_and(|t| t > upto)
    });
    let found = shown(&done.after, &is, |_| true);
    let summary = found
        .first()
        .and_then(|(_, blocks)| blocks.iter().find(|b| b.rank == 1))
        .map(|b| b.json["text"].clone());
    let summary = summary
        .and_then(|t| t.as_str().map(str::to_owned))
        .unwrap_or_default();
    if let Some(own) = &options.summary {
        hold!(&summary == own, "the summary is {summary:?}");
    }
    let mut wanted = vec![(
        "user",
        vec![Inventory {
            rank: 1,
            json: serde_json::json!({"type": "text", "text": summary}),
        }],
    )];
    for (role, blocks) in rest {
        match wanted.last_mut() {
            Some((last, own)) if *last == role && role == "user" => own.extend(blocks),
            _ => wanted.push((role, blocks)),
        }
    }
    for (_, blocks) in &mut wanted {
        blocks.sort_by_key(|b| b.rank);
    }
    same(found, wanted)?;
    if first.is_some() {
        leaf(before, &done.after, path.len())?;
    }
    if options.drop_history {
        let kept = before.turns().len() as u32 - upto;
        hold!(
            done.after.turns().len() as u32 == kept,
            "{} turns are left",
            done.after.turns().len()
        );
    }
    Ok(())
}
