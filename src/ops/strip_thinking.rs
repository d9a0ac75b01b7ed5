//! Removes thinking.

use rustc_hash::FxHashSet;

use crate::session::{At, Session, TurnRange};
use crate::surgery::{ChangeKind, Detail, Excerpt, Plan, Refusal, Transform, Words};
use crate::transcript::{BlockKind, EntryIx, Kind};

use super::agents::launched;
use super::drop_tools::SizeSpec;
use super::removals::{BlockRemovals, Copies, may_hold_copies, remove_copies, thinking_id};
use super::selector::{Selector, find_entry, messages};
use super::token_count::TokenCount;
use super::trim::newest_from;
use super::truncate::name_of_turn;
use super::turn_filter::TurnFilter;

/// Removes thinking and redacted thinking, and the second copies that the client keeps of them.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct StripThinking {
    /// Only in these turns.
    pub turns: Option<TurnRange>,
    /// Only in these messages, by the uuid of a line or the beginning of one. The line of a thinking block names that block
    /// alone; any other line names its whole message.
    pub message: Vec<String>,
    /// Only thinking whose text matches this regular expression.
    pub matching: Option<String>,
    /// Only thinking larger than this, with its signature.
    pub larger_than: Option<SizeSpec>,
    /// Leaves this many last turns alone.
    pub keep_last: Option<u32>,
    /// Leaves the newest content that has this many tokens alone.
    pub keep_tokens: Option<TokenCount>,
}

impl StripThinking {
    /// Returns the subagents that the chosen turns launched; `None` for all.
    pub fn agents(&self, session: &Session) -> Result<Option<Vec<String>>, Refusal> {
        if *self == Self::default() {
            return Ok(None);
        }
        let scope = self.scope(session)?;
        let named = self.named(session)?;
        let is_named = |i: EntryIx| named.as_ref().is_none_or(|named| named.contains(&i));
        let holds = |i: EntryIx| scope.holds(session, i) && is_named(i);
        Ok(Some(launched(session, holds)))
    }

    /// Returns the entries that are named; `None` for all.
    fn named(&self, session: &Session) -> Result<Option<FxHashSet<EntryIx>>, Refusal> {
        if self.message.is_empty() {
            return Ok(None);
        }
        let mut named = FxHashSet::default();
        let mut whole = Vec::new();
        for name in &self.message {
            let found = find_entry(session, name)?;
            if session.heads()[found].flags.thinking() {
                named.insert(found);
            } else {
                whole.push(name.clone());
            }
        }
        named.extend(messages(session, &whole)?);
        Ok(Some(named))
    }

    fn scope(&self, session: &Session) -> Result<TurnFilter, Refusal> {
        let newest = match self.keep_tokens {
            Some(TokenCount(tokens)) => newest_from(session, tokens),
            None => u32::MAX,
        };
        let scope = TurnFilter::new(session, self.turns.as_ref(), self.keep_last)?;
        Ok(scope.up_to(newest))
    }

    /// Returns the blocks that have the chosen text and size; `None` for all blocks.
    fn selected(&self, session: &Session) -> Result<Option<FxHashSet<At>>, Refusal> {
        let selector = Selector {
            matching: self.matching.clone(),
            larger_than: self.larger_than,
            ..Selector::default()
        };
        if selector.is_empty() {
            return Ok(None);
        }
        Ok(Some(selector.select(session)?.blocks.into_iter().collect()))
    }
}

impl Transform for StripThinking {
    fn name(&self) -> &'static str {
        "strip-thinking"
    }

    fn plan(&self, session: &Session, say: Detail) -> Result<Plan, Refusal> {
        let scope = self.scope(session)?;
        let named = self.named(session)?;
        let is_named = |i: &EntryIx| named.as_ref().is_none_or(|named| named.contains(i));
        let among = self.selected(session)?;
        let unfinished = session.unfinished_turn();
        let mut plan = Plan::with_detail(say);
        let mut doomed = BlockRemovals::default();
        let mut copies = Copies::default();
        let copied = may_hold_copies(session);
        let mut spared = 0;
        for (i, tag) in session.numbers().zip(session.heads()) {
            if tag.kind != Kind::Assistant || !tag.flags.thinking() {
                continue;
            }
            if !scope.holds(session, i) || !is_named(&i) {
                continue;
            }
            let awaited =
                unfinished.is_some() && session.turns().of(session.graph(), i) == unfinished;
            let is_chosen = |at: &At| among.as_ref().is_none_or(|blocks| blocks.contains(at));
            for at in session.thinking(i).filter(is_chosen) {
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
            plan.warnings.push(format!("{} is unfinished: {spared} thinking {blocks} kept, because the API needs thinking to continue a turn", name_of_turn(turn)));
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
