//! What can be wrong with a session: a file a check, with what is known of each.

mod check;
pub(crate) mod checks;
mod finding;
mod judgement;
mod version;

pub use check::{Check, Gate, Survey};
pub use checks::{CHECKS, Surroundings, diagnose, examine, find_check, look_around};
pub use finding::{Finding, Severity};
pub use judgement::Judgement;
pub use version::{NoVersion, Version, Versions};
