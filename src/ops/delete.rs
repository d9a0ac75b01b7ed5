//! Deletes turns, messages, or the content that a selector matches.

use rustc_hash::FxHashSet;

use crate::session::{At, Session, Standing, turn_end};
use crate::surgery::{ChangeKind, Detail, Excerpt, Plan, Refusal, RefusalKind, Transform, Words};
use crate::transcript::{Block, BlockIx, BlockKind, Entry, EntryIx, Id, Kind};

use super::agents::agents_gone;
use super::delete_preserved::keep_preserved;
use super::deleted_traces::{Lines, drop_traces, warn_of_written_files};
use super::drop_tools::{doom_thinking, drop_companions, drop_field};
use super::placeholder::{prompt_for, replace_prompt};
use super::queued_prompts::keep_in_place;
use super::removals::{BlockRemovals, Copies, holds_copies, remove_copies};
use super::selector::{Selection, Selector, block_text};
use super::truncate::{Truncate, name_of_turn, note as note_removed};

/// How many characters of a deleted text the preview may need.
const EXCERPT: usize = 600;

/// Deletes turns or messages, together with everything that belongs to them.
///
/// A call and its result are deleted together, and a message that changes loses its thinking, because a signature
/// covers the whole message.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Delete {
    /// What is deleted.
    pub selector: Selector,
}

impl Transform for Delete {
    fn name(&self) -> &'static str {
        "delete"
    }

    fn plan(&self, session: &Session, detail: Detail) -> Result<Plan, Refusal> {
        if self.selector.is_empty() {
            return Err(Refusal::usage(
                RefusalKind::BadOptions,
                "nothing was chosen to delete",
                "choose turns, a message, or a text that matches",
            ));
        }
        let mut plan = Plan::with_detail(detail);
        if self.selector.selects_whole_turns() {
            self.plan_turns(session, &mut plan)?;
        } else {
            self.plan_content(session, &mut plan)?;
        }
        keep_preserved(session, &plan)?;
        plan.dropped_agents = agents_gone(session, &plan);
        plan.takes_files = true;
        Ok(plan)
    }
}

impl Delete {
    /// Deletes whole turns. A compaction inside or after them stays: without it, the model would be shown history.
    fn plan_turns(&self, session: &Session, plan: &mut Plan) -> Result<(), Refusal> {
        let Some((first, last)) = self.selector.whole_turns(session)? else {
            return Ok(());
        };
        let turns = session.turns();
        if (first, last) == (1, turns.len() as u32) {
            return Err(Refusal::new(
                "nothing-left",
                "this would delete every turn of the session",
                "keep at least one turn",
            ));
        }
        let spans: Vec<(u32, u32)> = (first..=last)
            .filter_map(|number| turns.get(number))
            .map(|turn| (turn.path.0, turn_end(session, turn)))
            .collect();
        let inside = |p: u32| {
            let at = spans.partition_point(|span| span.1 <= p);
            spans.get(at).is_some_and(|span| span.0 <= p)
        };
        let mut lines = Lines::default();
        if let Some(cut) = cut_before(session, first, last)? {
            *plan = cut;
        }
        let stays = |position: u32, e: &Entry| !inside(position) || is_compaction(e);
        let placeholder = prompt_for(session, session.graph().window_start(), stays);
        if let Some(prompt) = placeholder {
            replace_prompt(session, prompt, plan);
        }
        for (i, e) in session.numbered() {
            let (Standing::Path(p) | Standing::Beside(p) | Standing::Branch(p)) =
                session.graph().place(i)
            else {
                continue;
            };
            if placeholder != Some(i) && inside(p) && !is_compaction(e) && !plan.drops(e.line) {
                if matches!(session.graph().place(i), Standing::Path(_)) {
                    lines.extend_to(e.line);
                }
                plan.drop_line(e.line);
                note_removed(session, plan, i, e);
            }
        }
        let calls = calls_of_dropped(session, plan);
        warn_of_written_files(session, &calls, plan);
        drop_traces(session, lines, plan);
        let thinking = FxHashSet::default();
        remove_copies(session, plan, &Copies { thinking, calls });
        Ok(())
    }

    /// Deletes the blocks and entries that match.
    fn plan_content(&self, session: &Session, plan: &mut Plan) -> Result<(), Refusal> {
        let mut selection = self.selector.select(session)?;
        self.spare_compactions(session, &mut selection, plan)?;
        refuse_unfinished(session, &selection)?;
        if selection.blocks.is_empty() && selection.entries.is_empty() {
            return Ok(());
        }
        let entries = session.entries();
        let messages: FxHashSet<Id> = selection
            .blocks
            .iter()
            .map(|at| &entries[at.entry])
            .filter(|e| e.kind == Kind::Assistant)
            .filter_map(|e| e.message_id.some())
            .collect();
        // Second copies are removed further down, together with those of the thinking.
        let is_own = |at: &At| !holds_copies(&entries[at.entry]);
        selection.blocks.retain(is_own);
        let thinking = doom_thinking(session, &messages, &mut selection.blocks);
        refuse_all(session, &selection)?;
        for entry in placeholders(session, &selection) {
            replace_prompt(session, entry, plan);
            selection.entries.retain(|&i| i != entry);
            selection.blocks.retain(|at| at.entry != entry);
        }
        let mut doomed = BlockRemovals::default();
        selection.blocks.iter().for_each(|&at| doomed.add(at));
        let losers = doomed.plan(session, plan, |entry, block| {
            described(session, entry, block)
        });
        for i in losers {
            let e = &entries[i];
            if e.flags.tool_use_result() && !plan.drops(e.line) {
                drop_field(session, plan, i, "toolUseResult");
            }
        }
        for &i in &selection.entries {
            plan.drop_line(entries[i].line);
            note_removed(session, plan, i, &entries[i]);
        }
        let calls: FxHashSet<Id> = selection.calls.iter().copied().collect();
        drop_companions(session, &calls, None, plan);
        warn_of_written_files(session, &calls, plan);
        drop_traces(session, Lines::default(), plan);
        remove_copies(session, plan, &Copies { thinking, calls });
        keep_in_place(session, plan);
        Ok(())
    }

    /// Leaves boundaries and summaries alone, and refuses to delete one that is named.
    fn spare_compactions(
        &self,
        session: &Session,
        selection: &mut Selection,
        plan: &mut Plan,
    ) -> Result<(), Refusal> {
        let is_spared = |i: EntryIx| is_compaction(session.entry(i));
        let before = selection.blocks.len() + selection.entries.len();
        selection.blocks.retain(|at| !is_spared(at.entry));
        selection.entries.retain(|&i| !is_spared(i));
        if before == selection.blocks.len() + selection.entries.len() {
            return Ok(());
        }
        if !self.selector.message.is_empty() {
            return Err(Refusal::new(
                "compaction",
                "this message belongs to a compaction, and the history before it depends on it",
                "show the history again with: ccsurgery uncompact",
            ));
        }
        plan.warnings
            .push("the summary of a compaction matches too; it was left as it is".to_owned());
        Ok(())
    }
}

/// Plans to cut the conversation off, if the deleted turns are its last ones and no compaction is among them.
///
/// Clients find the end of a conversation by the order and the time of its entries, so abandoned branches that are newer
/// than the new end must be removed too.
fn cut_before(session: &Session, first: u32, last: u32) -> Result<Option<Plan>, Refusal> {
    let turns = session.turns();
    let Some(kept) = first.checked_sub(1).and_then(|number| turns.get(number)) else {
        return Ok(None);
    };
    let end = turn_end(session, kept) as usize;
    let mut rest = session.graph().path()[end..].iter();
    if last != turns.len() as u32 || rest.any(|&i| session.heads()[i].is_boundary()) {
        return Ok(None);
    }
    let at = kept.number.into();
    let cut = Truncate { at }.plan(session, Detail::Full).map_err(|_| {
        let number = kept.number;
        Refusal::new(
            RefusalKind::UnfinishedTurn,
            format!("turn {number} would be the last one, and it has calls without results"),
            format!("delete it too: --turns {number}.."),
        )
    })?;
    Ok(Some(cut))
}

/// Whether an entry is a compaction boundary or its summary.
fn is_compaction(e: &Entry) -> bool {
    e.is_boundary() || e.flags.compact_summary()
}

/// Refuses to delete parts of a last turn that is unfinished: the API wants its calls and thinking when it continues.
fn refuse_unfinished(session: &Session, selection: &Selection) -> Result<(), Refusal> {
    let Some(turn) = session.unfinished_turn() else {
        return Ok(());
    };
    let in_turn = |i: EntryIx| session.turns().of(session.graph(), i) == Some(turn);
    let mut touched = selection.blocks.iter().map(|at| at.entry);
    if !touched.any(in_turn) && !selection.entries.iter().any(|&i| in_turn(i)) {
        return Ok(());
    }
    Err(Refusal::new(
        RefusalKind::UnfinishedTurn,
        format!(
            "{} is unfinished, and the API needs its messages when it continues",
            name_of_turn(turn)
        ),
        "delete the whole turn with --turns -1, choose earlier turns, or let Claude Code finish it",
    ))
}

/// Refuses to delete every message that the model is shown.
fn refuse_all(session: &Session, selection: &Selection) -> Result<(), Refusal> {
    let gone = Vanishing::new(session, selection);
    let mut path = session.graph().path().iter().copied();
    if path.any(|i| session.entry(i).is_message() && !gone.contains(session, i)) {
        return Ok(());
    }
    Err(Refusal::new(
        "nothing-left",
        "this would delete every message of the session",
        "choose fewer turns or messages",
    ))
}

/// The entries that a selection removes as a whole.
struct Vanishing {
    blocks: FxHashSet<BlockIx>,
    entries: FxHashSet<EntryIx>,
}

impl Vanishing {
    fn new(session: &Session, selection: &Selection) -> Self {
        debug_assert!(
            selection
                .entries
                .iter()
                .all(|i| i.index() < session.entries().len())
        );
        Self {
            blocks: selection.blocks.iter().map(|at| at.block).collect(),
            entries: selection.entries.iter().copied().collect(),
        }
    }

    fn contains(&self, session: &Session, entry: EntryIx) -> bool {
        let blocks = session.entry(entry).blocks;
        self.entries.contains(&entry)
            || !blocks.is_empty() && blocks.numbers().all(|block| self.blocks.contains(&block))
    }
}

/// Returns the deleted prompts after which an answer would come first, or directly follow another answer.
fn placeholders(session: &Session, selection: &Selection) -> Vec<EntryIx> {
    let gone = Vanishing::new(session, selection);
    // Other lines of an answer can stand beside the path, where the model is shown them too.
    let answers = session.entries_of(Kind::Assistant);
    let beside = answers.filter(|&(i, _)| {
        matches!(session.graph().place(i), Standing::Beside(_)) && !gone.contains(session, i)
    });
    let beside: FxHashSet<Id> = beside.filter_map(|(_, e)| e.message_id.some()).collect();
    let mut out = Vec::new();
    let (mut before, mut prompt) = (None, None);
    for i in session.graph().path().iter().copied() {
        let e = session.entry(i);
        if e.is_boundary() {
            (before, prompt) = (None, None);
        }
        if !e.is_message() || e.flags.sidechain() {
            continue;
        }
        let is_beside = e.kind == Kind::Assistant && beside.contains(&e.message_id);
        if gone.contains(session, i) && !is_beside {
            let has_result = session.blocks(e).iter().any(|b| b.kind.is_result());
            if e.kind == Kind::User && !has_result {
                prompt = Some(i);
            }
            continue;
        }
        if e.kind == Kind::Assistant && before != Some(Kind::User) {
            out.extend(prompt);
        }
        (before, prompt) = (Some(e.kind), None);
    }
    out
}

/// Returns the kind of a deleted block and an excerpt of it, for the preview.
fn described(session: &Session, entry: &Entry, block: &Block) -> (ChangeKind, Excerpt) {
    let tool = || {
        let made = session.calls().of(block)?.uses.first()?;
        let (entry, block) = (session.entry(made.entry), session.block(made.block));
        Some(session.tool_name(entry, block).as_ref().into())
    };
    match block.kind {
        BlockKind::Thinking => (
            ChangeKind::Thinking,
            Excerpt::of(session, entry, block, Words::Thinking),
        ),
        BlockKind::RedactedThinking => (ChangeKind::RedactedThinking, Excerpt::None),
        BlockKind::Image => (ChangeKind::Image, Excerpt::None),
        BlockKind::Document => (ChangeKind::Document, Excerpt::None),
        kind if kind.is_call() => (
            ChangeKind::Call {
                tool: tool().unwrap_or_else(|| "".into()),
            },
            Excerpt::of(session, entry, block, Words::Call),
        ),
        kind if kind.is_result() => (
            ChangeKind::Result { tool: tool() },
            Excerpt::of(session, entry, block, Words::Content),
        ),
        _ => {
            let text = block_text(session, entry, block);
            let text: String = text.chars().take(EXCERPT).collect();
            let what = if entry.kind == Kind::Assistant {
                ChangeKind::Answer
            } else {
                ChangeKind::Prompt
            };
            (what, text.into())
        }
    }
}

/// Returns the calls of which a plan drops a line.
fn calls_of_dropped(session: &Session, plan: &Plan) -> FxHashSet<Id> {
    let is_gone = |at: &At| plan.drops(session.entry(at.entry).line);
    let calls = session.calls().iter();
    let gone = calls.filter(|call| call.uses.iter().chain(&call.results).any(is_gone));
    gone.map(|call| call.id).collect()
}
