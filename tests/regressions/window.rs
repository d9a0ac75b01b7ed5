//! Regressions in `window`.
