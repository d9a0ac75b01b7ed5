//! Repairs for what the doctor finds.
//!
//! The folders are those of `doctor/checks`: the repair of `doctor/checks/chain/headless.rs` is
//! `ops/repair/chain/headless.rs`. Repairs are not in `doctor` itself because they make plans, and
//! `surgery`, which defines plans, already uses the doctor to verify results. Checks that are repaired
//! by the same edit share a file; [`ROUND`] pairs every repair with its checks.

mod calls;
mod chain;
mod compaction;
mod content;
mod edit;
mod lines;
mod pass;
mod second_copies;
mod thinking;

use std::rc::Rc;

use crate::doctor::checks::chain::parallel_results;
use crate::doctor::{Check, Gate, Version};
use crate::surgery::Transform;

use pass::{Pass, Repair};
pub use second_copies::SubagentAnswer;

/// What is repaired, and how boldly.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct RepairOptions {
    /// The checks whose findings are repaired. If empty: all, except those that do not hurt `client`
    /// and describe what other clients write every day.
    pub only: Vec<&'static str>,
    /// Whether to take the likelier of two candidates.
    pub accept_guess: bool,
    /// Whether results of parallel calls are put in one chain, whatever the client.
    pub linearize: bool,
    /// The client that will resume the session.
    pub client: Version,
    /// Prompts of this session that the client recorded elsewhere. Words of torn records are taken from them.
    pub typed: Vec<String>,
    /// What the session's subagents answered. Results of calls that are lost are taken from them.
    pub subagents: Vec<SubagentAnswer>,
}

impl RepairOptions {
    fn wants(&self, check: &Check) -> bool {
        if self.linearize && check.name == parallel_results::CHECK.name {
            return true;
        }
        if self.only.is_empty() {
            return check.gate != Gate::JudgedForVersion || check.suffers.contains(self.client);
        }
        self.only.contains(&check.name)
    }
}

/// Every repair, in order: first what hides entries, then what is wrong with the entries.
static ROUND: &[&Repair] = &[
    &lines::unreadable::REPAIR,
    &lines::byte_order_mark::REPAIR,
    &lines::invalid_utf8::REPAIR,
    &lines::open_end::REPAIR,
    &chain::duplicate_uuid::REPAIR,
    &compaction::lost_boundary::REPAIR,
    &chain::lost_parents::REPAIR,
    &compaction::no_metadata::REPAIR,
    &compaction::lost_preserved::REPAIR,
    &compaction::lost_logical_parent::REPAIR,
    &compaction::boundary_last::REPAIR,
    &chain::wrong_leaf::REPAIR,
    &content::string_answer::REPAIR,
    &calls::tool_reference::REPAIR,
    &content::escapes::REPAIR,
    &content::media::REPAIR,
    &calls::repeated_call::REPAIR,
    &calls::result_before_call::REPAIR,
    &calls::unpaired::REPAIR,
    &content::replayed_error::REPAIR,
    &content::blank_text::REPAIR,
    &thinking::REPAIR,
    // Removing thinking can leave a message that is blank, or whose only block is thinking.
    &thinking::REPAIR,
    &content::empty_content::REPAIR,
    &calls::unanswered_call::REPAIR,
    &chain::headless::REPAIR,
    &chain::foreign_entries::REPAIR,
    &chain::parallel_results::REPAIR,
    // Entries that were removed or moved may have been the end of the conversation.
    &chain::wrong_leaf::REPAIR,
];

/// The passes of a repair, in order. Each sees the session as the pass before left it.
pub fn passes(options: &RepairOptions) -> Vec<Box<dyn Transform>> {
    let options = Rc::new(options.clone());
    // One repair may uncover what an earlier pass would have repaired, so the round runs twice.
    let rounds = ROUND.iter().chain(ROUND);
    rounds
        .map(|repair| Box::new(Pass::new(repair, &options)) as Box<dyn Transform>)
        .collect()
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::*;
    use crate::doctor::CHECKS;

    #[test]
    fn repair_table_covers_exactly_the_repairable_checks() {
        let repaired: BTreeSet<&str> = ROUND
            .iter()
            .flat_map(|r| r.checks)
            .map(|c| c.name)
            .collect();
        let repairable: BTreeSet<&str> = CHECKS
            .iter()
            .filter(|c| c.repair.is_some())
            .map(|c| c.name)
            .collect();
        assert_eq!(repaired, repairable);
    }
}
