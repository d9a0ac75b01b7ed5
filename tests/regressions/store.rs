//! Regressions in `store`.
