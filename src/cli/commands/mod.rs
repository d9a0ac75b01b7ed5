//! One file a command: resolve, check, plan, do, report.

pub(super) mod clone;
pub(super) mod completions;
pub(super) mod demo;
pub(super) mod ls;
pub(super) mod man;
pub(super) mod payload;
pub(super) mod show;
