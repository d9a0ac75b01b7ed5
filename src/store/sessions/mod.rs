//! Where Claude Code keeps sessions: finding them by name, listing them, and everything that belongs to one.
//!
//! Reads only, except for the session list that some clients keep. Knows nothing of operations and undo.

mod config;
mod duplicates;
mod ends;
mod index_file;
mod list;
mod live;
mod locate;
mod places;
mod retention;
mod shared;
mod sidecars;
mod subagents;
mod usage;

pub use config::{Config, slug};
pub use duplicates::Duplicates;
pub use ends::glance;
pub use index_file::{IndexEntry, add_to_index, index_file, remove_from_index};
pub(crate) use index_file::{listed, with_entry, without_entry};
pub use list::{Batch, Depth, Listed, Listing, list, list_all};
pub use live::{Live, live, running};
pub use locate::{LocateError, Located, Locator};
pub use places::CopyRule;
pub(crate) use places::{PLACES, is_place, resume_cache};
pub use retention::Retention;
pub(crate) use shared::is_shared;
pub use shared::{memory, project_of};
pub use sidecars::{SessionFiles, SessionPlaces, Sidecar, SidecarKind, session_folders, sidecars};
pub use subagents::{SubagentFinder, SubagentTranscript};
pub use usage::{Orphan, ProjectUsage, SessionUsage, Sizes, Usage, UsageKind, usage};
