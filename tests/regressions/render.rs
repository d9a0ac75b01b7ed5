//! Regressions in `render`.
