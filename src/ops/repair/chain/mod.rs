//! Repairs of parents, ends and uuids.

pub(super) mod duplicate_uuid;
pub(super) mod foreign_entries;
pub(super) mod headless;
pub(super) mod lost_parents;
pub(super) mod parallel_results;
pub(super) mod wrong_leaf;
