//! Lossless surgery on Claude Code session files.
