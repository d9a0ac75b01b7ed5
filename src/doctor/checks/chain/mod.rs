//! Checks of parents, ends and uuids.

pub(crate) mod cut_root;
pub(crate) mod cycle;
pub(crate) mod dangling_parent;
pub(crate) mod duplicate_uuid;
pub(crate) mod foreign_entries;
pub(crate) mod headless;
pub(crate) mod parallel_results;
pub(crate) mod wrong_leaf;
