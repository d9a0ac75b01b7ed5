//! The disk: finding sessions and all that belongs to one, publishing atomically, and the way back.

mod atomic;
mod config;
mod copy_plan;
mod disk;
mod ends;
mod fault;
mod index_file;
mod journal;
mod lease;
mod list;
mod live;
mod locate;
mod publish;
mod publisher;
mod quarantine;
mod recover;
mod replace;
mod sidecars;
mod subagents;
mod sum;
mod swap;
mod undo;
mod verifying_writer;

pub use atomic::{
    Candidate, PublishError, copy_private, create_private_dirs, link_or_copy, sync_folder,
    write_private,
};
pub use config::{Config, slug};
pub use copy_plan::{CopyPlan, CopySource, CopyTarget, PlannedAction, PlannedFile};
pub use ends::glance;
pub use index_file::{IndexEntry, add_to_index, index_file, remove_from_index};
pub use journal::{FileState, Journal, JournalError, Operation, Replaced, State, process_start};
pub use list::{Depth, Listed, list};
pub use live::{Live, Stamp, live, running};
pub use locate::{LocateError, Located, Locator};
pub use publish::CommitError;
pub use publisher::{Provenance, Published, Sessions, write_file, write_stream};
pub use sidecars::{Sidecar, SidecarKind, sidecars};
pub use subagents::{ChangedSubagent, SubagentError, SubagentWork, changed_subagents};
pub use sum::Sum;
pub use undo::{UndoError, check_undo, redo, undo};
