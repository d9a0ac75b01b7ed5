//! Regressions in `surgery`.
