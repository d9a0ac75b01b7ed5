//! Puts a compaction boundary and a summary before the turns that are kept.

use serde::Deserialize;

use crate::document::LineIx;
use crate::session::{Session, Standing, TurnSpec};
use crate::surgery::{
    Action, ChangeKind, Detail, InsertAt as Spot, Plan, Refusal, RefusalKind, Remedy, Transform,
};
use crate::transcript::{EntryIx, Id, Kind};
use crate::view::prompt_text;
use crate::window::{Calibration, shown_entries};

use super::agents::agents_gone;
use super::compaction_lines::{Compaction, CompactionLines};
use super::digest::digest;
use super::truncate::is_unfinished;

/// The size of a digest where none is asked for.
const DIGEST_TOKENS: usize = 2_800;

/// The bytes that such a digest has at most.
pub(crate) const DIGEST_BYTES: usize = DIGEST_TOKENS * super::digest::BYTES_PER_TOKEN;

/// Compacts the turns before those that are kept.
#[derive(Debug, Clone, PartialEq, Eq, Default, Deserialize)]
#[serde(deny_unknown_fields, rename_all = "kebab-case", default)]
pub struct Compact {
    /// The last turn that is summarised.
    pub at: Option<TurnSpec>,
    /// How many turns are kept, where `at` is not given.
    pub keep_last: Option<u32>,
    /// The summary; a digest of the transcript if `None`.
    pub summary: Option<String>,
    /// The size of the digest.
    pub max_tokens: Option<usize>,
    /// Whether the summarised entries are removed from the file too.
    pub drop_history: bool,
    /// The tokens in the window, where they were counted already.
    #[serde(skip)]
    pub window: Option<u64>,
}

impl Compact {
    /// The last turn that is summarised; 0 if none is.
    pub fn last_summarised(&self, session: &Session) -> Result<u32, Refusal> {
        let count = session.turns().len() as u32;
        match (&self.at, self.keep_last) {
            (Some(at), None) => Ok(at.resolve(session)?),
            (None, Some(keep)) => Ok(count.saturating_sub(keep)),
            _ => Err(Refusal::with(
                RefusalKind::BadOptions,
                "either the last turn to summarise or the number of turns to keep is needed",
                [Remedy::KeepLast(3)],
            )
            .as_usage()),
        }
    }
}

impl Compact {
    /// Returns the summary of the turns up to and including `upto`: the one that was given, or a digest.
    pub fn summary_of(&self, session: &Session, upto: u32) -> Result<String, Refusal> {
        match &self.summary {
            Some(text) if text.trim().is_empty() => Err(Refusal::usage(
                RefusalKind::EmptySummary,
                "the summary is empty",
                "leave it out to get a digest of the transcript",
            )),
            Some(text) => Ok(text.clone()),
            None if self.max_tokens == Some(0) => Err(Refusal::with(
                RefusalKind::EmptySummary,
                "a summary of 0 tokens would be empty",
                [Remedy::MaxTokens(DIGEST_TOKENS)],
            )
            .as_usage()),
            None => {
                let size = self.max_tokens.unwrap_or(DIGEST_TOKENS);
                // The API does not accept NUL characters, which a damaged session may have.
                Ok(digest(session, upto, size).replace('\0', ""))
            }
        }
    }
}

impl Transform for Compact {
    fn name(&self) -> &'static str {
        "compact"
    }

    fn plan(&self, session: &Session, say: Detail) -> Result<Plan, Refusal> {
        let upto = self.last_summarised(session)?;
        let mut plan = Plan::with_detail(say);
        let Some(turn) = session.turns().get(upto) else {
            return Ok(plan);
        };
        let path = session.graph().path();
        let position = turn.path.1;
        if self.is_done(session, position) {
            return Ok(plan);
        }
        refuse_compacted(session, position)?;
        refuse_running(session, upto)?;
        if !self.drop_history {
            refuse_split_message(session, position)?;
        }
        let summary = self.summary_of(session, upto)?;
        hide_before(session, position, &mut plan);
        if self.drop_history {
            drop_history(session, position, |_| false, &mut plan);
            plan.dropped_agents = agents_gone(session, &plan);
        }
        if !self.drop_history && !plan.wants_no_changes() {
            note_hidden(session, position, &mut plan);
        }
        // Messages that the last compaction preserved, and that are kept, stay where they are: the new boundary names them.
        let preserved = preserved_from(session, position);
        let after = position + preserved.len() as u32;
        let first_index = path.get(after as usize).copied();
        let window = self.window;
        let lines = CompactionLines::new(
            session,
            &Compaction {
                first_kept: first_index,
                before: path[position as usize - 1],
                preserved,
                summary: &summary,
                window: window.unwrap_or_else(|| Calibration::of(session).window()),
                history_gone: self.drop_history,
            },
        );
        let spot = match first_index {
            Some(_) => Spot::Before(first_line(session, after)),
            None => Spot::End,
        };
        plan.note_insert(ChangeKind::Boundary, lines.boundary.len() + 1, 0, "");
        plan.note_insert(
            ChangeKind::Summary,
            lines.summary.len() + 1,
            summary.len(),
            summary,
        );
        plan.insert_line(spot, lines.boundary);
        plan.insert_line(spot, lines.summary);
        if let Some(first) = first_index {
            plan.set_parent(first, Some(&lines.summary_uuid));
        }
        if !self.drop_history {
            separate_midstream(session, position, &mut plan);
        }
        drop_leaf_records(session, position, spot, &mut plan);
        Ok(plan)
    }
}

impl Compact {
    /// Whether the model is shown nothing but a summary before the turns that are kept, and that summary may stay.
    fn is_done(&self, session: &Session, position: u32) -> bool {
        let (entries, graph) = (session.entries(), session.graph());
        let window = graph.window_start();
        let Some(&first) = graph.path().get(position as usize) else {
            return false;
        };
        if window == 0 && !entries[graph.path()[0]].is_boundary()
            || window >= position
            || self.drop_history && window > 0
        {
            return false;
        }
        let shown = shown_entries(session);
        let mut before = shown.iter().take_while(|&&i| i != first);
        let mut summary = None;
        let only_summary = before.all(|&i| {
            let e = &entries[i];
            if e.flags.compact_summary() {
                summary = prompt_text(session, e);
            }
            e.flags.compact_summary() || e.is_boundary()
        });
        let unchanged = match (&self.summary, summary) {
            (None, Some(_)) => true,
            (Some(new), Some(old)) => new.trim() == old.trim(),
            (_, None) => false,
        };
        only_summary && unchanged
    }
}

/// Removes records that name an entry from before the new boundary as the leaf, and stand after the boundary in the file:
/// clients from 2.1.46 on would return to that entry. A new record is written at the end of the result.
fn drop_leaf_records(session: &Session, position: u32, spot: Spot, plan: &mut Plan) {
    let Spot::Before(line) = spot else {
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

/// Refuses a boundary before the last one: it would change nothing.
fn refuse_compacted(session: &Session, position: u32) -> Result<(), Refusal> {
    let (graph, turns) = (session.graph(), session.turns());
    let window = graph.window_start();
    let is_first = window == 0 && graph.preserved_end().is_none();
    if is_first || window < position && !ends_with_preserved(session, position) {
        return Ok(());
    }
    // If only preserved messages follow the last compaction, no boundary can stand after it.
    let shown = turns.iter().filter(|t| t.path.0 > window).count() as u32;
    let kept = match graph.preserved_end() {
        Some(end) if end as usize == graph.path().len() => 0,
        _ => shown,
    };
    let rest = match shown {
        0 => "nothing but the summary is".to_owned(),
        1 => "only its last turn is".to_owned(),
        shown => format!("only its last {shown} turns are"),
    };
    Err(Refusal::with(
        RefusalKind::AlreadyCompacted,
        format!("the session was compacted after that: {rest} shown to the model"),
        [if kept > 1 {
            Remedy::KeepLast(kept - 1)
        } else {
            Remedy::Advice("there is nothing left to compact".to_owned())
        }],
    ))
}

/// Whether the messages that the last compaction preserved are kept, and nothing follows them: a client could not
/// continue after a boundary that preserves them again.
fn ends_with_preserved(session: &Session, position: u32) -> bool {
    let end = session.graph().preserved_end();
    end.is_some_and(|end| position < end && end as usize == session.graph().path().len())
}

/// Returns the entries from a position on that the last compaction preserved.
fn preserved_from(session: &Session, position: u32) -> &[EntryIx] {
    let graph = session.graph();
    match graph.preserved_end() {
        Some(end) if position < end => &graph.path()[position as usize..end as usize],
        _ => &[],
    }
}

/// Separates a prompt at a position from the results that it arrived before, which hang on the prompt. Returns whether
/// there are any.
pub(super) fn separate_midstream(session: &Session, position: u32, plan: &mut Plan) -> bool {
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

/// Refuses to summarise calls that still run: they would never get their results.
fn refuse_running(session: &Session, upto: u32) -> Result<(), Refusal> {
    if session.unfinished_turn() != Some(upto) || !is_unfinished(session, upto) {
        return Ok(());
    }
    Err(Refusal::with(
        RefusalKind::UnfinishedTurn,
        format!(
            "turn {upto} is unfinished: it has calls without results, which cannot be summarised"
        ),
        [Remedy::KeepLast(1)],
    ))
}

/// Refuses to hide a part of a message, or results at the end of the file that a prompt arrived before: clients would show
/// them again, together with the rest.
fn refuse_split_message(session: &Session, position: u32) -> Result<(), Refusal> {
    let (before, after) = session.graph().path().split_at(position as usize);
    let is_answer = |i: &&EntryIx| session.heads()[**i].kind == Kind::Assistant;
    let message = |i: &EntryIx| session.entry(*i).message_id;
    let last = before.iter().rfind(is_answer).map(message);
    let next = after.iter().find(is_answer).map(message);
    let graph = session.graph();
    let leaf = graph.leaf().map(|leaf| graph.place(leaf));
    let hides_leaf = matches!(leaf, Some(Standing::Path(p)) if p < position) && !after.is_empty();
    let is_split = last == next && last.is_some_and(Id::is_some);
    if !is_split && !hides_leaf {
        return Ok(());
    }
    let kept = session.turns().len() as u32 + 1 - session.turns().at_position(position);
    Err(Refusal::with(
        "split-message",
        "the first kept prompt arrived while the model was working on the turn before it, so the two cannot be separated",
        [Remedy::KeepLast(kept + 1)],
    ))
}

/// States that the model is no longer shown what stands before a position of the live path.
fn hide_before(session: &Session, position: u32, plan: &mut Plan) {
    let graph = session.graph();
    for (i, entry) in session.numbered() {
        if matches!(graph.place(i), Standing::Path(p) | Standing::Beside(p) if p < position) {
            plan.hide_line(entry.line);
        }
    }
}

/// Returns the first line of the file that belongs to the kept turns.
pub(crate) fn first_line(session: &Session, position: u32) -> LineIx {
    let kept = session.numbered().filter(|&(i, _)| matches!(session.graph().place(i), Standing::Path(p) | Standing::Beside(p) if p >= position));
    kept.map(|(_, e)| e.line).min().unwrap_or_default()
}

/// Records what the model is no longer shown, turn by turn.
fn note_hidden(session: &Session, position: u32, plan: &mut Plan) {
    let mut hidden = vec![0; session.turns().len() + 1];
    for (i, e) in session.numbered() {
        if e.is_message()
            && session.graph().is_shown(i)
            && let Some(turn) = session.turns().of(session.graph(), i)
        {
            hidden[turn as usize] += e.content.len() as i64;
        }
    }
    for turn in session
        .turns()
        .iter()
        .filter(|t| t.path.0 < position && t.path.1 > session.graph().window_start())
    {
        let hidden = hidden[turn.number as usize];
        let e = session.entry(turn.prompt);
        plan.note(
            session,
            e,
            Action::Drop,
            ChangeKind::HiddenFromModel,
            0,
            -hidden,
            prompt_text(session, e).unwrap_or_default(),
        );
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
    for (i, e) in session.numbered() {
        let goes = match session.graph().place(i) {
            Standing::Path(p) | Standing::Beside(p) | Standing::Branch(p) => p < position && !keeps(i),
            Standing::Apart => e.line < first_line && !keeps(i),
            Standing::Metadata => match e.kind {
                Kind::QueueOperation | Kind::ApiRequest | Kind::ApiRequestBlob => e.line < first_line,
                Kind::FileHistorySnapshot | Kind::FileHistoryDelta | Kind::Summary | Kind::LastPrompt => e
                    .refers_to
                    .some()
                    .and_then(|id| session.find(id))
                    .is_some_and(|n| matches!(session.graph().place(n), Standing::Path(p) | Standing::Beside(p) | Standing::Branch(p) if p < position)),
                _ => false,
            },
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
