//! Keeps only some turns of a session, and a summary of what was before them.

use crate::session::{Session, TurnRange};
use crate::surgery::{Detail, Plan, Refusal, RefusalKind, Transform};

use super::agents::agents_gone;
use super::compact::Compact;
use super::extract::Extract;
use super::truncate::Truncate;

/// Keeps these turns, and puts a digest of the turns before them in front, as a compaction does.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ExtractWithSummary {
    /// The turns that stay.
    pub turns: TurnRange,
}

impl Transform for ExtractWithSummary {
    fn name(&self) -> &'static str {
        "extract"
    }

    fn plan(&self, session: &Session, detail: Detail) -> Result<Plan, Refusal> {
        let (first, last) = self.turns.resolve(session)?;
        let turns = self.turns.clone();
        let Some(before) = first.checked_sub(1).filter(|&before| before > 0) else {
            let mut plan = Extract { turns }.plan(session, detail)?;
            let note = "nothing comes before the first turn, so there is no summary";
            plan.warnings.push(note.to_owned());
            return Ok(plan);
        };
        let start = session.turns().get(first).map_or(0, |turn| turn.path.0);
        if start < session.graph().window_start() {
            return Err(Refusal::new(
                RefusalKind::AlreadyCompacted,
                "these turns are from before a compaction, whose summary includes them",
                "leave out --with-summary, or take the compaction back first with: ccsurgery uncompact",
            ));
        }
        let compact = Compact {
            at: Some(before.into()),
            drop_history: true,
            ..Compact::default()
        };
        let mut plan = compact.plan(session, detail)?;
        let mut rest = Truncate { at: last.into() }.plan(session, detail)?;
        for line in rest.dropped() {
            plan.drop_line(line);
        }
        plan.changes.append(&mut rest.changes);
        plan.warnings.append(&mut rest.warnings);
        plan.dropped_agents = agents_gone(session, &plan);
        plan.takes_files = true;
        Ok(plan)
    }
}
