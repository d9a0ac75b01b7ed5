//! Repairs of compaction boundaries.

pub(super) mod boundary_last;
pub(super) mod lost_boundary;
pub(super) mod lost_logical_parent;
pub(super) mod lost_preserved;
pub(super) mod no_metadata;

/// The least metadata that a boundary may have.
const METADATA: &str = r#"{"trigger":"manual","preTokens":0}"#;
