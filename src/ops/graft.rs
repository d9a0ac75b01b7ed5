//! Inserts turns of another session, or of an abandoned branch.

use crate::json::{Edit, apply_edits, encode, lookup};
use crate::session::{Session, TurnSpec, turn_end};
use crate::surgery::{
    ChangeKind, Detail, Faults, InsertAt, Plan, Refusal, RefusalKind, Transform, parent_edit,
    session_id,
};
use crate::transcript::{Entry, EntryColumn, EntryIx, Id, Kind, format_timestamp};
use crate::view::prompt_text;
use crate::window::{end_of_conversation, shown_entries};

use super::compact::{first_line, separate_midstream};
use super::graft_donor::Donor;
use super::graft_times::Gap;
use super::truncate::{is_unfinished, name_of_turn};
use super::window_limit::warn_of_window;

/// Inserts turns after a turn, or at the end of the conversation.
#[derive(Debug)]
pub struct Graft {
    /// The turns.
    pub donor: Donor,
    /// The turn that they are inserted after; the last one if `None`.
    pub at: Option<TurnSpec>,
}

impl Transform for Graft {
    fn name(&self) -> &'static str {
        "graft"
    }

    fn plan(&self, session: &Session, detail: Detail) -> Result<Plan, Refusal> {
        let mut plan = Plan::with_detail(detail);
        let donor = &self.donor.session;
        let place = Place::of(session, self.at.as_ref(), &mut plan)?;
        place.refuse_unfinished(donor)?;
        let (Some(root), Some(end)) = (donor.graph().path().first(), end_of_conversation(donor))
        else {
            return Ok(plan);
        };
        for text in self.lines(*root, &place) {
            plan.insert_line(place.spot, text);
        }
        if let Some(next) = place.next {
            plan.set_parent(next, donor.uuid(donor.entry(end)).as_deref());
        } else if session.explicit_leaf().is_some() {
            name_leaf(session, donor, &mut plan);
        }
        let shown = shown_entries(donor).into_iter();
        let uuids = shown.map(|i| donor.entry(i).uuid);
        let uuids = uuids.filter(|id| id.is_some());
        plan.expect_shown(place.position, uuids.collect::<Vec<Id>>());
        plan.bring_faults(Faults::of(donor));
        note_turns(donor, &mut plan);
        if self.donor.messages_without_thinking > 0 {
            plan.warnings.push(
                "the session has some of these calls already: they get new ids, and the thinking of their messages is removed, because its signature does not fit them".to_owned(),
            );
        }
        warn_of_window(session, &mut plan);
        Ok(plan)
    }
}

impl Graft {
    /// Returns the lines that are inserted, with the parent and the times that fit their place.
    fn lines(&self, root: EntryIx, place: &Place) -> Vec<Vec<u8>> {
        let donor = &self.donor.session;
        let mut edits: EntryColumn<Vec<Edit>> =
            EntryColumn::filled(Vec::new(), donor.entries().len());
        let text = donor.text(donor.entry(root));
        edits[root].push(parent_edit(text, place.parent.as_deref()));
        for (i, parent) in lost_parents(donor) {
            let text = donor.text(donor.entry(i));
            edits[i].push(parent_edit(text, donor.uuid(parent).as_deref()));
        }
        for (i, time) in place.gap.times(donor) {
            let text = donor.text(donor.entry(i));
            if let Some(span) = lookup(text, &["timestamp"]) {
                edits[i].push(Edit::new(span, encode(&format_timestamp(time))));
            }
        }
        let lines = donor
            .entries()
            .iter()
            .zip(edits.values_mut())
            .map(|(e, edits)| {
                edits.sort_by_key(|edit| edit.span.start);
                let text = donor.text(e);
                apply_edits(text, edits).unwrap_or_else(|_| text.to_vec())
            });
        lines.collect()
    }
}

/// Where turns are inserted.
struct Place {
    /// The position of the live path that they come before.
    position: u32,
    /// The uuid of the entry that they follow.
    parent: Option<String>,
    /// The entry that follows them, if there is one.
    next: Option<EntryIx>,
    /// Where their lines are put.
    spot: InsertAt,
    gap: Gap,
}

impl Place {
    /// Finds the place after a turn. If the prompt that follows it arrived before the turn's last results, they are
    /// separated.
    fn of(session: &Session, at: Option<&TurnSpec>, plan: &mut Plan) -> Result<Self, Refusal> {
        let path = session.graph().path();
        let Some(at) = at else {
            return Self::end(session);
        };
        let number = at.resolve(session)?;
        let turn = session.turns().get(number);
        let position = turn.map_or(path.len() as u32, |turn| turn_end(session, turn));
        let Some(&next) = path.get(position as usize) else {
            return Self::end(session);
        };
        refuse_hidden(session, position, number)?;
        // A prompt can follow results that the model has not answered yet. Clients continue from these results.
        if is_unfinished(session, number) || session.unfinished_turn() == Some(number) {
            return Err(unfinished(number));
        }
        let before = position.checked_sub(1).map(|p| path[p as usize]);
        let parent = if separate_midstream(session, position, plan) {
            before
        } else {
            session.graph().parent(next).or(before)
        };
        let time = |&i: &EntryIx| Some(session.entry(i).time).filter(|t| *t > i64::MIN);
        let (earlier, later) = path.split_at(position as usize);
        Ok(Self {
            position,
            parent: parent.and_then(|i| session.uuid(session.entry(i))),
            next: Some(next),
            spot: InsertAt::Before(first_line(session, position)),
            gap: Gap {
                after: earlier.iter().filter_map(time).max().unwrap_or(i64::MIN),
                before: later.iter().filter_map(time).min(),
            },
        })
    }

    fn end(session: &Session) -> Result<Self, Refusal> {
        if let Some(number) = session.unfinished_turn() {
            return Err(unfinished(number));
        }
        let parent = end_of_conversation(session);
        let chained = session.entries().iter().filter(|e| e.is_chained());
        Ok(Self {
            position: session.graph().path().len() as u32,
            parent: parent.and_then(|i| session.uuid(session.entry(i))),
            next: None,
            spot: InsertAt::End,
            gap: Gap {
                after: chained.map(|e| e.time).max().unwrap_or(i64::MIN),
                before: None,
            },
        })
    }

    /// Refuses turns with calls that still run, unless nothing follows them.
    fn refuse_unfinished(&self, donor: &Session) -> Result<(), Refusal> {
        match (donor.unfinished_turn(), self.next) {
            (Some(_), Some(_)) => Err(Refusal::new(
                RefusalKind::UnfinishedTurn,
                "the last of the turns to insert is unfinished, so nothing can follow it",
                "leave that turn out, or insert it at the end",
            )),
            _ => Ok(()),
        }
    }
}

fn unfinished(number: u32) -> Refusal {
    Refusal::new(
        RefusalKind::UnfinishedTurn,
        format!(
            "{} is unfinished: nothing can follow calls before the model has answered their results",
            name_of_turn(number)
        ),
        "choose an earlier turn, or let Claude Code finish it first",
    )
}

/// Refuses a place that a compaction hides from the model, and one among messages that it preserves.
fn refuse_hidden(session: &Session, position: u32, number: u32) -> Result<(), Refusal> {
    let graph = session.graph();
    let window = graph.window_start();
    let compacted = session.flags_of_any().boundary();
    if compacted && window > 0 && position <= window {
        return Err(Refusal::new(
            RefusalKind::AlreadyCompacted,
            format!(
                "turn {number} is before a compaction, so the model would not be shown the new turns"
            ),
            "choose a turn after it, or take the compaction back first with: ccsurgery uncompact",
        ));
    }
    if graph.preserved_end().is_some_and(|end| position < end) {
        return Err(Refusal::new(
            RefusalKind::AlreadyCompacted,
            format!("turn {number} is among the messages that a compaction preserved"),
            "choose a later turn, or take the compaction back first with: ccsurgery uncompact",
        ));
    }
    Ok(())
}

/// Returns the entries of the path whose parent is missing, each with the entry that clients continue with instead. They
/// find it by its time, and among the entries of another session that may be another.
fn lost_parents(donor: &Session) -> Vec<(EntryIx, &Entry)> {
    let entry = |i: EntryIx| donor.entry(i);
    let pairs = donor.graph().path().windows(2);
    let pairs = pairs.map(|pair| (pair[1], entry(pair[0])));
    let lost = pairs.filter(|(i, _)| donor.graph().parent(*i).is_none());
    lost.collect()
}

/// Adds a record that names the new leaf, if an earlier one sends clients to the old one.
fn name_leaf(session: &Session, donor: &Session, plan: &mut Plan) {
    let leaf = donor.graph().leaf();
    let Some(uuid) = leaf.and_then(|i| donor.uuid(donor.entry(i))) else {
        return;
    };
    let line = format!(
        r#"{{"type":"last-prompt","leafUuid":{},"sessionId":{}}}"#,
        encode(&uuid),
        encode(&session_id(session))
    );
    plan.note_insert(ChangeKind::LastPrompt, line.len() + 1, 0, "");
    plan.insert_line(InsertAt::End, line);
}

/// Records the inserted turns, and the lines that come with them.
fn note_turns(donor: &Session, plan: &mut Plan) {
    if plan.wants_no_changes() {
        return;
    }
    let graph = donor.graph();
    let mut turns = vec![(0, 0); donor.turns().len() + 1];
    let mut snapshots = 0;
    for (i, e) in donor.numbered() {
        let bytes = donor.text(e).len() + 1;
        if matches!(e.kind, Kind::FileHistorySnapshot | Kind::FileHistoryDelta) {
            snapshots += bytes;
            continue;
        }
        let number = donor.turns().of(graph, i).unwrap_or(0).max(1) as usize;
        if let Some(turn) = turns.get_mut(number) {
            turn.0 += bytes;
            let is_shown = e.is_message() && graph.is_shown(i);
            turn.1 += if is_shown { e.content.len() } else { 0 };
        }
    }
    for turn in donor.turns().iter() {
        let e = donor.entry(turn.prompt);
        let (bytes, shown) = turns[turn.number as usize];
        let words = prompt_text(donor, e).unwrap_or_default();
        plan.note_insert(ChangeKind::Turn, bytes, shown, words);
    }
    if snapshots > 0 {
        plan.note_insert(ChangeKind::Metadata, snapshots, 0, "");
    }
}
