//! Regressions in `reading`.
