//! What an operation did, for people, scripts and the journal.

use super::change::Change;
use super::plan::Plan;

/// Everything that an operation did or has to report, gathered over all its steps.
#[derive(Debug, Clone, Default)]
pub struct Record {
    /// Every change, in the order of the steps; as detailed as the surgery was asked to be.
    pub changes: Vec<Change>,
    /// Sentences that a person should read before the result is written.
    pub warnings: Vec<String>,
    /// Ids of subagents whose transcripts are no longer part of the session.
    pub dropped_agents: Vec<String>,
    /// Whether files that only the removed part of the session needed are no longer part of it.
    pub takes_files: bool,
    /// Bytes that leave the transcript because they are not a record, with their line in the file, counted
    /// from 1. They are kept beside the journal.
    pub quarantine: Vec<(u32, Vec<u8>)>,
}

impl Record {
    /// Takes over what a plan reports.
    pub(super) fn absorb(&mut self, plan: &mut Plan) {
        self.changes.append(&mut plan.changes);
        self.warnings.append(&mut plan.warnings);
        self.dropped_agents.append(&mut plan.dropped_agents);
        self.takes_files |= plan.takes_files;
        self.quarantine.append(&mut plan.quarantine);
    }
}
