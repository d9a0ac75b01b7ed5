//! The disk: finding sessions and all that belongs to one, publishing atomically, and the way back.

mod atomic;
mod config;
mod disk;
mod fault;
mod glance;
mod guard;
mod hold;
mod index_file;
mod journal;
mod listing;
mod locate;
mod publish;
mod quarantine;
mod read_back;
mod recover;
mod replace;
mod sidecars;
mod sum;
mod swap;
mod undo;

pub use atomic::{
    Candidate, PublishError, copy_private, create_private_dirs, link_or_copy, sync_folder,
    write_private,
};
pub use config::{Config, slug};
pub use glance::glance;
pub use guard::{Live, Stamp, live, running};
pub use index_file::{IndexEntry, add_to_index, index_file, remove_from_index};
pub use journal::{FileState, Journal, JournalError, Operation, Replaced, State, process_start};
pub use listing::{Depth, Listed, list};
pub use locate::{Found, LocateError, Locator};
pub use publish::{CommitError, Make, NewFile, NewSession, create, export};
pub use replace::{Replacement, replace};
pub use sidecars::{Sidecar, SidecarKind, sidecars};
pub use sum::Sum;
pub use undo::{UndoError, check_undo, redo, undo};
