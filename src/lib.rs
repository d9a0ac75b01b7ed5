//! Lossless surgery on Claude Code session files.

pub mod cli;
pub mod doctor;
pub mod human;
pub mod jsonl;
pub mod ops;
pub mod render;
pub mod rewrite;
pub mod session;
pub mod store;
