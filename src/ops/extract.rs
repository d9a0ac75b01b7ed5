//! Keeps only some turns of a session.

use crate::document::LineIx;
use crate::session::{Session, Standing, TurnRange, turn_end};
use crate::surgery::{ChangeKind, Detail, Plan, Refusal, RefusalKind, Transform};
use crate::transcript::{Entry, EntryIx, Kind};

use super::agents::agents_gone;
use super::placeholder::{prompt_for, replace_prompt};
use super::truncate::{is_name, is_unfinished, note as note_removed};

/// Keeps these turns, and removes everything else from the conversation.
///
/// The turns may be ones from before a compaction: without it, the model is shown them again.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Extract {
    /// The turns that stay.
    pub turns: TurnRange,
}

impl Transform for Extract {
    fn name(&self) -> &'static str {
        "extract"
    }

    fn plan(&self, session: &Session, detail: Detail) -> Result<Plan, Refusal> {
        let mut plan = Plan::with_detail(detail);
        let (first, last) = self.turns.resolve(session)?;
        let turns = session.turns();
        let (Some(from), Some(to)) = (turns.get(first), turns.get(last)) else {
            return Ok(plan);
        };
        let kept = Kept::new(session, from.path.0, turn_end(session, to));
        refuse_compaction(session, &kept)?;
        if last < turns.len() as u32 && is_unfinished(session, last) {
            return Err(Refusal::new(
                RefusalKind::UnfinishedTurn,
                format!(
                    "turn {last} has calls without results, so it cannot be the end of a session"
                ),
                "choose another last turn",
            ));
        }
        let (from, to) = kept.positions;
        let placeholder = prompt_for(session, 0, |p, _| (from..to).contains(&p));
        if let Some(prompt) = placeholder {
            replace_prompt(session, prompt, &mut plan);
        }
        for (i, e) in session.numbered() {
            if placeholder == Some(i) || kept.contains(session, i, e) {
                continue;
            }
            if session.graph().place(i) == Standing::Metadata {
                plan.drop_entry(session, e, ChangeKind::Metadata);
            } else {
                plan.drop_line(e.line);
                note_removed(session, &mut plan, i, e);
            }
        }
        plan.dropped_agents = agents_gone(session, &plan);
        plan.takes_files = true;
        Ok(plan)
    }
}

/// The part of the live path that stays.
struct Kept {
    /// Its first position, and the one after its last.
    positions: (u32, u32),
    /// Its first and last lines.
    lines: (LineIx, LineIx),
}

impl Kept {
    fn new(session: &Session, from: u32, to: u32) -> Self {
        let path = &session.graph().path()[from as usize..to as usize];
        let lines = || path.iter().map(|&i| session.entry(i).line);
        Self {
            positions: (from, to),
            lines: (
                lines().min().unwrap_or_default(),
                lines().max().unwrap_or_default(),
            ),
        }
    }

    fn contains(&self, session: &Session, index: EntryIx, e: &Entry) -> bool {
        let in_lines = (self.lines.0..=self.lines.1).contains(&e.line);
        match session.graph().place(index) {
            Standing::Path(p) | Standing::Beside(p) => {
                (self.positions.0..self.positions.1).contains(&p)
            }
            // A branch may be newer than the kept turns, and clients would take it for the conversation.
            Standing::Branch(_) => false,
            Standing::Apart => in_lines && e.flags.sidechain(),
            Standing::Metadata => {
                let named = e.refers_to.some().and_then(|id| session.find(id));
                match named {
                    Some(named) => self.contains(session, named, session.entry(named)),
                    None => {
                        in_lines
                            || e.kind == Kind::CustomTitle
                            || e.kind == Kind::Other && is_name(session, e)
                    }
                }
            }
        }
    }
}

/// Refuses turns on both sides of a compaction, and messages that a compaction moved.
fn refuse_compaction(session: &Session, kept: &Kept) -> Result<(), Refusal> {
    let (heads, path) = (session.heads(), session.graph().path());
    let (from, to) = (kept.positions.0 as usize, kept.positions.1 as usize);
    let is_boundary = |i: &&EntryIx| heads[**i].is_boundary();
    let before = path[..from].iter().rfind(is_boundary);
    let is_preserved = |i: &EntryIx| before.is_some_and(|boundary| i < boundary);
    let inside = &path[from..to];
    if !inside.iter().any(is_preserved) && inside.iter().find(is_boundary).is_none() {
        return Ok(());
    }
    Err(Refusal::new(
        "compaction",
        "a compaction is among these turns",
        "choose turns on one side of it, or take it back first with: ccsurgery uncompact",
    ))
}
