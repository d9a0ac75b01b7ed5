//! Removes thinking.

use serde::Deserialize;

use crate::session::{Session, TurnRange};
use crate::surgery::{ChangeKind, Detail, Excerpt, Plan, Refusal, Transform, Words};
use crate::transcript::{BlockKind, Kind};

use super::agents::launched;
use super::removals::{BlockRemovals, Copies, may_hold_copies, remove_copies, thinking_id};
use super::turn_filter::TurnFilter;

/// Removes thinking and redacted thinking, and the second copies that the client keeps of them.
#[derive(Debug, Clone, PartialEq, Eq, Default, Deserialize)]
#[serde(deny_unknown_fields, rename_all = "kebab-case", default)]
pub struct StripThinking {
    /// Only in these turns.
    pub turns: Option<TurnRange>,
    /// Leaves this many last turns alone.
    pub keep_last: Option<u32>,
}

impl StripThinking {
    /// Returns the subagents that the chosen turns launched; `None` for all.
    pub fn agents(&self, session: &Session) -> Result<Option<Vec<String>>, Refusal> {
        if self.turns.is_none() && self.keep_last.is_none() {
            return Ok(None);
        }
        let scope = TurnFilter::new(session, self.turns.as_ref(), self.keep_last)?;
        Ok(Some(launched(session, |i| scope.holds(session, i))))
    }
}

impl Transform for StripThinking {
    fn name(&self) -> &'static str {
        "strip-thinking"
    }

    fn plan(&self, session: &Session, say: Detail) -> Result<Plan, Refusal> {
        let scope = TurnFilter::new(session, self.turns.as_ref(), self.keep_last)?;
        let unfinished = session.unfinished_turn();
        let mut plan = Plan::with_detail(say);
        let mut doomed = BlockRemovals::default();
        let mut copies = Copies::default();
        let copied = may_hold_copies(session);
        let mut spared = 0;
        for (i, tag) in session.numbers().zip(session.heads()) {
            if tag.kind != Kind::Assistant || !tag.flags.thinking() || !scope.holds(session, i) {
                continue;
            }
            let awaited =
                unfinished.is_some() && session.turns().of(session.graph(), i) == unfinished;
            for at in session.thinking(i) {
                if awaited {
                    spared += 1;
                    continue;
                }
                doomed.add(at);
                if copied {
                    let text = session.text(session.entry(i));
                    copies
                        .thinking
                        .extend(thinking_id(session.block(at.block), text));
                }
            }
        }
        if let (Some(turn), true) = (unfinished, spared > 0) {
            let blocks = if spared == 1 { "block" } else { "blocks" };
            plan.warnings.push(format!("turn {turn} is unfinished: {spared} thinking {blocks} kept, because the API needs thinking to continue a turn"));
        }
        let losers = doomed.plan(session, &mut plan, |entry, block| match block.kind {
            BlockKind::RedactedThinking => (ChangeKind::RedactedThinking, Excerpt::None),
            _ => {
                let gist = Excerpt::of(session, entry, block, Words::Thinking);
                (ChangeKind::Thinking, gist)
            }
        });
        if copied && !losers.is_empty() {
            remove_copies(session, &mut plan, &copies);
        }
        Ok(plan)
    }
}
