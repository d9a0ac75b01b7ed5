//! Regressions in `doctor`.
