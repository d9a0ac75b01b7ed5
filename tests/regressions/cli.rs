//! Regressions in `cli`.
