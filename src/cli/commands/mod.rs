//! One file a command: resolve, check, plan, do, report.

pub(super) mod clone;
pub(super) mod completions;
pub(super) mod demo;
pub(super) mod man;
