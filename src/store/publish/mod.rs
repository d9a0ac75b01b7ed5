//! Writes results: a new session, a session in place, or a file of the user's choice.
//!
//! The only part of the program that creates or replaces transcripts. The old bytes are durable in the journal before the
//! new ones are visible. Knows nothing of how a result came about.

mod brought;
mod change_set;
mod copy_plan;
mod create;
mod error;
mod export;
mod publisher;
mod quarantine;
mod relocation;
mod removal;
mod replace;
mod sidecar_changes;
mod subagents;
mod unneeded;
mod write;

pub use brought::{BroughtFile, GraftPair, GraftSource};
pub use change_set::{ChangeSet, Content, Creation, MakeTranscript, Removal};
pub use copy_plan::{CopyPlan, CopySource, CopyTarget, PlannedAction, PlannedFile};
pub use error::CommitError;
pub use publisher::{Provenance, Published, Sessions, write_file, write_stream};
pub use relocation::{MovedSession, Relocation, kept_time, moved_path};
pub use removal::{RemovedSession, removal_of, removal_of_files};
pub use sidecar_changes::SidecarChanges;
pub use subagents::{ChangedSubagent, SubagentError, SubagentWork, changed_subagents};
pub use unneeded::unneeded_files;
pub(crate) use write::write_transcript;
