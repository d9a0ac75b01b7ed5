//! Finds keys, tokens and passwords in text: to mask them where text is shown, and to redact them where it is kept.
//!
//! The patterns are data ([`rules.toml`](rules.toml)). A text is searched once for the keywords of all rules
//! together, then once for each rule whose keyword occurs: the cost grows with the text, never faster.
//!
//! [`mask`] and [`mask_json`] make text safe to show. [`Scanner`] finds what is to be redacted, with values and rules
//! of the user; [`Vault`] gives each secret one placeholder.

mod ansi;
mod around;
mod base64_text;
mod file;
mod find;
mod finding;
mod json;
mod json_strings;
mod keywords;
mod known;
mod mask;
mod placeholder;
mod reading;
mod rotate;
mod rules;
mod scan;
mod sieve;
mod user_rules;
mod vault;

#[cfg(test)]
mod scan_tests;
#[cfg(test)]
mod tests;

pub use file::{Form, Ledger};
pub use find::{Secret, find};
pub use finding::{Finding, Source};
pub use json::mask_json;
pub use mask::mask;
pub use placeholder::{placeholder, placeholders};
pub use rotate::rotation;
pub use scan::{Scanner, UserRules};
pub use user_rules::{DotenvValues, RulesError, dotenv_values};
pub use vault::{KnownSecret, Vault};
