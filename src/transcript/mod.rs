//! One line of a transcript: what kind of entry it is, its ids, its content blocks and the references in it.
//!
//! Knows nothing of the other lines.

mod attachment;
mod block;
mod entry;
mod head;
mod id;
mod ids;
mod inventory;
mod numbers;
pub(crate) mod project_path;
mod prompt;
mod reader;
mod references;
mod repeated_fields;
mod role;
mod timestamp;
mod usage;

pub(crate) use attachment::{AttachedMedia, attached};
pub(crate) use block::NO_CALL;
pub use block::{Block, BlockKind};
pub(crate) use entry::SYNTHETIC;
pub use entry::{Entry, LineState, WindowUse};
pub use head::{EntryHead, Flags, Kind, Subtype};
pub use id::Id;
pub(crate) use id::hash;
pub use ids::{ID_LEN, IdPositions, LEADING_PARENT};
pub(crate) use inventory::{Inventory, Renumbered};
pub use numbers::{BlockIx, BlockRange, EntryColumn, EntryIx};
pub use prompt::PromptKind;
pub use reader::reread;
pub(crate) use reader::{Repeated, other_parent, parse, parse_edited, parse_first};
pub use references::{IdUse, LONGEST_ID, visit_ids};
pub(crate) use repeated_fields::RepeatedFields;
pub use role::Role;
pub(crate) use timestamp::format_timestamp;
pub(crate) use usage::{MEASURE, Usage};
