//! Finds keys, tokens and passwords in text, and masks them.
//!
//! The patterns are data ([`rules.toml`](rules.toml)). A text is searched once for the keywords of all rules
//! together, then once for each rule whose keyword occurs: the cost grows with the text, never faster.

mod ansi;
mod find;
mod glance;
mod json;
mod mask;
mod rules;

#[cfg(test)]
mod tests;

pub use find::{Secret, find};
pub use json::mask_json;
pub use mask::mask;
