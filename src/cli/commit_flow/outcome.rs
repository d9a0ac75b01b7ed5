//! What a job is about to write.

use std::path::PathBuf;

use crate::cli::context::Context;
use crate::cli::error::CliError;
use crate::store::{
    self, BroughtFile, ChangedSubagent, CopyPlan, SidecarChanges, changed_subagents,
};
use crate::surgery::{FreshIds, Verified, emitted_len};

use super::job::{Destination, Task};
use super::prepare::Copying;

/// What will be written, apart from the transcript that was verified.
pub(in crate::cli) struct Outcome<'v> {
    copy: Option<CopyPlan<'v>>,
    /// The ids of a copy that is a transcript alone.
    ids: Option<FreshIds<'v>>,
    pub(super) subagents: Vec<ChangedSubagent>,
    /// Links and other special files beside a transcript that is rewritten in place.
    skipped: Vec<PathBuf>,
    /// Files that are made or removed beside a session that is rewritten.
    beside: SidecarChanges,
    transformed: bool,
}

impl<'v> Outcome<'v> {
    pub(super) fn new(
        context: &Context,
        task: &Task<'_>,
        verified: &'v Verified,
        copying: Option<Copying>,
        brought: Vec<BroughtFile>,
    ) -> Result<Self, CliError> {
        let mut outcome = Self {
            copy: None,
            ids: None,
            subagents: Vec::new(),
            skipped: Vec::new(),
            beside: SidecarChanges::default(),
            transformed: verified.operated().is_transformed(),
        };
        match (copying, &task.subagents) {
            (Some(Copying::Session(source)), work) => {
                outcome.copy =
                    Some(source.plan_with(&context.config, verified, work.as_ref(), brought)?);
            }
            (Some(Copying::Transcript(names)), _) => {
                outcome.ids = Some(FreshIds::for_copy(&names, verified.session()));
            }
            (None, work) if task.destination == Destination::InPlace => {
                let unneeded = store::unneeded_files(&context.config, &task.found, verified)?;
                outcome.beside = SidecarChanges::new(brought)?.removing(unneeded)?;
                if let Some(work) = work {
                    let (changed, skipped) = changed_subagents(&context.config, &task.found, work)?;
                    outcome.subagents = changed;
                    let is_removed = |agent: &ChangedSubagent| outcome.beside.removes(&agent.path);
                    outcome.subagents.retain(|agent| !is_removed(agent));
                    outcome.skipped = skipped;
                }
            }
            (None, _) => {}
        }
        Ok(outcome)
    }

    /// Whether there is nothing to write.
    pub(super) fn is_idle(&self, task: &Task<'_>) -> bool {
        let titled = task.write.title.is_some() && !matches!(task.destination, Destination::New(_));
        !(self.transformed
            || titled
            || task.operation == "clone"
            || self.subagent_changes().next().is_some())
    }

    /// What was done to the transcripts of subagents.
    pub(in crate::cli) fn subagent_changes(&self) -> impl Iterator<Item = &crate::surgery::Change> {
        let copied = self.copy.iter().flat_map(CopyPlan::subagent_changes);
        copied.chain(self.subagents.iter().map(|agent| &agent.change))
    }

    /// Warns of each file of the session that is left out because it is not a regular file.
    pub(in crate::cli) fn warnings(&self) -> impl Iterator<Item = String> {
        let copied = self.copy.iter().flat_map(CopyPlan::skipped);
        let not_copied = copied.map(|path| ("copied", path));
        let not_changed = self.skipped.iter().map(|path| ("changed", path));
        not_copied.chain(not_changed).map(|(what, path)| {
            let kind = store::kind_of_file(path);
            format!("not {what}: `{}` is {kind}", path.display())
        })
    }

    /// The ids of the copy, if the result is one.
    pub(in crate::cli) fn ids(&self) -> Option<&FreshIds<'_>> {
        self.copy.as_ref().map(CopyPlan::ids).or(self.ids.as_ref())
    }

    /// The copy, if the result is a session of its own.
    pub(in crate::cli) fn copy(&self) -> Option<&CopyPlan<'v>> {
        self.copy.as_ref()
    }

    /// The files that are made or removed beside a session that is rewritten.
    pub(in crate::cli) fn beside(&self) -> &SidecarChanges {
        &self.beside
    }

    /// The size of the transcript that will be written.
    pub(in crate::cli) fn transcript_len(&self, verified: &Verified) -> u64 {
        emitted_len(verified.session(), self.ids())
    }
}
