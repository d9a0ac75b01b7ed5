//! What becomes of the entries that are summarised: the model is no longer shown them, or they are removed from the file.

use crate::document::LineIx;
use crate::session::{Session, Standing};
use crate::surgery::{Action, ChangeKind, InsertAt, Plan};
use crate::transcript::{EntryIx, Kind};
use crate::view::prompt_text;

/// States that the model is no longer shown what stands before a position of the live path.
pub(super) fn hide_before(session: &Session, position: u32, plan: &mut Plan) {
    for (i, entry) in session.numbered() {
        if matches!(place(session, i), Standing::Path(p) | Standing::Beside(p) if p < position) {
            plan.hide_line(entry.line);
        }
    }
}

/// Returns the standing of an entry as clients know it: all copies of a line stay or are removed together.
fn place(session: &Session, entry: EntryIx) -> Standing {
    let graph = session.graph();
    graph.place(graph.known_as(session.entries(), entry))
}

/// Returns the first line of the file that belongs to the kept turns.
pub(crate) fn first_line(session: &Session, position: u32) -> LineIx {
    let kept = session.numbered().filter(|&(i, _)| matches!(place(session, i), Standing::Path(p) | Standing::Beside(p) if p >= position));
    kept.map(|(_, e)| e.line).min().unwrap_or_default()
}

/// Returns the entry from which the parents lead up through everything before a position of the live path.
///
/// That is the entry before the position, unless a prompt arrived before the last results there: these hang on the prompt
/// that follows them on the path.
pub(super) fn end_of_history(session: &Session, position: u32) -> EntryIx {
    let graph = session.graph();
    let path = graph.path();
    let before = path[position as usize - 1];
    let Some(stretch) = graph.midstream().iter().find(|s| s.1 == position) else {
        return before;
    };
    let end = match path.get(position as usize) {
        Some(&next) => graph.parent(next),
        None => graph.leaf(),
    };
    let is_inside = |i: &EntryIx| matches!(graph.place(*i), Standing::Path(p) if stretch.0 <= p && p < stretch.1);
    end.filter(is_inside).unwrap_or(before)
}

/// Records what the model is no longer shown, turn by turn.
pub(super) fn note_hidden(session: &Session, position: u32, plan: &mut Plan) {
    let (graph, turns) = (session.graph(), session.turns());
    let mut hidden = vec![0; turns.len() + 1];
    for (i, e) in session.numbered() {
        if let Standing::Path(p) | Standing::Beside(p) = graph.place(i)
            && p < position
            && e.is_message()
            && graph.is_shown(i)
        {
            hidden[turns.at_position(p) as usize] += e.content.len() as i64;
        }
    }
    let is_touched = |path: (u32, u32)| path.0 < position && path.1 > graph.window_start();
    for turn in turns.iter().filter(|turn| is_touched(turn.path)) {
        let what = if turn.path.1 <= position {
            ChangeKind::HiddenFromModel
        } else {
            ChangeKind::PartHiddenFromModel
        };
        let hidden = hidden[turn.number as usize];
        let e = session.entry(turn.prompt);
        let gist = prompt_text(session, e).unwrap_or_default();
        plan.note(session, e, Action::Drop, what, 0, -hidden, gist);
    }
}

/// Removes the conversation before a position, and the metadata that belongs to it, except for entries that `keeps` names.
pub(crate) fn drop_history(
    session: &Session,
    position: u32,
    keeps: impl Fn(EntryIx) -> bool,
    plan: &mut Plan,
) {
    let first_line = if (position as usize) < session.graph().path().len() {
        first_line(session, position)
    } else {
        LineIx::MAX
    };
    let is_before = |standing: Standing| matches!(standing, Standing::Path(p) | Standing::Beside(p) | Standing::Branch(p) if p < position);
    for (i, e) in session.numbered() {
        let known = session.graph().known_as(session.entries(), i);
        let goes = match session.graph().place(known) {
            Standing::Apart => e.line < first_line && !keeps(known),
            Standing::Metadata => match e.kind {
                Kind::QueueOperation | Kind::ApiRequest | Kind::ApiRequestBlob => {
                    e.line < first_line
                }
                Kind::FileHistorySnapshot
                | Kind::FileHistoryDelta
                | Kind::Summary
                | Kind::LastPrompt => {
                    let named = e.refers_to.some().and_then(|id| session.find(id));
                    named.is_some_and(|n| is_before(session.graph().place(n)))
                }
                _ => false,
            },
            standing => is_before(standing) && !keeps(known),
        };
        if goes {
            plan.drop_line(e.line);
        }
        if goes && !plan.wants_no_changes() {
            let shown = if session.graph().is_shown(i) && e.is_message() {
                -(e.content.len() as i64)
            } else {
                0
            };
            let gist = if e.is_message() && shown != 0 {
                prompt_text(session, e).unwrap_or_default()
            } else {
                String::new()
            };
            plan.note(
                session,
                e,
                Action::Drop,
                ChangeKind::History,
                -(session.text(e).len() as i64 + 1),
                shown,
                gist,
            );
        }
    }
}

/// Removes records that name an entry from before the new boundary as the leaf, and stand after the boundary in the file:
/// clients from 2.1.46 on would return to that entry. A new record is written at the end of the result.
pub(super) fn drop_leaf_records(session: &Session, position: u32, spot: InsertAt, plan: &mut Plan) {
    let InsertAt::Before(line) = spot else {
        return;
    };
    let records = session
        .entries()
        .iter()
        .filter(|e| e.kind == Kind::LastPrompt);
    for e in records.filter(|e| e.line >= line) {
        let named = e.refers_to.some().and_then(|id| session.find(id));
        let before = named.is_some_and(|n| {
            matches!(session.graph().place(n), Standing::Path(p) | Standing::Beside(p) | Standing::Branch(p) if p < position)
        });
        if before && !plan.drops(e.line) {
            plan.drop_entry(session, e, ChangeKind::LastPrompt);
        }
    }
}

/// Separates a prompt at a position from the results that it arrived before, which hang on the prompt. Returns whether
/// there are any.
pub(in crate::ops) fn separate_midstream(
    session: &Session,
    position: u32,
    plan: &mut Plan,
) -> bool {
    let graph = session.graph();
    let inside = |stretch: &&(u32, u32)| stretch.0 < position && position < stretch.1;
    let Some(&(from, to)) = graph.midstream().iter().find(inside) else {
        return false;
    };
    for pair in from.max(1)..=to {
        let path = graph.path();
        let (Some(&before), Some(&at)) = (path.get(pair as usize - 1), path.get(pair as usize))
        else {
            continue;
        };
        if pair != position && graph.parent(at) != Some(before) {
            let uuid = session.uuid(session.entry(before));
            plan.set_parent(at, uuid.as_deref());
        }
    }
    true
}
