//! Removes what the model is not shown.

use serde::Deserialize;

use crate::document::LineIx;
use crate::json::lookup;
use crate::session::{Session, Standing};
use crate::surgery::{ChangeKind, Detail, Plan, Refusal, Transform};
use crate::transcript::{Entry, EntryColumn, EntryIx, Kind};
use crate::window::shown_entries;

use super::agents::agents_gone;
use super::compact::{drop_history, first_line};
use super::drop_tools::drop_field;

/// Removes what the model is not shown: turns before the last compaction, abandoned branches, progress records, and the
/// client's second copies of results.
///
/// The context window stays as it is. The file gets smaller, and there is less to go back to.
#[derive(Debug, Clone, PartialEq, Eq, Default, Deserialize)]
#[serde(deny_unknown_fields, rename_all = "kebab-case", default)]
pub struct DropHidden {
    /// Leaves this many last turns alone.
    pub keep_last: Option<u32>,
}

impl Transform for DropHidden {
    fn name(&self) -> &'static str {
        "drop-hidden"
    }

    fn plan(&self, session: &Session, _: Detail) -> Result<Plan, Refusal> {
        let mut plan = Plan::default();
        let (graph, turns) = (session.graph(), session.turns());
        let limit = (turns.len() as u32).saturating_sub(self.keep_last.unwrap_or(0));
        let kept = turns.get(limit + 1).map_or(u32::MAX, |t| t.path.0);
        if graph.path().is_empty() {
            // In a subagent's transcript, nothing shows what is hidden.
            return Ok(plan);
        }
        let mut shown = EntryColumn::filled(false, session.entries().len());
        for entry in shown_entries(session) {
            shown[entry] = true;
        }
        let history = graph.window_start().min(kept);
        if history > 0 {
            drop_history(session, history, |i| shown[i], &mut plan);
            if !plan.is_empty() {
                plan.warnings.push(
                    "the result has no turns from before the compaction: `uncompact` cannot bring them back"
                        .to_owned(),
                );
            }
        }
        let abandoned = AbandonedCompactions::of(session);
        let kept_line = if (kept as usize) < graph.path().len() {
            first_line(session, kept)
        } else {
            LineIx::MAX
        };
        for (i, e) in session.numbered() {
            if plan.drops(e.line) {
                continue;
            }
            let (goes, what) = match graph.place(i) {
                Standing::Branch(p) => (p < kept, ChangeKind::AbandonedBranch),
                Standing::Apart if abandoned.leaves_at(i).is_some_and(|p| p < kept) => {
                    (true, ChangeKind::AbandonedBranch)
                }
                // Other entries without a connection may be a fault that repair can fix; those of a subagent are not.
                Standing::Apart => (
                    e.line < kept_line && e.flags.sidechain(),
                    ChangeKind::SubagentEntry,
                ),
                Standing::Path(p) | Standing::Beside(p) => {
                    (p < kept && e.kind == Kind::Progress, ChangeKind::Progress)
                }
                Standing::Metadata => (
                    e.line < kept_line && e.kind == Kind::Progress,
                    ChangeKind::Progress,
                ),
            };
            if goes {
                plan.drop_entry(session, e, what);
            } else if e.line < kept_line
                && matches!(graph.place(i), Standing::Path(p) | Standing::Beside(p) if p < kept)
                && is_copied(session, e)
            {
                drop_field(session, &mut plan, i, "toolUseResult");
            }
        }
        plan.dropped_agents = agents_gone(session, &plan);
        Ok(plan)
    }
}

/// Compactions that were abandoned by a rewind to before them: they follow an entry of the path, but are not on it.
struct AbandonedCompactions {
    /// By entry, the position of the path at which its compaction leaves it.
    positions: EntryColumn<Option<u32>>,
}

impl AbandonedCompactions {
    fn of(session: &Session) -> Self {
        let (entries, graph) = (session.entries(), session.graph());
        let mut positions: EntryColumn<Option<u32>> = EntryColumn::default();
        for (i, e) in session.boundaries() {
            let follows = e.refers_to.some().and_then(|id| session.find(id));
            let (Standing::Apart, Some(follows)) = (graph.place(i), follows) else {
                continue;
            };
            let position = match graph.place(follows) {
                Standing::Path(p) | Standing::Beside(p) | Standing::Branch(p) => Some(p),
                Standing::Apart => positions.get(follows).copied().flatten(),
                Standing::Metadata => None,
            };
            if positions.values().is_empty() {
                positions = EntryColumn::filled(None, entries.len());
            }
            let mut below = vec![i];
            while let Some(at) = below.pop() {
                if positions[at].is_none() {
                    positions[at] = position;
                    below.extend(graph.children(at).filter(|_| position.is_some()));
                }
            }
        }
        Self { positions }
    }

    fn leaves_at(&self, entry: EntryIx) -> Option<u32> {
        self.positions.get(entry).copied().flatten()
    }
}

/// Whether an entry holds a second copy of its result that nothing else needs. The copy of a subagent's result names the
/// subagent.
fn is_copied(session: &Session, e: &Entry) -> bool {
    let text = session.text(e);
    e.flags.tool_use_result() && lookup(text, &["toolUseResult", "agentId"]).is_none()
}
