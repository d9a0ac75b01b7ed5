//! Regressions in `ops`.
