//! Writes results: a new session, a session in place, or a file of the user's choice.
//!
//! The only part of the program that creates or replaces transcripts. The old bytes are durable in the journal before the
//! new ones are visible. Knows nothing of how a result came about.

#[cfg(feature = "bundle")]
mod arrival;
mod brought;
mod change_set;
mod copy_plan;
mod create;
mod error;
mod export;
mod keep;
mod publisher;
mod quarantine;
mod relocation;
mod removal;
mod replace;
#[cfg(feature = "bundle")]
mod restoration;
mod sidecar_changes;
mod subagents;
mod unneeded;
mod write;

#[cfg(feature = "bundle")]
pub(crate) use arrival::files_below;
#[cfg(feature = "bundle")]
pub use arrival::{Arrival, Arrivals, Travel};
pub use brought::{BroughtFile, GraftPair, GraftSource};
pub use change_set::{ChangeSet, Content, Creation, MakeTranscript, Removal};
#[cfg(feature = "bundle")]
pub(crate) use copy_plan::slugs;
pub use copy_plan::{CopyPlan, CopySource, CopyTarget, PlannedAction, PlannedFile};
pub use error::CommitError;
pub use keep::{KeepList, kept_times, touch};
pub use publisher::{Provenance, Published, Sessions, write_file, write_stream};
pub use relocation::{MovedSession, Relocation, is_same_folder, kept_time};
pub use removal::{RemovedSession, removal_of, removal_of_files, removal_without_prompts};
#[cfg(feature = "bundle")]
pub use restoration::{Restoration, RestoredSession};
pub use sidecar_changes::SidecarChanges;
pub use subagents::{
    ChangedSubagent, RewriteFile, SubagentError, SubagentStep, SubagentWork, changed_subagents,
};
pub use unneeded::unneeded_files;
pub(crate) use write::write_transcript;
