//! Checks of compaction boundaries and summaries.

pub(crate) mod boundary_last;
pub(crate) mod lost_boundary;
pub(crate) mod lost_logical_parent;
pub(crate) mod lost_preserved;
pub(crate) mod no_metadata;
pub(crate) mod stale_last_prompt;
