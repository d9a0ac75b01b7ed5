//! Writes results: a new session, a session in place, or a file of the user's choice.
//!
//! The only part of the program that creates or replaces transcripts. The old bytes are durable in the journal before the
//! new ones are visible. Knows nothing of how a result came about.

mod brought;
mod copy_plan;
mod create;
mod error;
mod export;
mod publisher;
mod quarantine;
mod replace;
mod subagents;
mod write;

pub use brought::{BroughtFile, GraftPair, GraftSource, NewSidecars};
pub use copy_plan::{CopyPlan, CopySource, CopyTarget, PlannedAction, PlannedFile};
pub use error::CommitError;
pub use publisher::{Provenance, Published, Sessions, write_file, write_stream};
pub use subagents::{ChangedSubagent, SubagentError, SubagentWork, changed_subagents};
pub(crate) use write::write_transcript;
