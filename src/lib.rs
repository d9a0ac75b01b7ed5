//! Lossless surgery on Claude Code session files.

pub mod jsonl;
