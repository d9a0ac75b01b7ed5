//! One file a command: resolve, check, plan, do, report.

pub(super) mod clone;
pub(super) mod compact;
pub(super) mod completions;
pub(super) mod delete;
pub(super) mod demo;
pub(super) mod diff;
pub(super) mod doctor;
pub(super) mod drop_hidden;
pub(super) mod drop_images;
pub(super) mod drop_tools;
pub(super) mod history;
pub(super) mod inspect;
pub(super) mod ls;
pub(super) mod man;
pub(super) mod payload;
pub(super) mod redo;
pub(super) mod repair;
pub(super) mod restore_branch;
pub(super) mod run;
pub(super) mod show;
pub(super) mod strip_thinking;
pub(super) mod title;
pub(super) mod trim;
pub(super) mod truncate;
pub(super) mod uncompact;
pub(super) mod undo;
