//! One line of a transcript: what kind of entry it is, its ids, its content blocks and the references in it.
//!
//! Knows nothing of the other lines.

mod attachment;
mod entry;
mod id;
mod inventory;
mod prompt;
mod reader;
mod references;
mod repeated_fields;
mod role;
mod timestamp;
mod usage;

pub(crate) use attachment::{AttachedMedia, attached};
pub use entry::{
    Block, BlockKind, Entry, EntryHead, Flags, ID_LEN, IdsAt, Kind, LEADING_PARENT, LineState,
    Subtype,
};
pub(crate) use entry::{NO_CALL, SYNTHETIC};
pub use id::Id;
pub(crate) use id::hash;
pub(crate) use inventory::{Inventory, Renumbered};
pub use prompt::PromptKind;
pub use reader::reread;
pub(crate) use reader::{Repeated, other_parent, parse, parse_first, parse_made};
pub use references::{IdUse, LONGEST_ID, visit_ids};
pub(crate) use repeated_fields::RepeatedFields;
pub use role::Role;
pub(crate) use timestamp::format_timestamp;
pub(crate) use usage::{NEEDS_FULL_PARSE, Usage};
